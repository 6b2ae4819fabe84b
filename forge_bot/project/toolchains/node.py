"""JavaScript and TypeScript: the scripts of package.json, run by the package manager in use."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from posixpath import dirname

from forge_bot.project.detected_commands import (
    Command,
    DetectedCommands,
    ProjectCommands,
    command,
    find_in,
    prettier,
)
from forge_bot.project.file_list import Listing, join, json_object, string, strings, table
from forge_bot.values import Frozen
from forge_bot.verification.runners import MANAGERS

_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_BERRY = "yarn 2"
_INSTALL = {
    "npm": ("ci --no-audit --no-fund", "install --no-audit --no-fund --no-package-lock"),
    "pnpm": ("install --frozen-lockfile", "install --no-lockfile"),
    "yarn": ("install --frozen-lockfile", "install --no-lockfile"),
    _BERRY: ("install --immutable", "install"),
    "bun": ("install --frozen-lockfile", "install --no-save"),
}
"""The words that install locked versions, and others; no lock file is written."""
_EVERYWHERE = {
    "npm": "run {} --workspaces --if-present",
    "pnpm": "-r --if-present run {}",
    "yarn": "workspaces run {}",
    _BERRY: "workspaces foreach -A run {}",
    "bun": "run --filter * {}",
}
"""The words that run a script in each package of the workspace that has it."""
_MANIFEST = "package.json"
_NEEDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_TEST_FILE = re.compile(r"(?:^|/)(?:test-[^/]+|[^/]+[.\-_]test|test/.+)\.[cm]?js$")
_NODE_TEST = re.compile(r"""(?:from|require\(|import)\s*\(?["']node:test["']""")
_CHANGES_FILES = re.compile(r"(?<!\S)(?:--fix|--write|--apply(?:-unsafe)?)(?!\S)")
_LINT_SCRIPTS = ("lint", "lint:check", "check:lint")
"""The usual names of the script that only lints; the first that is there counts."""


class _Package(Frozen):
    """A folder with a package.json: its scripts, those of its workspace, and how it is run."""

    folder: str
    manifest: str
    scripts: dict[str, str]
    members: tuple[dict[str, str], ...]
    manager: str
    lock: str

    def run(self, words: str) -> tuple[str, ...]:
        """Return the words of a call of the package manager in the folder."""
        program = self.manager.partition(" ")[0]
        place = (MANAGERS[program], self.folder) if self.folder else ()
        return (program, *place, *words.split())

    def script(self, name: str) -> Iterator[Command]:
        """Yield a script of the package, or those of its workspace's packages if it has none."""
        if (line := self.scripts.get(name)) is not None:
            words = "test" if name == "test" and self.manager != "bun" else f"run {name}"
            reason = f"{self.manifest} has a {name} script"
            yield command(reason, *self.run(words)).replace(script=line)
        elif any(name in scripts for scripts in self.members):
            reason = f"packages of the workspace have a {name} script"
            yield command(reason, *self.run(_EVERYWHERE[self.manager].format(name)))


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the package at the root; if it has no tests, those of the packages in
    folders.
    """
    return find_in(listing, (_MANIFEST,), _read, "JavaScript")


def _read(listing: Listing, folder: str) -> DetectedCommands:
    content = json_object(listing.text(join(folder, _MANIFEST)))
    package = _package(listing, folder, content)
    notes: list[str] = []
    build = tuple(package.script("build"))
    test = tuple(package.script("test")) or tuple(_node_tests(listing, folder))
    lint = tuple(_lint(package, notes))
    setup: tuple[Command, ...] = ()
    needs = package.members or any(table(content.get(key)) for key in _NEEDS)
    if needs and (build or test or lint):
        locked, plain = _INSTALL[package.manager]
        reason = package.lock or package.manifest
        setup = (command(reason, *package.run(locked if package.lock else plain)),)
    return DetectedCommands(
        commands=ProjectCommands(
            setup=setup,
            build=build,
            test=test,
            lint=lint,
            format=tuple(prettier(listing, folder, content, _NEEDS)),
        ),
        notes=tuple(notes),
    )


def _package(listing: Listing, folder: str, content: Mapping[str, object]) -> _Package:
    """Return a package with the manager that it names, else the one with a lock file, else npm."""
    named, _, version = string(content.get("packageManager")).partition("@")
    locks = {
        manager: path for file, manager in _LOCKS.items() if listing.has(path := join(folder, file))
    }
    manager = named if named in MANAGERS else next(iter(locks), "npm")
    lock = locks.get(manager, "")
    newer = listing.has(join(folder, ".yarnrc.yml")) or version.split(".")[0] not in {"", "1"}
    return _Package(
        folder=folder,
        manifest=join(folder, _MANIFEST),
        scripts=_scripts(content),
        members=tuple(_members(listing, folder, content)),
        manager=_BERRY if manager == "yarn" and newer else manager,
        lock=lock,
    )


def _scripts(content: Mapping[str, object]) -> dict[str, str]:
    """Return the scripts that do something. The placeholder test of `npm init` does not."""
    named = {name: string(line) for name, line in table(content.get("scripts")).items()}
    return {
        name: line
        for name, line in named.items()
        if line.strip() and "no test specified" not in line
    }


def _members(
    listing: Listing, folder: str, content: Mapping[str, object]
) -> Iterator[dict[str, str]]:
    """Yield the scripts of the packages in a workspace.

    npm, Yarn and Bun list them in package.json, pnpm in its own file.
    """
    workspaces = content.get("workspaces")
    patterns = strings(workspaces) or strings(table(workspaces).get("packages"))
    pnpm = listing.text(join(folder, "pnpm-workspace.yaml"))
    patterns += tuple(re.findall(r"""^[^\S\n]*-\s*["']?([^"'#\s!]+)""", pnpm, re.MULTILINE))
    for path in listing.own(folder) if patterns else ():
        inner = dirname(path)[len(folder) + 1 if folder else 0 :]
        if path.endswith(f"/{_MANIFEST}") and any(
            fnmatch(inner, pattern.removeprefix("./").rstrip("/")) for pattern in patterns
        ):
            yield _scripts(json_object(listing.text(path)))


def _node_tests(listing: Listing, folder: str) -> Iterator[Command]:
    files = (path for path in listing.own(folder) if _TEST_FILE.search(path))
    if path := next((path for path in files if _NODE_TEST.search(listing.text(path))), ""):
        place = (f"{folder}/",) if folder else ()
        yield command(f"{path} imports node:test", "node", "--test", "--test-reporter=tap", *place)


def _lint(package: _Package, notes: list[str]) -> Iterator[Command]:
    """Yield the lint script, unless it would change files."""
    name = next((name for name in _LINT_SCRIPTS if name in package.scripts), _LINT_SCRIPTS[0])
    if not _CHANGES_FILES.search(package.scripts.get(name, "")):
        yield from package.script(name)
        return
    why = "changes files, so it is not used to check"
    notes.append(f"{package.manifest}: its lint script {why}.")
