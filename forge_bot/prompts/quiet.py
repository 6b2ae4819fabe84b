"""Words of models and strangers made harmless on GitHub: they notify nobody, close no issue, hide nothing and break no table.

What a reader sees stays the same. `&#8203;` is a blank of no width: it stands between `@` and a name so that GitHub sends no
mention, and after “Fixes” so that merging closes nothing. In code GitHub does none of this, and code is left as it is.

The words that close: https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
"""

import re
from collections.abc import Iterable

_CODE_SPAN = re.compile(r"\\`|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_ACTIVE = re.compile(
    r"(?P<tag><(?=[A-Za-z/!?]))"
    r"|(?P<mention>(?<![A-Za-z0-9_])@(?=[A-Za-z0-9]))"
    r"|(?P<entity>&(?=#|commat;|num;|lt;))"
    r"|(?P<closing>\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=[^\w\n]{0,8}(?:#|gh-|https?:|[\w.-]+/[\w.-]+#)))",
    re.IGNORECASE,
)
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_SPACE = re.compile(r"\s+")
_REFERENCE = re.compile(r"#(?=\d)")


class Ready(str):
    """Markdown that is harmless already."""

    __slots__ = ()


def line(text: str) -> Ready:
    """Prose on one line."""
    return Ready(text if isinstance(text, Ready) else _prose(_SPACE.sub(" ", text)))


def cell(text: str) -> Ready:
    """Prose, or something ready, in a cell of a table."""
    return Ready(line(text).replace("|", "\\|"))


def code(text: str) -> Ready:
    """A code span that shows the text, whatever backticks it holds."""
    shown = " ".join(text.split())
    ticks = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return Ready(f"{ticks}{blank}{shown}{blank}{ticks}")


def heading(text: str) -> Ready:
    """A title. Titles are plain text and end up in commit messages, so a reference in one loses its `#`."""
    return Ready(_REFERENCE.sub("", " ".join(text.split())))


def fenced(text: str, language: str = "") -> Ready:
    """A block of code that shows the text, whatever fences it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Ready(f"{ticks}{language}\n{text.rstrip()}\n{ticks}")


def block(markdown: str) -> Ready:
    """A whole document. A code fence that it leaves open is closed, so what follows is not swallowed."""
    done: list[str] = []
    prose: list[str] = []
    mark = ""
    for row in markdown.splitlines():
        if mark:
            done.append(row)
            mark = "" if _closes(row, mark) else mark
        elif found := _FENCE.match(row):
            done += [*_settled(prose), row]
            mark = found["mark"]
        else:
            prose.append(row)
    return Ready("\n".join([*done, *_settled(prose), *([mark] if mark else [])]))


def _settled(prose: list[str]) -> Iterable[str]:
    text = "\n".join(prose)
    had = bool(prose)
    prose.clear()
    return [_prose(text)] if had else []


def _closes(row: str, mark: str) -> bool:
    bare = row.strip()
    return len(bare) >= len(mark) and set(bare) == {mark[0]} and len(row) - len(row.lstrip(" ")) <= 3  # noqa: PLR2004 - CommonMark 4.5


def _prose(text: str) -> str:
    parts: list[str] = []
    reached = 0
    for span in _CODE_SPAN.finditer(text):
        if span["ticks"]:
            parts += [_ACTIVE.sub(_disarmed, text[reached : span.start()]), span[0]]
            reached = span.end()
    return "".join([*parts, _ACTIVE.sub(_disarmed, text[reached:])])


def _disarmed(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "tag":
            return "&lt;"
        case "entity":
            return "&amp;"
        case _:
            return found[0] + "&#8203;"
