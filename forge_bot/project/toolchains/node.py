"""JavaScript and TypeScript: the scripts of package.json, run by the package manager in use."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from posixpath import basename, dirname

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
from forge_bot.project.formatters import prettier
from forge_bot.project.lenient_config import json_object, string, strings, table
from forge_bot.text_format import names
from forge_bot.values import Frozen
from forge_bot.verification.selected_tests import MANAGERS

_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)


class Manager(Frozen):
    """A package manager in a folder: its name, the evidence for it, and the lock file, if any."""

    name: str
    folder: str
    reason: str
    lock: str
    berry: bool = False

    def install(self) -> tuple[str, ...]:
        """Return the command that installs the locked versions, or else those of package.json.

        It writes no lock file.
        """
        match self.name, bool(self.lock):
            case "pnpm", True:
                return self._run("install", "--frozen-lockfile")
            case "pnpm", False:
                return self._run("install", "--no-lockfile")
            case "yarn", True:
                return self._run("install", "--immutable" if self.berry else "--frozen-lockfile")
            case "yarn", False:
                return self._run("install") if self.berry else self._run("install", "--no-lockfile")
            case "bun", True:
                return self._run("install", "--frozen-lockfile")
            case "bun", False:
                return self._run("install", "--no-save")
            case _, True:
                return self._run("ci", "--no-audit", "--no-fund")
            case _:
                return self._run("install", "--no-audit", "--no-fund", "--no-package-lock")

    def script(self, name: str) -> tuple[str, ...]:
        """Return the command that runs a script of package.json."""
        return (
            self._run("test") if name == "test" and self.name != "bun" else self._run("run", name)
        )

    def everywhere(self, name: str) -> tuple[str, ...]:
        """Return the command that runs a script in each package of the workspace that has it."""
        match self.name:
            case "pnpm":
                return self._run("-r", "--if-present", "run", name)
            case "yarn":
                return (
                    self._run("workspaces", "foreach", "-A", "run", name)
                    if self.berry
                    else self._run("workspaces", "run", name)
                )
            case "bun":
                return self._run("run", "--filter", "*", name)
            case _:
                return self._run("run", name, "--workspaces", "--if-present")

    def _run(self, *arguments: str) -> tuple[str, ...]:
        return (self.name, *((MANAGERS[self.name], self.folder) if self.folder else ()), *arguments)


def read_manager(listing: Listing, folder: str, package: Mapping[str, object]) -> Manager:
    """Return the manager that package.json names, else the one with a lock file, else npm."""
    named, _, version = string(package.get("packageManager")).partition("@")
    known = {manager for _, manager in _LOCKS}
    locks = [
        (join(folder, file), manager) for file, manager in _LOCKS if listing.has(join(folder, file))
    ]
    name = named if named in known else locks[0][1] if locks else "npm"
    lock = next((file for file, manager in locks if manager == name), "")
    manifest = join(folder, "package.json")
    reason = lock or (f"{manifest} names {name}" if named == name else manifest)
    berry = name == "yarn" and (
        listing.has(join(folder, ".yarnrc.yml")) or version.split(".")[0] not in {"", "1"}
    )
    return Manager(name=name, folder=folder, reason=reason, lock=lock, berry=berry)


_MANIFEST = "package.json"
_NEEDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_TEST_FILE = re.compile(r"(?:^|/)(?:test-[^/]+|[^/]+[.\-_]test|test/.+)\.[cm]?js$")
_NODE_TEST = re.compile(r"""(?:from|require\(|import)\s*\(?["']node:test["']""")
_CHANGES_FILES = re.compile(r"(?<!\S)(?:--fix|--write|--apply(?:-unsafe)?)(?!\S)")
_OWN_CONFIG = re.compile(r"(?<!\S)(?:-c|--config)(?!\S)")
_ESLINT_CONFIGS = tuple(
    f"eslint.config.{ending}" for ending in ("js", "mjs", "cjs", "ts", "mts", "cts")
) + tuple(f".eslintrc{ending}" for ending in ("", ".js", ".cjs", ".json", ".yml", ".yaml"))

_RUNNER = re.compile(
    r"(?<![\w./-])(?:node [^&|;]*--test|jest|vitest|mocha|ava|bun test)(?![\w./-])"
)
_MONOREPOS = names("lerna.json nx.json turbo.json rush.json pnpm-workspace.yaml")
"""Files of programs that run the scripts of many packages."""

_LINT_SCRIPTS = ("lint", "lint:check", "check:lint")
"""The usual names of the script that only lints; the first that is there counts."""


class _Package(Frozen):
    """A folder with a package.json: its content, and the packages of its workspace."""

    folder: str
    manifest: str
    scripts: dict[str, str]
    needs: bool
    eslint: bool
    members: tuple[dict[str, str], ...]
    manager: Manager
    formatters: tuple[Command, ...]


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the package at the root.

    If it has no tests, return those of the packages in folders. A package within another one's
    folder whose script calls a test runner gets commands of its own where nothing at the root may
    run it.
    """
    found = find_in(listing, (_MANIFEST,), _read, "JavaScript")
    if not found.commands.test or not listing.has(_MANIFEST) or listing.first("", _MONOREPOS):
        return found
    root = _package(listing, "")
    inner = inner_projects(listing, _MANIFEST, lambda path: basename(path) == _MANIFEST)
    apart = [folder for folder in inner if _is_apart(listing, root, folder)]
    return with_inner(listing, found, apart, _read, "package")


def _is_apart(listing: Listing, root: _Package, folder: str) -> bool:
    """Return whether a package has tests of its own that those of the root's package leave out."""
    own = _scripts(json_object(listing.text(join(folder, _MANIFEST)))).get("test", "")
    told = root.scripts.get("test", "")
    return (
        not root.members
        and _RUNNER.search(own) is not None
        and re.search(rf"(?<![\w.-]){re.escape(folder)}(?![\w.-])", told) is None
    )


def _read(listing: Listing, folder: str) -> DetectedCommands:
    package = _package(listing, folder)
    notes: list[str] = []
    build = tuple(_script(package, "build"))
    test = tuple(_tests(listing, package))
    lint = tuple(_lint(package, notes))
    setup: tuple[Command, ...] = ()
    if package.needs and (build or test or lint):
        setup = (command(package.manager.reason, *package.manager.install()),)
    return DetectedCommands(
        commands=ProjectCommands(
            setup=setup,
            build=build,
            test=test,
            lint=lint,
            format=package.formatters,
        ),
        notes=tuple(notes),
    )


def _package(listing: Listing, folder: str) -> _Package:
    manifest = join(folder, _MANIFEST)
    content = json_object(listing.text(manifest))
    members = tuple(json_object(listing.text(path)) for path in _members(listing, folder, content))
    eslint = (
        "eslintConfig" in content
        or listing.first(folder, _ESLINT_CONFIGS)
        or listing.first("", _ESLINT_CONFIGS)
    )
    return _Package(
        folder=folder,
        manifest=manifest,
        scripts=_scripts(content),
        needs=bool(members) or any(table(content.get(key)) for key in _NEEDS),
        eslint=bool(eslint),
        members=tuple(_scripts(member) for member in members),
        manager=read_manager(listing, folder, content),
        formatters=tuple(prettier(listing, folder, content, _NEEDS)),
    )


def _scripts(content: Mapping[str, object]) -> dict[str, str]:
    """Return the scripts that do something. The placeholder test of `npm init` does not."""
    named = {name: string(line) for name, line in table(content.get("scripts")).items()}
    return {
        name: line
        for name, line in named.items()
        if line.strip() and "no test specified" not in line
    }


def _members(listing: Listing, folder: str, content: Mapping[str, object]) -> Iterator[str]:
    """Yield the manifests of the packages in a workspace.

    npm, Yarn and Bun list them in package.json, pnpm in its own file.
    """
    workspaces = content.get("workspaces")
    patterns = strings(workspaces) or strings(table(workspaces).get("packages"))
    pnpm = listing.text(join(folder, "pnpm-workspace.yaml"))
    patterns += tuple(
        match[1] for match in re.finditer(r"""^[^\S\n]*-\s*["']?([^"'#\s!]+)""", pnpm, re.MULTILINE)
    )
    for path in listing.own(folder):
        inner = dirname(path)[len(folder) + 1 if folder else 0 :]
        if path.endswith(f"/{_MANIFEST}") and any(
            fnmatch(inner, pattern.removeprefix("./").rstrip("/")) for pattern in patterns
        ):
            yield path


def _script(package: _Package, name: str) -> Iterator[Command]:
    """Yield a script of the package, or those of its workspace's packages if it has none."""
    if (line := package.scripts.get(name)) is not None:
        found = command(f"{package.manifest} has a {name} script", *package.manager.script(name))
        yield found.replace(script=line)
    elif any(name in scripts for scripts in package.members):
        yield command(
            f"packages of the workspace have a {name} script", *package.manager.everywhere(name)
        )


def _tests(listing: Listing, package: _Package) -> Iterator[Command]:
    if found := tuple(_script(package, "test")):
        yield from found
        return
    files = (path for path in listing.own(package.folder) if _TEST_FILE.search(path))
    if path := next((path for path in files if _NODE_TEST.search(listing.text(path))), ""):
        place = (f"{package.folder}/",) if package.folder else ()
        yield command(f"{path} imports node:test", "node", "--test", "--test-reporter=tap", *place)


def _lint(package: _Package, notes: list[str]) -> Iterator[Command]:
    """Yield the lint script, unless it would change files or lacks its linter's configuration."""
    name = next((name for name in _LINT_SCRIPTS if name in package.scripts), _LINT_SCRIPTS[0])
    for each in _script(package, name):
        line = package.scripts.get(name, "")
        if _CHANGES_FILES.search(line):
            notes.append(
                f"{package.manifest}: its lint script changes files, so it is not used to check."
            )
        elif re.search(r"\beslint\b", line) and not package.eslint and not _OWN_CONFIG.search(line):
            notes.append(
                f"{package.manifest}: its lint script calls eslint, which is not configured, so it"
                " is not used."
            )
        else:
            yield each
