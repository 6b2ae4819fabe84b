"""The rules of a repository for changes: instructions for agents, guides for people, the newest
entries of a changelog or the habit of news fragments.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest
from posixpath import basename

from forge_bot.forge import GUIDE_FOLDERS
from forge_bot.knowledge.excerpts import written
from forge_bot.project.file_list import Listing
from forge_bot.text_format import names
from forge_bot.values import Frozen

_ROOM = 2_200
"""Characters of all rules together; every prompt of a run shows them."""

_LEAST = 600
_MOST_CHANGELOG = 400
_MOST_GUIDE = 500
_TOP = 200
_EXAMPLES = 3
_FOLDERS = (*sorted(GUIDE_FOLDERS), ".gitlab/", "doc/", "docs/about/")
_ENDINGS = (".md", ".rst", ".txt", ".adoc", "")
_GUIDES = names(
    "agents claude gemini .cursorrules copilot-instructions contributing contribute hacking style"
)
_FOR_PEOPLE = names("contribut hacking style")
_CHANGELOGS = names(
    "changelog changes history news releases release_notes release-notes versions whatsnew"
)
_PART_OF_CHANGELOG = re.compile(r"(?:changelog|changes|history)[-_.].+\.(?:md|rst|txt)")
_FRAGMENTS = names("""
    newsfragments changelog.d changelog_entries news changes .changeset doc/build/unreleased
    """)
_FRAGMENT = re.compile(r"/\W*\d+[.\-_]|/README|/config\.json$")
_HTML_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_POINTER = re.compile(r"@?([\w./-]+\.(?:md|rst|txt|adoc))")
_INCLUDES = re.compile(r"include::|\{include\}")
_HEADING = re.compile(r"(#{1,6}|=+)\s+\S")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#:.])\1{2,}\s*")
_ENTRY = re.compile(r"\s{0,3}[-*+•]\s+\S")
_HEAD = 5
"""Lines of a section that may tell of its release."""

_MARK = 60
"""Characters of a mark that lines are left out."""

_UNRELEASED = re.compile(
    r"unreleased|not (?:yet )?released|upcoming|in development|\bnext\b", re.IGNORECASE
)
_RULE_OF_GUIDE = re.compile(
    r"changelog|release note|\bnews\b|docstring|type (?:hint|annotation)|annotat|line length"
    r"|\bstyle|commit message|sign(?:ed)?[- ]off|coverage|deprecat|\badd an? [^.\n]{0,40}\bfile\b"
    r"|\b(?:add|updat|writ|includ|need|requir|provid|accompan|cover|new|with|must|should)"
    r"[^.]{0,60}\b(?:tests?|docs|documentation|documented)\b"
)
"""Words of a paragraph that says what a change has to look like, or to bring along."""

_COMMAND = re.compile(
    r"\b(?:run(?:s|ning)?|install\w*|build\w*|clone|fork|virtual ?env\w*|pip|tox|nox|make \w+)\b"
    r"|tests pass|serve\b"
)
"""Words of a paragraph that says how something is run: the commands are known."""

_NO_TEXT = re.compile(r"(?s)(?: {4}|\s*[`<]).*|#+ [^\n]*|[^\n]+\n([=~^*-])\1+|\s*")
"""A paragraph that is code, a picture, or a heading."""

_CODE_BLOCK = re.compile(r"(?ms)^ *(```|~~~).*?^ *\1[^\n]*$")
_BETWEEN_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)")

_RELEASING = re.compile(
    r"(?ims)^#+ (?:releas|\w+ (?:a )?release\b).*?(?=^#+ |\Z)"
    r"|^releas[^\n]*\n([=~^-])\1{2,}\n.*?(?=^[^\n]+\n\1{3,}$|\Z)"
)
"""A section of a guide about making a release."""
_VERSION = re.compile(rf"\d|{_UNRELEASED.pattern}", re.IGNORECASE)
_RELEASED = re.compile(
    r"\b20\d\d-\d\d-\d\d\b|\breleased\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\b20\d\d\b",
    re.IGNORECASE,
)


class HouseRule(Frozen):
    """The shown text of one file; `part` names the part, and is empty for the whole file. A
    changelog `is_released` if its newest section is that of a release.
    """

    path: str
    text: str
    part: str = ""
    is_released: bool = False


def house_rules(listing: Listing) -> tuple[HouseRule, ...]:
    """Return the rules for changes within a fixed length; the same files give the same rules."""
    waiting = [*_guides(listing)]
    if folder := _fragment_folder(listing):
        waiting.append(f"{folder}/")
    else:
        logs = list(_look_in_usual_places(listing, _CHANGELOGS))
        # A page of the documentation may only include another file.
        waiting += [path for path in logs if not _INCLUDES.search(listing.text(path)[:_TOP])][:1]
    room, rules = _ROOM, list[HouseRule]()
    for place, path in enumerate(waiting):
        share = min(room, max(_LEAST, room // (len(waiting) - place)))
        if path.endswith("/"):
            rule = _news_fragments(listing, folder)
        elif tells_of_changes(path):
            rule = newest_entries(path, listing.text(path), min(share, _MOST_CHANGELOG))
        else:
            rule = _shorten_guide(path, _HTML_COMMENT.sub("", listing.text(path)).strip(), share)
        if rule.text.strip():
            rules.append(rule)
            room -= len(rule.text)
    return tuple(rules)


def tells_of_changes(path: str) -> bool:
    """Return whether a file is a changelog, by its name: also `CHANGELOG-2.md`."""
    name = basename(path).casefold()
    whole = name if name in _CHANGELOGS else name.rpartition(".")[0]
    return whole in _CHANGELOGS or _PART_OF_CHANGELOG.fullmatch(name) is not None


def newest_entries(path: str, text: str, room: int) -> HouseRule:
    """Return the newest section of a changelog, and what follows it, as far as it fits into `room`,
    at least to its first entry; with the few lines above it.
    """
    lines = text.rstrip().split("\n")
    start = _find_newest_section(lines)
    fitting = sum(size <= room for size in accumulate(len(line) + 1 for line in lines[start:]))
    entry = next((n for n, line in enumerate(lines) if n >= start and _ENTRY.match(line)), start)
    above = len("\n".join(lines[:start]))
    spans = ((1 if above <= _MARK else start + 1, max(start + fitting, entry + 1)),)
    if spans == ((1, len(lines)),):
        return HouseRule(path=path, text=f"{text.rstrip()}\n")
    head = "\n".join(lines[start : start + _HEAD])
    released = _RELEASED.search(head) and not _UNRELEASED.search(head)
    part = "newest entries" + ("; the top section is a release" if released else "")
    text = written(lines, spans)
    return HouseRule(path=path, text=text, part=part, is_released=bool(released))


def _find_headings(lines: Sequence[str]) -> Iterator[int]:
    """Yield the places of headings."""
    for number, (line, after) in enumerate(zip_longest(lines, lines[1:], fillvalue="")):
        if _HEADING.match(line) or (line.strip() and _UNDERLINE.fullmatch(after)):
            yield number


def _find_newest_section(lines: Sequence[str]) -> int:
    """Return where the section begins: the first heading that names a version, else the second,
    since the first is usually the title.
    """
    headings = [*_find_headings(lines)]
    entry = next((n for n, line in enumerate(lines) if _ENTRY.match(line)), len(lines))
    tops = [number for number in headings if number < entry] or [0]
    return next((n for n in headings if _VERSION.search(lines[n])), tops[:2][-1])


def _shorten_guide(path: str, text: str, room: int) -> HouseRule:
    """Return a file whole, or as many of its first lines as fit: of a guide for people only the
    paragraphs with rules for a change.
    """
    if basename(path).casefold().startswith(_FOR_PEOPLE):
        return HouseRule(path=path, text=_find_rules(text), part="rules for changes")
    if len(text) <= room:
        return HouseRule(path=path, text=f"{text}\n")
    whole_lines = text[:room].rpartition("\n")[0]
    return HouseRule(path=path, text=f"{whole_lines}\n", part="the beginning")


def _find_rules(guide: str) -> str:
    """Return the paragraphs that say most of what a change has to look like, in their order: more
    of it than of how something is run.
    """
    text = _CODE_BLOCK.sub("", _RELEASING.sub("", guide))
    parts = _BETWEEN_PARAGRAPHS.split(text)
    whole = map(_without_lead, parts)
    paragraphs = [part for part in whole if not _NO_TEXT.fullmatch(part)]
    weights = [
        len({*_RULE_OF_GUIDE.findall(said)}) - len({*_COMMAND.findall(said)})
        for said in map(str.casefold, paragraphs)
    ]
    room, chosen = _MOST_GUIDE, list[int]()
    for place in sorted(range(len(paragraphs)), key=lambda place: -weights[place]):
        if weights[place] > 0 and len(paragraphs[place]) < room:
            chosen.append(place)
            room -= len(paragraphs[place]) + 1
    return "".join(f"{paragraphs[place]}\n" for place in sorted(chosen))


def _without_lead(paragraph: str) -> str:
    """Return a paragraph without a last sentence that only leads to what follows."""
    text = paragraph.rstrip()
    before, dot, _ = text.rpartition(".")
    return before + dot if text.endswith(":") else text


def _guides(listing: Listing) -> Iterator[str]:
    """Yield the files with rules in words, each text once, agents' instructions first."""
    known = set[str]()
    for path in _look_in_usual_places(listing, _GUIDES):
        text = listing.text(path).strip()
        pointer = _POINTER.fullmatch(text)
        # A file may be a copy of another one, or only name or include it.
        elsewhere = (pointer and listing.has(pointer[1])) or _INCLUDES.search(text[:_TOP])
        if text and text not in known and not elsewhere:
            known.add(text)
            yield path


def _look_in_usual_places(listing: Listing, stems: tuple[str, ...]) -> Iterator[str]:
    small = {path.casefold(): path for path in reversed(listing.files)}
    for name in (f"{at}{stem}{end}" for stem in stems for at in _FOLDERS for end in _ENDINGS):
        if name in small:
            yield small[name]


def _news_fragments(listing: Listing, folder: str) -> HouseRule:
    """Return what a repository does with news fragments: a file for each change."""
    inside = [path for path in listing.below(folder) if _FRAGMENT.search(path)]
    lines = [f"Each change adds a file to {folder}/, which becomes part of the changelog."]
    if inside:
        example = listing.text(inside[-1]).strip()[:_LEAST]
        lines += [
            f"Some that are there: {', '.join(inside[-_EXAMPLES:])}.",
            f"{inside[-1]}:\n{example}",
        ]
    return HouseRule(path=f"{folder}/", text="\n".join(lines) + "\n", part="news fragments")


def _fragment_folder(listing: Listing) -> str:
    """Return the folder of news fragments, by its usual name."""
    named = (
        folder
        for folder in _FRAGMENTS
        if any(
            _FRAGMENT.search(path)
            for path in listing.below(folder)
            if path.count("/") == folder.count("/") + 1
        )
    )
    return next(named, "")
