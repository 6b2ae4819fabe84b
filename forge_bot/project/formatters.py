"""The programs that format source files: which files each takes, and which a repository uses."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from posixpath import basename

from forge_bot.project.detected_commands import Command
from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import string, table, toml

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
