"""A repository's own template for pull requests: find it, and fill its sections.

Source:
https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from forge_bot.artifacts.change_name import ChangeType, named_type
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import clean
from forge_bot.values import Frozen

_FOLDERS = (".github", "", "docs")
"""The folders in which GitHub searches for a template, in its order."""

_NAME = "pull_request_template"
_LONGEST = 12_000
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_HEADING = re.compile(r" {0,3}(?:#{1,6}\s+(?P<title>.*?)[\s#]*|\*\*(?P<bold>[^*]+)\*\*:?)$")
_BOX = re.compile(r"(?P<start>\s*[-*+]\s+)\[ \]\s+(?P<words>.*)")
_PARTS = {
    "issue": re.compile(
        r"\b(?:issues?|tickets?|clos(?:es|ing)|fix(?:es|ed)?|references)\b", re.IGNORECASE
    ),
    "tests": re.compile(r"\b(?:test(?:s|ed|ing)?|verif\w+|how to check|qa)\b", re.IGNORECASE),
    "problem": re.compile(r"\b(?:problem|background)\b", re.IGNORECASE),
    "why": re.compile(
        r"\b(?:descri\w+|summar\w+|what|why|changes?|overview|motivation|context|purpose|about"
        r"|solution|approach|implementation)\b",
        re.IGNORECASE,
    ),
}
"""The parts of our text by the headings that ask for them; the first that fits counts."""
_KIND = re.compile(r"\b(?:types?|kind)\b", re.IGNORECASE)
_OF_TYPE = {
    ChangeType.FIX: ("bug", "fix"),
    ChangeType.FEAT: ("feat", "enhancement"),
    ChangeType.DOCS: ("doc",),
    ChangeType.REFACTOR: ("refactor",),
}


class Customs(Frozen):
    """The common traits of a repository's pull requests: its template, if it has one, and whether
    titles begin with a type.
    """

    template: str = ""
    typed: bool = True


class Filled(Frozen):
    """A template filled with the facts of a change, and the names of the parts that it used."""

    text: str = ""
    taken: frozenset[str] = frozenset()


def find_template(paths: Iterable[str], kind: ChangeType) -> str:
    """Return the path of the template that a pull request of this type begins with; empty if the
    repository has none.

    Of several in a folder `PULL_REQUEST_TEMPLATE` it is the one named for the type of the change,
    or else the only one.
    """
    known = sorted(path for path in paths if _NAME in path.lower())
    for folder in _FOLDERS:
        inside = [path for path in known if _below(path, folder).partition(".")[0] == _NAME]
        if inside:
            return inside[0]
    for folder in _FOLDERS:
        several = [path for path in known if _below(path, folder).startswith(f"{_NAME}/")]
        names = {path: _below(path, folder).partition("/")[2] for path in several}
        wanted = (*_OF_TYPE.get(kind, (kind.value,)), _NAME, "default")
        named = [path for word in wanted for path, name in names.items() if word in name]
        if named or len(several) == 1:
            return (*named, *several)[0]
    return ""


def _below(path: str, folder: str) -> str:
    """The rest of a path below a folder in small letters; empty if it is not in there."""
    start = f"{folder}/" if folder else ""
    rest = path.lower().removeprefix(start) if path.lower().startswith(start) else ""
    return rest if "/" not in rest or rest.startswith(f"{_NAME}/") else ""


def fill_template(template: str, parts: Mapping[str, str], kind: ChangeType) -> Filled:
    """Return the template with our parts below the headings that ask for them.

    Parts are `problem`, `why`, `tests` and `issue`. Comments for authors go, and so do headings
    with nothing below them. Everything else stays as it is, boxes without a tick too: only the type
    of the change is ticked. Of a template that is nothing but comments nothing is left.
    """
    if len(template) > _LONGEST or not clean(template).text.strip():
        return Filled()
    shown: list[str] = []
    taken: set[str] = set()
    sections = _sections(escape.document(template).text)
    for (title, lines), (_, below) in pairwise([*sections, ("", [])]):
        part = _asked_for(title, parts, taken)
        if part:
            taken.add(part)
            boxes = [line for line in lines[1:] if _BOX.match(line)]
            shown += [lines[0], "", parts[part], "", *boxes, ""]
        elif not title or any(map(str.strip, lines[1:])) or _depth(below) > _depth(lines):
            shown += [_ticked(line, kind) for line in lines] if _KIND.search(title) else lines
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(shown)).strip()
    return Filled(text=text, taken=frozenset(taken))


def _depth(lines: Sequence[str]) -> int:
    """Return how deep the heading of a section stands: the number of its signs; 0 without one."""
    marks = re.match(r" {0,3}(#{1,6}|\*\*)", lines[0]) if lines else None
    return 0 if marks is None else 7 if marks[1] == "**" else len(marks[1])


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the titles of the sections with their lines, the first of which is the heading. What
    stands before the first has no title.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in text.splitlines():
        fenced ^= _FENCE.match(line) is not None
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading is not None:
            found.append((heading["title"] or heading["bold"] or "", []))
        found[-1][1].append(line)
    return [(title, lines) for title, lines in found if lines]


def _asked_for(title: str, parts: Mapping[str, str], taken: set[str]) -> str:
    if not title or "checklist" in title.lower() or _KIND.search(title):
        return ""
    asked = next((name for name, words in _PARTS.items() if words.search(title)), "")
    return asked if parts.get(asked) and asked not in taken else ""


def _ticked(line: str, kind: ChangeType) -> str:
    box = _BOX.fullmatch(line)
    if box is None:
        return line
    name = re.split(r"[(:–—]| - ", box["words"])[0]
    mark = "x" if named_type(name) is kind else " "
    return f"{box['start']}[{mark}] {box['words']}"
