"""The newest entries of a changelog, and the news fragments of a repository."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from posixpath import basename

from forge_bot.knowledge.text_sections import (
    HouseRule,
    Span,
    length_of,
    mark_of,
    sections_of,
    with_gaps,
)
from forge_bot.project.file_list import Listing
from forge_bot.project.lenient_config import string, table, toml
from forge_bot.text_format import gist, names

CHANGELOGS = names("changelog changes history news releases release_notes versions whatsnew")
_PART_OF_CHANGELOG = re.compile(r"(?:changelog|changes|history)[-_.].+\.(?:md|rst|txt)")
"""The entries of some releases, as in `CHANGELOG-1.x.md`."""

_FRAGMENTS = ("newsfragments", "changelog.d", "changelog_entries", "news", "changes", ".changeset")
_FRAGMENT = re.compile(r"\.(?:md|rst|txt|ya?ml)$", re.IGNORECASE)
_SETTINGS = ("towncrier.toml", "pyproject.toml")
_MOST_CHANGELOG = 1_000
_WHOLE_CHANGELOG = 2_000
"""Characters of newest entries that are shown whole: an implementer needs them whole anyway."""

NEWEST = "newest entries"
"""The part of a changelog that is shown where every line of its newest release is."""

PARTS_OF_NEWEST = "parts of the newest entries"

_LINES_OF_HEADING = 5
_LONGEST_HEADING = 60
_LINES_OF_ENTRIES = 4
"""Lines of each section of the newest entries, which show their form."""
_ENTRY = re.compile(r"\s{0,3}[-*+•]\s+\S")
_LEAST_GAP = 2
_EXAMPLES = 3
_MOST_COUNTED = 100
_MOST_KINDS = 6
_PARTS_WITH_KIND = 2
_YAML_SECTION = re.compile(r"^(\w+):", re.MULTILINE)
_MOST_FRAGMENT = 400
_ENDS_HERE = "the newest release ends here; "
_LAST_GAP = re.compile(r"\[… (lines \d+-\d+ are not shown here …\]\n)\Z")


def tells_of_changes(path: str) -> bool:
    """Return whether a file is a changelog, by its name: also `CHANGELOG-2.md`."""
    name = basename(path).casefold()
    return (
        name in CHANGELOGS
        or name.rpartition(".")[0] in CHANGELOGS
        or _PART_OF_CHANGELOG.fullmatch(name) is not None
    )


def newest_of_changelog(listing: Listing, path: str, room: int) -> HouseRule | None:
    """Return the newest entries of a changelog, without its preface; of many only the first lines
    of each section, which show their form.
    """
    text = listing.text(path)
    whole = newest_entries(path, text, _WHOLE_CHANGELOG)
    if whole is None or whole.part != PARTS_OF_NEWEST:
        return whole
    return newest_entries(path, text, min(room, _MOST_CHANGELOG), _LINES_OF_ENTRIES)


def newest_entries(path: str, text: str, room: int, of_each: int = 0) -> HouseRule | None:
    """Return the newest part of a changelog, up to the second release; of each section what comes
    before its entries and at most so many lines of these, or all of them.

    An entry is added in one of the sections, so fewer lines of each are better than fewer sections.
    """
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        return None
    newest = [*_until_next_release(lines, _without_title(lines, [*sections_of(lines)]))]
    beginnings = [[*_beginnings(lines, newest, most)] for most in range(of_each, 0, -1)]
    with_ends = [[*_with_ends(lines, newest, spans)] for spans in beginnings]
    ends = _ENDS_HERE + _beginning_of_release(lines, newest[-1][1])
    room -= len(ends)
    fitting = (spans for spans in with_ends + beginnings if _size(lines, spans) <= room)
    shown = next(fitting, None) or [*_as_many_lines(lines, newest, room)]
    part = NEWEST if shown == newest else PARTS_OF_NEWEST
    whole = shown == [(0, len(lines))]
    text = with_gaps(lines, _joined(shown))
    if not (whole or any(line.strip() for line in lines[shown[-1][1] : newest[-1][1]])):
        text = _LAST_GAP.sub(lambda gap: f"[… {ends}{gap[1]}", text)
    return HouseRule(path=path, text=text, part="" if whole else part)


def _beginning_of_release(lines: Sequence[str], at: int) -> str:
    """Return the heading of the release before the newest one and the line below it: they tell
    whether the newest one is released.
    """
    above = takewhile(lambda line: not _ENTRY.match(line), lines[at : at + _LINES_OF_HEADING])
    told = [gist(line, _LONGEST_HEADING) for line in above if any(map(str.isalnum, line))][:2]
    return f"before it “{'”, “'.join(told)}”; " if told else ""


def _beginnings(lines: Sequence[str], sections: Sequence[Span], most: int) -> Iterator[Span]:
    """Yield each section up to its first entry, and so many lines of its entries."""
    for first, last in sections:
        entry = next((at for at in range(first, last) if _ENTRY.match(lines[at])), first)
        yield first, min(last, entry + most)


def _with_ends(
    lines: Sequence[str], sections: Sequence[Span], beginnings: Sequence[Span]
) -> Iterator[Span]:
    """Yield the beginning of each section, and its end."""
    for (_, last), (first, end) in zip(sections, beginnings, strict=True):
        yield from _parts(lines, first, end, last)


def _parts(lines: Sequence[str], first: int, end: int, last: int) -> Iterator[Span]:
    """Yield a section up to a line, and its end."""
    yield first, end
    yield from _end_of(lines, end, last)


def _end_of(lines: Sequence[str], first: int, last: int) -> Iterator[Span]:
    """Yield the last entry of a section, or the end of a long one: where many projects add theirs.
    Nothing of it is before the first line that is given.
    """
    end = next((at for at in range(last, first, -1) if lines[at - 1].strip()), first)
    entry = next((at for at in range(end - 1, first, -1) if _ENTRY.match(lines[at])), first)
    if end > first:
        yield max(entry, end - _LINES_OF_ENTRIES), end


def _as_many_lines(lines: Sequence[str], sections: Sequence[Span], room: int) -> Iterator[Span]:
    """Yield the sections from the first on, until they take the room."""
    shown: list[Span] = []
    for first, last in sections:
        end = last
        while end > first and _size(lines, [*shown, *_parts(lines, first, end, last)]) > room:
            end -= 1
        if end > first:
            parts = [*_parts(lines, first, end, last)]
            shown += parts
            yield from parts


def _size(lines: Sequence[str], spans: Sequence[Span]) -> int:
    return length_of(with_gaps(lines, spans).split("\n"))


def _without_title(lines: Sequence[str], sections: Sequence[Span]) -> Sequence[Span]:
    """Return the sections without what stands before the first heading, and without the title: the
    first heading, if no other one has its level.
    """
    titled = [span for span in sections if mark_of(lines, span[0])] or sections
    marks = [mark_of(lines, first) for first, _ in titled]
    return titled[1:] if len(titled) > 1 and marks.count(marks[0]) == 1 else titled


def _until_next_release(lines: Sequence[str], sections: Sequence[Span]) -> Iterator[Span]:
    """Yield sections up to the next one of the first one's level that follows some entries."""
    marks = [mark_of(lines, first) for first, _ in sections]
    entries = False
    for (first, last), mark in zip(sections, marks, strict=True):
        if entries and mark == marks[0]:
            return
        yield first, last
        entries = entries or any(_ENTRY.match(line) for line in lines[first:last])


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Return the spans, joined where at most two lines are between them."""
    found: list[Span] = []
    for first, last in spans:
        if found and first <= found[-1][1] + _LEAST_GAP:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return found


def news_fragments(listing: Listing) -> HouseRule | None:
    """Return what a repository does with news fragments: a file for each change."""
    folder = fragment_folder(listing)
    if not folder:
        return None
    inside = [path for path in listing.below(folder) if path.count("/") == folder.count("/") + 1]
    named = [path for path in inside if _FRAGMENT.search(path) and not _is_about(path)]
    about = next((path for path in inside if _is_about(path)), None)
    says = [f"Each change adds a file to {folder}/, which becomes part of the changelog."]
    if any(table(_tools(listing, settings), "towncrier") for settings in _SETTINGS):
        # Source: https://towncrier.readthedocs.io/en/stable/tutorial.html#creating-news-fragments
        says.append("The name of one without a number begins with “+”, such as +lists.bugfix.md.")
    if named:
        says.append(f"Some that are there: {', '.join(named[-_EXAMPLES:])}.")
        if kinds := _kinds(listing, named[-_MOST_COUNTED:]):
            says.append(f"Kinds, and how many are there: {kinds}.")
        says.append(f"{named[-1]}:\n{listing.text(named[-1]).strip()[:_MOST_FRAGMENT]}")
    if about is not None:
        says.append(f"{about}:\n{listing.text(about).strip()[:_MOST_CHANGELOG]}")
    return HouseRule(path=f"{folder}/", text="\n".join(says) + "\n", part="news fragments")


def _kinds(listing: Listing, fragments: Sequence[str]) -> str:
    """Return the kinds of fragments, the most frequent first: the sections of a YAML file, as reno
    reads them, or the part of a name before its ending, as towncrier does.
    """
    counts: Counter[str] = Counter()
    for path in fragments:
        if path.endswith((".yaml", ".yml")):
            counts.update({*_YAML_SECTION.findall(listing.text(path))})
        elif len(parts := basename(path).split(".")) > _PARTS_WITH_KIND:
            counts[parts[-2]] += 1
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"`{kind}` ({count})" for kind, count in ranked[:_MOST_KINDS])


def _is_about(path: str) -> bool:
    return basename(path).casefold().startswith(("readme", "template", "_template"))


def fragment_folder(listing: Listing) -> str:
    """Return the folder of news fragments: as a tool's settings say, or by its usual name."""
    for settings in _SETTINGS:
        tools = _tools(listing, settings)
        if towncrier := table(tools, "towncrier"):
            package = string(towncrier.get("package"))
            usual = next(
                (
                    folder
                    for folder in (f"src/{package}/newsfragments", f"{package}/newsfragments")
                    if listing.has_folder(folder)
                ),
                "newsfragments",
            )
            return string(towncrier.get("directory")).strip("/").removeprefix("./") or usual
        if "scriv" in tools:
            return string(table(tools, "scriv").get("fragment_directory")) or "changelog.d"
    if listing.has(".changeset/config.json"):
        return ".changeset"
    if listing.has_folder("releasenotes/notes"):
        return "releasenotes/notes"
    return next((name for name in _FRAGMENTS if _holds_fragments(listing, name)), "")


def _tools(listing: Listing, settings: str) -> Mapping[str, object]:
    return table(toml(listing.text(settings)), "tool")


def _holds_fragments(listing: Listing, folder: str) -> bool:
    names = [path for path in listing.below(folder) if path.count("/") == 1]
    return bool(names) and any(re.search(r"/\W*\d+[.\-_]|/README", path) for path in names)
