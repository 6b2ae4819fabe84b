"""The rules of a repository for changes: the files that have them, and the parts of these files
that matter for a change of code.
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from forge_bot.knowledge.changelogs import (
    CHANGELOGS,
    NEWEST,
    fragment_folder,
    newest_of_changelog,
    news_fragments,
    tells_of_changes,
)
from forge_bot.knowledge.linter_settings import linter_settings
from forge_bot.knowledge.text_sections import HouseRule, Span, length_of, sections_of, with_gaps
from forge_bot.project.file_list import Listing

_ROOM = 3_200
"""Characters of all rules together; every prompt of a run shows them."""

_LEAST = 600
_LEAST_LINES = 4
"""Lines of a section that is shown in part."""
_DEEPEST = 2
_MOST_READ = 100_000
_GAP = 120
"""Characters for the line that reports omitted text."""
_FOLDERS = ("", ".github/", "docs/", ".gitlab/", "doc/")
_ENDINGS = (".md", ".rst", ".txt", ".adoc", "")
_KINDS = (
    ("agents", "claude", "gemini", ".cursorrules", "copilot-instructions"),
    ("contributing", "hacking", "development", "styleguide", "style"),
    ("pull_request_template", "merge_request_templates/default"),
)
_TEMPLATES = ("pull_request_template", "default")
_CODE = re.compile(
    r"`[^`\n]+`|^[^\S\n]{4,}\S|^[^\S\n]*(?:```|~~~|\$ |\.\. code)|^[^\S\n]*- \[[ xX]\]",
    re.MULTILINE,
)
_ABOUT = re.compile(
    r"test|lint|style|format|convention|commit|change|news|doc|typ|pull request|rule|code\b",
    re.IGNORECASE,
)
_HTML_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_COMMENT_SIGN = re.compile(r"<!--\n*|\n*-->")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(https?://[^)\s]+\)")
_POINTER = re.compile(r"@?([\w./-]+\.(?:md|rst|txt|adoc))")


def house_rules(listing: Listing) -> tuple[HouseRule, ...]:
    """Return the rules for changes within a fixed length; the same files give the same rules."""
    waiting = [*_paths(listing)]
    weights = [_weight(path) for path in waiting]
    room, found = _ROOM, list[HouseRule]()
    for place, path in enumerate(waiting):
        share = min(room, max(_LEAST, room * weights[place] // sum(weights[place:])))
        made = newest_of_changelog if tells_of_changes(path) else _text
        rule = news_fragments(listing) if path.endswith("/") else made(listing, path, share)
        # Newest entries that are shown whole may exceed the room: an implementer is not shown them
        # again.
        if (
            rule is not None
            and rule.text.strip()
            and (len(rule.text) <= room or rule.part == NEWEST)
        ):
            found.append(rule)
            room -= len(rule.text)
    for settings in linter_settings(listing):
        part = "" if settings.whole else "for linters, and versions"
        found.append(HouseRule(path=settings.path, text=settings.text, part=part))
    return tuple(found)


def _weight(path: str) -> int:
    """Return the share of the room that a file gets. Files for agents get most."""
    name = basename(path).casefold()
    named = (place for place, names in enumerate(_KINDS) if name.startswith(names))
    return max(1, 3 - next(named, len(_KINDS)))


def _paths(listing: Listing) -> Iterator[str]:
    """Yield the files with rules, each text once, agents' instructions first."""
    small = {
        path.casefold(): path for path in reversed(listing.files) if path.count("/") <= _DEEPEST
    }
    seen = set[str]()
    for stems in _KINDS:
        for folder in _FOLDERS:
            for name in stems:
                for ending in _ENDINGS:
                    path = small.get(f"{folder}{name}{ending}")
                    if path is not None and _is_new(listing, path, seen):
                        yield path
    folder = fragment_folder(listing)
    named = (f"{at}{name}{ending}" for at in _FOLDERS for name in CHANGELOGS for ending in _ENDINGS)
    changelog = next((small[name] for name in named if name in small), "")
    yield from filter(None, (f"{folder}/" if folder else changelog, small.get(".editorconfig", "")))


def _is_new(listing: Listing, path: str, seen: set[str]) -> bool:
    """Return whether a file says something that no earlier one says: it may be a link to one, or
    only name it.
    """
    text = listing.text(path).strip()
    pointer = _POINTER.fullmatch(text)
    if not text or text in seen or (pointer is not None and listing.has(pointer[1])):
        return False
    seen.add(text)
    return True


def _text(listing: Listing, path: str, room: int) -> HouseRule | None:
    """Return a file whole, or its sections with the most commands, paths and words on changes."""
    whole = listing.text(path).strip()[:_MOST_READ]
    told = _HTML_COMMENT.sub("", whole)
    if not told.strip() and basename(path).casefold().startswith(_TEMPLATES):
        # Who opens a pull request reads the comments of its template.
        told = _COMMENT_SIGN.sub("", whole).strip()
    text = _LINK.sub(r"\1", told)
    lines = text.split("\n")
    if length_of(lines) <= room:
        return HouseRule(path=path, text="\n".join(lines) + "\n")
    parts = [*sections_of(lines)]
    chosen: list[Span] = []
    for first, last in sorted(parts, key=lambda span: (-_worth(lines[slice(*span)]), span)):
        left = room - _GAP - len(with_gaps(lines, sorted(chosen)))
        end = first
        while end < last and (left := left - len(lines[end]) - 1) >= 0:
            end += 1
        if end == last or end >= first + _LEAST_LINES:
            chosen.append((first, end))
    return HouseRule(path=path, text=with_gaps(lines, sorted(chosen)), part="parts")


def _worth(section: Sequence[str]) -> float:
    """Return how much a section says to somebody who changes code."""
    text = "\n".join(section)
    return (
        len(_CODE.findall(text)) + len(_ABOUT.findall(text)) + 4 * len(_ABOUT.findall(section[0]))
    ) / (5 + len(section))
