"""Rust: crates and workspaces, and clippy or rustfmt if the repository configures them."""

from collections.abc import Iterator

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

_MANIFEST = "Cargo.toml"
_NEEDS = ("target", "dependencies", "dev-dependencies", "build-dependencies")


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the crate or workspace at the root, or else of crates in folders."""
    return find_in(listing, (_MANIFEST,), _read, "Rust")


def _read(listing: Listing, folder: str) -> DetectedCommands:
    manifest = join(folder, _MANIFEST)
    crate = toml(listing.text(manifest))
    place = ("--manifest-path", manifest) if folder else ()
    locked = ("--locked",) if listing.has(join(folder, "Cargo.lock")) else ()
    options = (*place, *(("--workspace",) if "workspace" in crate else ()), *locked)
    fetch = command(manifest, "cargo", "fetch", *place, *locked)
    clippy = listing.first(folder, ("clippy.toml", ".clippy.toml"))
    rules = table(crate, "lints", "clippy") or table(crate, "workspace", "lints", "clippy")

    def lint() -> Iterator[Command]:
        if clippy or rules:
            reason = f"{clippy or manifest} configures clippy"
            yield command(reason, "cargo", "clippy", *options, "--all-targets")
        if config := listing.first(folder, ("rustfmt.toml", ".rustfmt.toml")):
            yield command(
                f"{config} configures rustfmt", "cargo", "fmt", *place, "--all", "--check"
            )

    return DetectedCommands(
        commands=ProjectCommands(
            setup=(fetch,) if "workspace" in crate or any(map(crate.get, _NEEDS)) else (),
            build=(command(manifest, "cargo", "build", *options),),
            test=(command(manifest, "cargo", "test", *options, "--no-fail-fast"),),
            lint=tuple(lint()),
            format=(rustfmt(listing, folder),),
        )
    )
