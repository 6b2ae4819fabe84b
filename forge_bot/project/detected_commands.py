"""A project's commands: argument lists with reasons, the overrides from the settings, and the
programs that format source files.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from posixpath import basename
from typing import cast

from forge_bot.project.file_list import Listing, join, string, table, toml
from forge_bot.settings.config import CONFIG
from forge_bot.values import CommandName, Frozen

ENV = "{env}"
"""Stands for a folder outside the worktree, made for one run.

Setup puts tools and libraries there.
"""

MOST_PROJECTS = 8


class Command(Frozen):
    """A program and its arguments, with the reason for it.

    It runs from the repository's root without a shell.
    """

    argv: tuple[str, ...]
    reason: str
    files: tuple[str, ...] = ()
    """Of a formatter: patterns of the files it takes. Those are added to its words."""
    script: str = ""
    """What the words stand for, such as the script of package.json that `npm test` runs."""


class ProjectCommands(Frozen):
    """The commands of a project by kind, those of one kind in the order in which they run, and
    notes for a person.
    """

    setup: tuple[Command, ...] = ()
    build: tuple[Command, ...] = ()
    test: tuple[Command, ...] = ()
    lint: tuple[Command, ...] = ()
    format: tuple[Command, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, name: CommandName) -> tuple[Command, ...]:
        return cast("tuple[Command, ...]", getattr(self, name.value))


def command(reason: str, *argv: str) -> Command:
    """Return a command. The arguments are in reading order: the reason, then the words."""
    return Command(argv=argv, reason=reason)


def combined(parts: Sequence[ProjectCommands]) -> ProjectCommands:
    """Combine all parts in their order, each command and each note once."""
    merged = {name: _once(one for part in parts for one in part.of(name)) for name in CommandName}
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return ProjectCommands.model_validate({**merged, "notes": tuple(notes)})


def with_overrides(
    commands: ProjectCommands, overrides: Mapping[str, Sequence[Sequence[str]]]
) -> ProjectCommands:
    """Return the commands with whole kinds replaced. An empty list means none on purpose.

    Raises ValueError for an unknown kind.
    """
    reason = f"{CONFIG} says so"
    chosen = {
        CommandName(kind): tuple(command(reason, *argv) for argv in lines)
        for kind, lines in overrides.items()
    }
    return commands.model_copy(update={str(name): lines for name, lines in chosen.items()})


def _once(commands: Iterable[Command]) -> tuple[Command, ...]:
    seen: dict[tuple[object, ...], Command] = {}
    for command in commands:
        seen.setdefault((command.argv, command.files), command)
    return tuple(seen.values())


def find_in(
    listing: Listing,
    manifests: Collection[str],
    read: Callable[[Listing, str], ProjectCommands],
    kind: str,
) -> ProjectCommands:
    """Return the commands of the project at the root, and those in folders if it has no tests."""
    root = read(listing, "") if listing.first("", tuple(manifests)) else ProjectCommands()
    if root.test:
        return root
    folders = listing.projects(manifests)
    parts = [root, *(read(listing, folder) for folder in folders[:MOST_PROJECTS])]
    if len(folders) > MOST_PROJECTS:
        note = f"{len(folders)} {kind} projects; only the first {MOST_PROJECTS} are run."
        parts.append(ProjectCommands(notes=(note,)))
    return combined(parts)


_PYTHON = ("*.py", "*.pyi")
_WEB = tuple(
    f"*.{ending}"
    for ending in (
        *("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue"),
        *("css", "scss", "less", "html", "json", "yml", "yaml", "md"),
    )
)
_TAKEN = {
    "ruff": _PYTHON,
    "black": _PYTHON,
    "isort": _PYTHON,
    "gofmt": ("*.go",),
    "gofumpt": ("*.go",),
    "goimports": ("*.go",),
    "rustfmt": ("*.rs",),
    "prettier": _WEB,
    "clang-format": ("*.c", "*.h", "*.cc", "*.cpp", "*.hpp"),
}
_HOOKS = ".pre-commit-config.yaml"
_HOOK_IDS = {"ruff": re.compile(r"\bid:\s*ruff-format\b"), "black": re.compile(r"\bid:\s*black\b")}
_PRETTIER_CONFIGS = (
    *(".prettierrc", ".prettierrc.json", ".prettierrc.json5", ".prettierrc.toml"),
    *(f".prettierrc.{ending}" for ending in ("yml", "yaml", "js", "mjs", "cjs", "ts")),
    *(f"prettier.config.{ending}" for ending in ("js", "mjs", "cjs", "ts")),
)


def takes(command: Command, path: str) -> bool:
    """Return whether a formatter takes a file. One that is not known takes all."""
    patterns = command.files or _taken_by(command.argv)
    return not patterns or any(fnmatch(path, pattern) for pattern in patterns)


def _taken_by(argv: Sequence[str]) -> tuple[str, ...]:
    programs = [basename(word) for word in argv]
    return next((_TAKEN[name] for name in programs if name in _TAKEN), ())


def _formatter(reason: str, folder: str, *argv: str) -> Command:
    """Return a command that formats the files in a folder that are added to its words."""
    files = [f"{folder}/{pattern}" if folder else pattern for pattern in _taken_by(argv)]
    return Command(argv=argv, reason=reason, files=tuple(files))


def python_formatters(listing: Listing, folder: str, python: str) -> Iterator[Command]:
    """Yield Ruff's formatter if the repository configures it or has its hook, else Black."""
    manifest = join(folder, "pyproject.toml")
    tools = table(toml(listing.text(manifest)), "tool")
    own = listing.first(folder, ("ruff.toml", ".ruff.toml"))
    if "format" in (toml(listing.text(own)) if own else table(tools.get("ruff"))):
        reason = f"{own or manifest} configures ruff's formatter"
    else:
        reason = _hook_of(listing, "ruff")
    if reason:
        # Named files are formatted though the project leaves them out, unless it is told so.
        words = ("-m", "ruff", "format", "--force-exclude", "--no-cache")
        yield _formatter(reason, folder, python, *words)
        return
    reason = f"{manifest} configures black" if "black" in tools else _hook_of(listing, "black")
    if reason:
        yield _formatter(reason, folder, python, "-m", "black", "--quiet")


def _hook_of(listing: Listing, name: str) -> str:
    """Return that pre-commit runs a formatter; empty if it does not."""
    return f"{_HOOKS} runs {name}" if _HOOK_IDS[name].search(listing.text(_HOOKS)) else ""


def prettier(
    listing: Listing, folder: str, content: object, needs: Sequence[str]
) -> Iterator[Command]:
    """Yield Prettier if the package configures it, or needs it itself."""
    manifest = join(folder, "package.json")
    config = listing.first(folder, _PRETTIER_CONFIGS) or listing.first("", _PRETTIER_CONFIGS)
    needed = any("prettier" in table(table(content).get(key)) for key in needs)
    if config or "prettier" in table(content) or needed:
        program = join(folder, "node_modules/.bin/prettier")
        reason = f"{config} configures prettier" if config else f"{manifest} names prettier"
        yield _formatter(reason, folder, program, "--write", "--ignore-unknown")


def rustfmt(listing: Listing, folder: str) -> Command:
    """Return Rust's formatter, for the edition of the crate or workspace.

    Cargo takes 2015 where a package names none.
    Source: https://doc.rust-lang.org/cargo/reference/manifest.html#the-edition-field
    """
    manifest = join(folder, "Cargo.toml")
    crate = toml(listing.text(manifest))
    package = table(crate, "package")
    edition = "2015" if package and "edition" not in package else string(package.get("edition"))
    edition = edition or string(table(crate, "workspace", "package").get("edition")) or "2021"
    return _formatter(manifest, folder, "rustfmt", "--edition", edition)


def gofmt(manifest: str, folder: str) -> Command:
    """Return Go's formatter."""
    return _formatter(manifest, folder, "gofmt", "-w")
