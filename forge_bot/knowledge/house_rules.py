"""The rules of a repository for changes: the files that have them, and the parts of these files
that matter for a change of code.
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from forge_bot.knowledge.changelogs import (
    CHANGELOGS,
    HouseRule,
    fragment_folder,
    newest_entries,
    news_fragments,
    sections_of,
    tells_of_changes,
)
from forge_bot.knowledge.excerpts import Span, size_of, written
from forge_bot.project.file_list import Listing
from forge_bot.text_format import cut

_ROOM = 3_200
"""Characters of all rules together; every prompt of a run shows them."""

_LEAST = 600
_MOST_READ = 100_000
_MOST_CHANGELOG = 1_200
_MOST_SETTINGS = 900
_FOLDERS = ("", ".github/", "docs/", ".gitlab/", "doc/")
_ENDINGS = (".md", ".rst", ".txt", ".adoc", "")
_KINDS = (
    ("agents", "claude", "gemini", ".cursorrules", "copilot-instructions"),
    ("contributing", "hacking", "development", "styleguide", "style"),
    ("pull_request_template", "merge_request_templates/default"),
)
_ABOUT = re.compile(
    r"`[^`\n]+`|^[^\S\n]{4,}\S|^[^\S\n]*(?:```|~~~|\$ |\.\. code)|^[^\S\n]*- \[[ xX]\]"
    r"|test|lint|style|format|convention|commit|change|news|doc|typ|pull request|rule|code\b",
    re.MULTILINE | re.IGNORECASE,
)
_HTML_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_COMMENT_SIGN = re.compile(r"<!--\n*|\n*-->")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(https?://[^)\s]+\)")
_POINTER = re.compile(r"@?([\w./-]+\.(?:md|rst|txt|adoc))")
_SETTINGS = {
    "pyproject.toml": re.compile(r"\[tool\.(?:ruff|black|isort|flake8)\b"),
    "setup.cfg": re.compile(r"\[(?:flake8|isort|pycodestyle)\b"),
    "tox.ini": re.compile(r"\[(?:flake8|pycodestyle)\b"),
    **dict.fromkeys(
        ("ruff.toml", ".ruff.toml", ".flake8", ".prettierrc", "biome.json", "rustfmt.toml")
    ),
}
"""Files with settings of linters and formatters; of those for several tools, with the headings of
the sections that a linter or formatter reads."""


def house_rules(listing: Listing) -> tuple[HouseRule, ...]:
    """Return the rules for changes within a fixed length; the same files give the same rules."""
    waiting = [*_paths(listing)]
    room, rules = _ROOM, list[HouseRule]()
    for place, path in enumerate(waiting):
        share = min(room, max(_LEAST, room * 2 // (len(waiting) - place + 1)))
        if path.endswith("/"):
            rule = news_fragments(listing)
        elif tells_of_changes(path):
            rule = newest_entries(path, listing.text(path), min(share, _MOST_CHANGELOG))
        else:
            rule = _text(listing, path, share)
        if rule is not None and rule.text.strip():
            rules.append(rule)
            room -= len(rule.text)
    return (*rules, *_linter_settings(listing))


def _paths(listing: Listing) -> Iterator[str]:
    """Yield the files with rules, each text once, agents' instructions first."""
    small = {path.casefold(): path for path in reversed(listing.files)}
    known = set[str]()
    for stems in _KINDS:
        for name in (f"{at}{stem}{end}" for at in _FOLDERS for stem in stems for end in _ENDINGS):
            text = listing.text(small[name]).strip() if name in small else ""
            pointer = _POINTER.fullmatch(text)
            # A file may be a copy of another one, or only name it.
            if text and text not in known and not (pointer and listing.has(pointer[1])):
                known.add(text)
                yield small[name]
    folder = fragment_folder(listing)
    logs = (f"{at}{name}{end}" for at in _FOLDERS for name in CHANGELOGS for end in _ENDINGS)
    changelog = next((small[name] for name in logs if name in small), "")
    yield from filter(None, (f"{folder}/" if folder else changelog, small.get(".editorconfig", "")))


def _text(listing: Listing, path: str, room: int) -> HouseRule:
    """Return a file whole, or its sections with the most commands, paths and words on changes."""
    whole = listing.text(path).strip()[:_MOST_READ]
    shown = _HTML_COMMENT.sub("", whole)
    if not shown.strip() and basename(path).casefold().startswith(("pull_request", "default")):
        # Who opens a pull request reads the comments of its template.
        shown = _COMMENT_SIGN.sub("", whole).strip()
    lines = _LINK.sub(r"\1", shown).split("\n")
    if sum(len(line) + 1 for line in lines) <= room:
        return HouseRule(path=path, text="\n".join(lines) + "\n")
    chosen: list[Span] = []
    parts = [span for _, span in sections_of(lines)]
    for first, last in sorted(parts, key=lambda span: (-_worth(lines, span), span)):
        ends = range(last, min(last, first + 3) - 1, -1)
        fitting = (sorted((*chosen, (first, end))) for end in ends)
        chosen = next((spans for spans in fitting if size_of(lines, spans) <= room), chosen)
    return HouseRule(path=path, text=written(lines, chosen), part="parts")


def _worth(lines: Sequence[str], section: Span) -> float:
    """Return how much a section says to somebody who changes code."""
    first, last = section
    text = "\n".join(lines[first - 1 : last])
    heading = _ABOUT.findall(lines[first - 1])
    return (len(_ABOUT.findall(text)) + 4 * len(heading)) / (6 + last - first)


def _linter_settings(listing: Listing) -> Iterator[HouseRule]:
    """Yield the settings of linters and formatters, a project's version, and its Python's."""
    room = _MOST_SETTINGS
    for path, headings in _SETTINGS.items():
        text = listing.text(path)[:_MOST_READ]
        lines = [line for line in text.split("\n") if line.strip()]
        own = "\n".join(_of_linters(lines, headings) if headings else lines)
        if own and room > 0:
            shown = cut(own, room)
            room -= len(shown)
            part = "" if shown == own and not headings else "for linters, and versions"
            yield HouseRule(path=path, text=f"{shown}\n", part=part)


def _of_linters(lines: Sequence[str], headings: re.Pattern[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line.startswith("["):
            inside = headings.match(line) is not None
        is_version = line.startswith(("requires-python", "version ="))
        if is_version or (inside and not line.lstrip().startswith(("#", ";"))):
            yield line
