"""Rust: crates and workspaces, and clippy or rustfmt if the repository configures them."""

from collections.abc import Mapping

from forge_bot.project.detected_commands import (
    Command,
    DetectedCommands,
    ProjectCommands,
    command,
    find_in,
)
from forge_bot.project.file_list import Listing, join
from forge_bot.project.formatters import rustfmt
from forge_bot.project.lenient_config import table, toml

_NEEDS = ("dependencies", "dev-dependencies", "build-dependencies")


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the crate or workspace at the root, or else of crates in folders."""
    return find_in(listing, ("Cargo.toml",), _read, "Rust")


def _read(listing: Listing, folder: str) -> DetectedCommands:
    manifest = join(folder, "Cargo.toml")
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
        reason = f"{clippy or join(folder, 'Cargo.toml')} configures clippy"
        found.append(command(reason, "cargo", "clippy", *options, "--all-targets"))
    if config := listing.first(folder, ("rustfmt.toml", ".rustfmt.toml")):
        place = options[:2] if folder else ()
        found.append(
            command(f"{config} configures rustfmt", "cargo", "fmt", *place, "--all", "--check")
        )
    return tuple(found)
