"""The settings of a repository for its linters and formatters, its version, and the Python that it
needs.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from forge_bot.project.file_list import Listing

_SECTIONS = {
    "pyproject.toml": re.compile(r"\[tool\.(?:ruff|black|isort|flake8)\b"),
    "setup.cfg": re.compile(r"\[(?:flake8|isort|pycodestyle)\b"),
    "tox.ini": re.compile(r"\[(?:flake8|pycodestyle)\b"),
}
"""Files of several tools, with the headings of the sections that a linter or formatter reads."""

_FILES = ("ruff.toml", ".ruff.toml", ".flake8", ".prettierrc", "biome.json", "rustfmt.toml")
_MOST = 900
_LINE_END = re.compile(r"\s+#.*$")
_ITEM = re.compile(r"\s*(?:\"[^\"]*\"|'[^']*'|[\w.-]+),?")
_MOST_READ = 100_000


class LinterSettings(NamedTuple):
    """The settings for linters in one file; `whole` says whether the text is the whole file."""

    path: str
    text: str
    whole: bool


def linter_settings(listing: Listing) -> Iterator[LinterSettings]:
    """Yield the settings of linters and formatters, a project's version, and its Python's."""
    room = _MOST
    for path in (*_SECTIONS, *_FILES):
        lines = [line for line in listing.text(path)[:_MOST_READ].split("\n") if line.strip()]
        headings = _SECTIONS.get(path)
        told = "\n".join(_joined_lists(_of_linters(lines, headings) if headings else lines))
        kept = told if len(told) < room else told[:room].rpartition(" ")[0]
        if kept:
            room -= len(kept)
            shown = f"{kept}\n" if kept == told else f"{kept} …\n"
            yield LinterSettings(path, shown, whole=headings is None and kept == told)


def _joined_lists(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with a list that has an item a line as one line."""
    begun = ""
    for line in lines:
        if begun and _ITEM.fullmatch(line):
            begun += f"{'' if begun.endswith('[') else ' '}{line.strip()}"
        elif begun and line.strip() == "]":
            yield f"{begun.removesuffix(',')}]"
            begun = ""
        else:
            if begun:
                yield begun
            begun = line if line.endswith("[") else ""
            if not begun:
                yield line
    if begun:
        yield begun


def _of_linters(lines: Iterable[str], headings: re.Pattern[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line.startswith("["):
            inside = headings.match(line) is not None
        if (inside and not line.lstrip().startswith(("#", ";"))) or line.startswith(
            ("requires-python", "version =")
        ):
            yield _LINE_END.sub("", line)
