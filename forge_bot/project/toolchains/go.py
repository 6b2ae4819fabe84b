"""Go: modules and workspaces, and golangci-lint if the repository configures it."""

import re

from forge_bot.artifacts.test_paths import TEST_FOLDERS
from forge_bot.project.detected_commands import (
    MOST_PROJECTS,
    DetectedCommands,
    ProjectCommands,
    combined,
    command,
    find_in,
)
from forge_bot.project.file_list import Listing, join
from forge_bot.project.formatters import gofmt

_REQUIRES = re.compile(r"^[^\S\n]*require\b", re.MULTILINE)
_USES = re.compile(r"^[^\S\n]*use\s*(?:\((?P<many>[^()]*)\)|(?P<one>\S+))", re.MULTILINE)
_LINT_CONFIGS = (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the workspace or module at the root, or else of modules in folders.

    Go leaves a module within another one's folder out of that one's packages, so each that has
    tests gets commands of its own: unless it lies in a folder of tests of the whole, which need
    what runs elsewhere, or beside a workspace that does not name it.
    """
    root = find_in(listing, ("go.work", "go.mod"), _read, "Go")
    if not listing.has("go.mod"):
        return root
    inner = [
        folder
        for folder in listing.projects(("go.mod",))
        if TEST_FOLDERS.isdisjoint(folder.split("/"))
        and any(path.endswith("_test.go") for path in listing.own(folder))
    ]
    tested = inner[:MOST_PROJECTS]
    if listing.has("go.work"):
        tested = [folder for folder in inner if folder in _modules(listing, "go.work")]
        parts = [root]
    else:
        parts = [root, *(_read(listing, folder) for folder in tested)]
    notes = tuple(
        f"The Go module in {folder} is not tested." for folder in inner if folder not in tested
    )
    return combined([*parts, DetectedCommands(notes=notes)])


def _read(listing: Listing, folder: str) -> DetectedCommands:
    place = ("-C", folder) if folder else ()
    manifest = listing.first(folder, ("go.work", "go.mod")) or ""
    modules = _modules(listing, manifest)
    packages = tuple("./..." if module == "." else f"./{module}/..." for module in modules)
    fetch = any(
        _REQUIRES.search(listing.text(join(folder, f"{module}/go.mod".removeprefix("./"))))
        for module in modules
    )
    vendored = listing.has_folder(join(folder, "vendor"))
    config = listing.first(folder, _LINT_CONFIGS)
    lint = command(config or "", "golangci-lint", "run", *packages)
    return DetectedCommands(
        commands=ProjectCommands(
            setup=(
                (command(manifest, "go", *place, "mod", "download"),)
                if fetch and not vendored
                else ()
            ),
            build=(command(manifest, "go", *place, "build", *packages),),
            test=(command(manifest, "go", *place, "test", *packages),),
            lint=(lint,) if config and not folder else (),
            format=(gofmt(manifest, folder),),
        )
    )


def _modules(listing: Listing, manifest: str) -> tuple[str, ...]:
    """Return the folders of the modules, relative to the manifest's own.

    A go.mod is its only module.
    """
    if not manifest.endswith("go.work"):
        return (".",)
    names = (
        name
        for match in _USES.finditer(listing.text(manifest))
        for name in (match["many"] or match["one"]).split()
    )
    return tuple(name.removeprefix("./").rstrip("/") or "." for name in names) or (".",)
