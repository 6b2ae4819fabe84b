"""The newest entries of a changelog, and the news fragments of a repository."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product, takewhile
from posixpath import basename

from forge_bot.knowledge.excerpts import Span, size_of, written
from forge_bot.project.file_list import Listing
from forge_bot.project.lenient_config import string, table, toml
from forge_bot.text_format import gist, names
from forge_bot.values import Frozen

CHANGELOGS = names("changelog changes history news releases release_notes versions whatsnew")
_PART_OF_CHANGELOG = re.compile(r"(?:changelog|changes|history)[-_.].+\.(?:md|rst|txt)")
_FRAGMENTS = ("newsfragments", "changelog.d", "changelog_entries", "news", "changes", ".changeset")
_FRAGMENT_TOOLS = (
    ("towncrier", "directory", "newsfragments"),
    ("scriv", "fragment_directory", "changelog.d"),
)
_FRAGMENT = re.compile(r"\.(?:md|rst|txt|ya?ml)$", re.IGNORECASE)
_EXAMPLES = 3
_MOST_FRAGMENT = 400
_WHOLE = 2_000
"""Characters of newest entries that are shown whole: an implementer needs them whole anyway."""

_LINES_OF_ENTRIES = 4
_LONGEST_HEADING = 60
_HEADING = re.compile(r"(#{1,6}|=+)\s+\S")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`:.])\1{2,}\s*")
_ENTRY = re.compile(r"\s{0,3}[-*+•]\s+\S")


class HouseRule(Frozen):
    """The shown text of one file; `part` names the part, and is empty for the whole file."""

    path: str
    text: str
    part: str = ""


def sections_of(lines: Sequence[str]) -> list[tuple[str, Span]]:
    """Return the sections of a text in Markdown, reStructuredText or AsciiDoc, without their
    subsections: the sign of the level, and the lines.
    """
    starts: dict[int, str] = {1: ""}
    fenced = False
    for number, (line, below) in enumerate(pairwise([*lines, ""]), 1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        underlined = _UNDERLINE.fullmatch(below) if len(below) >= len(line.rstrip()) > 0 else None
        if not fenced and (heading := _HEADING.match(line) or underlined):
            starts[number] = heading[1]
    ends = (*[start - 1 for start in [*starts][1:]], len(lines))
    return [(mark, (at, end)) for (at, mark), end in zip(starts.items(), ends, strict=True)]


def tells_of_changes(path: str) -> bool:
    """Return whether a file is a changelog, by its name: also `CHANGELOG-2.md`."""
    name = basename(path).casefold()
    whole = name if name in CHANGELOGS else name.rpartition(".")[0]
    return whole in CHANGELOGS or _PART_OF_CHANGELOG.fullmatch(name) is not None


def newest_entries(path: str, text: str, room: int = _WHOLE) -> HouseRule | None:
    """Return the newest release of a changelog, without its preface. Of a long one the first lines
    of each section are shown, which show their form, and the last ones, where new entries may come.
    """
    lines = text.removesuffix("\n").split("\n")
    newest = _newest([*sections_of(lines)], lines)
    if not text.strip():
        return None
    last = newest[-1][1]
    before = "”, “".join(_heading_of(lines, last + 1))
    whole, parts = ((newest[0][0], last),), list[Span]()
    for most, ends in product(range(_LINES_OF_ENTRIES, 0, -1), (True, False)):
        every = [part for span in newest for part in _form_of(lines, span, most, ends=ends)]
        parts = [*_fitting(lines, every, room)]
        if parts == every:
            break
    shown = whole if size_of(lines, whole) <= max(room, _WHOLE) else tuple(parts)
    made = written(lines, shown)
    if before:
        ends = f"[… the newest release ends here; before it “{before}”; lines {last + 1}-"
        made = made.replace(f"[… lines {last + 1}-", ends)
    part = "newest entries" if shown == whole else "parts of the newest entries"
    return HouseRule(path=path, text=made, part="" if shown == ((1, len(lines)),) else part)


def _newest(sections: Sequence[tuple[str, Span]], lines: Sequence[str]) -> list[Span]:
    """Return the sections of the newest release: up to the next heading of the first one's level
    that follows some entries. A preface and the only heading of its level, the title, are none.
    """
    titled = [section for section in sections if section[0]] or [*sections]
    marks = [mark for mark, _ in titled]
    if len(titled) > 1 and marks.count(marks[0]) == 1:
        titled = titled[1:]
    newest: list[Span] = []
    entries = False
    for mark, (first, last) in titled:
        if entries and mark == titled[0][0]:
            break
        newest.append((first, last))
        entries = entries or any(map(_ENTRY.match, lines[first - 1 : last]))
    return newest


def _fitting(lines: Sequence[str], parts: Sequence[Span], room: int) -> Iterator[Span]:
    """Yield the first of some parts, as many as fit."""
    left = room
    for part in parts:
        left += size_of(lines, ()) - size_of(lines, (part,))
        if left < 0:
            return
        yield part


def _form_of(lines: Sequence[str], section: Span, most: int, *, ends: bool) -> Iterator[Span]:
    """Yield the beginning of a section with so many lines of its entries, and its end."""
    first, last = section
    entries = [at for at in range(first, last + 1) if _ENTRY.match(lines[at - 1])]
    start = (entries or [first])[0]
    yield first, min(last, start + most - 1)
    if entries and ends:
        yield max(start, entries[-1], last - _LINES_OF_ENTRIES), last


def _heading_of(lines: Sequence[str], at: int) -> list[str]:
    """Return the heading of the release before the newest one and the line below it: they tell
    whether the newest one is released.
    """
    above = takewhile(lambda line: not _ENTRY.match(line), lines[at - 1 : at + 4])
    return [gist(line, _LONGEST_HEADING) for line in above if any(map(str.isalnum, line))][:2]


def news_fragments(listing: Listing) -> HouseRule | None:
    """Return what a repository does with news fragments: a file for each change."""
    folder = fragment_folder(listing)
    if not folder:
        return None
    inside = [path for path in listing.below(folder) if path.count("/") == folder.count("/") + 1]
    about = [
        path for path in inside if re.search(r"/_?(?:readme|template)[^/]*$", path, re.IGNORECASE)
    ]
    named = [path for path in inside if _FRAGMENT.search(path) and path not in about]
    lines = [f"Each change adds a file to {folder}/, which becomes part of the changelog."]
    if named:
        lines.append(f"Some that are there: {', '.join(named[-_EXAMPLES:])}.")
    lines += [
        f"{path}:\n{listing.text(path).strip()[:_MOST_FRAGMENT]}"
        for path in (*named[-1:], *about[:1])
    ]
    return HouseRule(path=f"{folder}/", text="\n".join(lines) + "\n", part="news fragments")


def fragment_folder(listing: Listing) -> str:
    """Return the folder of news fragments: as a tool's settings say, or by its usual name."""
    for settings in ("towncrier.toml", "pyproject.toml"):
        tools = table(toml(listing.text(settings)), "tool")
        for tool, key, usual in _FRAGMENT_TOOLS:
            if tool in tools:
                named = string(table(tools, tool).get(key)) or usual
                return named.strip("/").removeprefix("./")
    if listing.has_folder("releasenotes/notes"):
        return "releasenotes/notes"
    return next((folder for folder in _FRAGMENTS if _holds_fragments(listing, folder)), "")


def _holds_fragments(listing: Listing, folder: str) -> bool:
    names = [path for path in listing.below(folder) if path.count("/") == 1]
    return any(re.search(r"/\W*\d+[.\-_]|/README|/config\.json$", path) for path in names)
