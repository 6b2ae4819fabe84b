"""Rust: crates and workspaces, and clippy or rustfmt if the repository configures them."""

import re
from collections.abc import Mapping

from forge_bot.project.detected_commands import (
    Command,
    DetectedCommands,
    ProjectCommands,
    command,
    find_in,
    inner_projects,
    with_inner,
)
from forge_bot.project.file_list import Listing, join
from forge_bot.project.formatters import rustfmt
from forge_bot.project.lenient_config import strings, table, toml

_MANIFEST = "Cargo.toml"
_TEST = re.compile(r"#\[(?:\w+::)*test\b")
_NEEDS = ("dependencies", "dev-dependencies", "build-dependencies")


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the crate or workspace at the root, or else of crates in folders.

    Cargo leaves a crate within another one's folder out unless both are of one workspace, so each
    that has tests gets commands of its own.
    """
    found = find_in(listing, (_MANIFEST,), _read, "Rust")
    if not listing.has(_MANIFEST):
        return found
    workspace = _workspace(listing, "")
    inner = [
        folder
        for folder in inner_projects(listing, _MANIFEST, lambda path: _holds_test(listing, path))
        if workspace is None
        or folder in strings(workspace.get("exclude"))
        or _workspace(listing, folder) is not None
    ]
    return with_inner(listing, found, inner, _read, "crate")


def _workspace(listing: Listing, folder: str) -> Mapping[str, object] | None:
    crate = toml(listing.text(join(folder, _MANIFEST)))
    return table(crate, "workspace") if "workspace" in crate else None


def _holds_test(listing: Listing, path: str) -> bool:
    return path.endswith(".rs") and _TEST.search(listing.text(path)) is not None


def _read(listing: Listing, folder: str) -> DetectedCommands:
    manifest = join(folder, _MANIFEST)
    crate = toml(listing.text(manifest))
    place = ("--manifest-path", manifest) if folder else ()
    scope = ("--workspace",) if "workspace" in crate else ()
    locked = ("--locked",) if listing.has(join(folder, "Cargo.lock")) else ()
    return DetectedCommands(
        commands=ProjectCommands(
            setup=(
                (command(manifest, "cargo", "fetch", *place, *locked),) if _fetches(crate) else ()
            ),
            build=(command(manifest, "cargo", "build", *place, *scope, *locked),),
            test=(command(manifest, "cargo", "test", *place, *scope, *locked, "--no-fail-fast"),),
            lint=_lint(listing, folder, crate, (*place, *scope, *locked)),
            format=(rustfmt(listing, folder),),
        )
    )


def _fetches(crate: Mapping[str, object]) -> bool:
    return "workspace" in crate or "target" in crate or any(crate.get(key) for key in _NEEDS)


def _lint(
    listing: Listing, folder: str, crate: Mapping[str, object], options: tuple[str, ...]
) -> tuple[Command, ...]:
    found: list[Command] = []
    clippy = listing.first(folder, ("clippy.toml", ".clippy.toml"))
    levels = table(crate, "lints", "clippy") or table(crate, "workspace", "lints", "clippy")
    if clippy or levels:
        reason = f"{clippy or join(folder, _MANIFEST)} configures clippy"
        found.append(command(reason, "cargo", "clippy", *options, "--all-targets"))
    if config := listing.first(folder, ("rustfmt.toml", ".rustfmt.toml")):
        place = options[:2] if folder else ()
        found.append(
            command(f"{config} configures rustfmt", "cargo", "fmt", *place, "--all", "--check")
        )
    return tuple(found)
