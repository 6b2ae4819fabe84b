"""Name a change: its conventional type and its title.

Source: https://www.conventionalcommits.org/en/v1.0.0/. The design states both in its own title,
`# fix: return an empty string`. Where it does not, the request does: by the beginning of its title,
the type of its issue, or its labels. No list of words of a language is asked.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from forge_bot.artifacts.markdown import read_blocks, split_lines
from forge_bot.text_format import one_line
from forge_bot.values import Frozen


class ChangeType(StrEnum):
    """The types that a change can have."""

    FIX = "fix"
    FEAT = "feat"
    DOCS = "docs"
    REFACTOR = "refactor"
    PERF = "perf"
    TEST = "test"
    BUILD = "build"
    CI = "ci"
    CHORE = "chore"
    REVERT = "revert"


_SYNONYMS = {
    **{kind.value: kind for kind in ChangeType},
    **dict.fromkeys(("bug", "bugfix", "regression"), ChangeType.FIX),
    **dict.fromkeys(("feature", "feature request", "enhancement"), ChangeType.FEAT),
    "documentation": ChangeType.DOCS,
    "tests": ChangeType.TEST,
    "dependencies": ChangeType.BUILD,
}
"""Types by the names that they have in titles, labels and types of issues."""

_CONVENTIONAL = re.compile(
    r"(?P<type>[a-z]+)(?P<scope>\([^()\n]{1,40}\))?(?P<breaking>!)?\s?[:：]\s*(?P<title>\S.*)",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(r"design\s*[:：–—-]\s*", re.IGNORECASE)
_LABEL = re.compile(r"(?:type|kind|category|t)\s*[:/=_-]\s*(?P<name>.+)", re.IGNORECASE)
_UNTITLED = "do what was asked"
_FEWEST_SUBJECTS = 10
_SHARE_WITH_TYPE = 0.2


class ChangeName(Frozen):
    """The type and the title of a change."""

    type: ChangeType
    title: str
    scope: str = ""
    breaking: bool = False

    @property
    def subject(self) -> str:
        """The first line of a commit message, and the title of a pull request."""
        scope = f"({self.scope})" if self.scope else ""
        return f"{self.type.value}{scope}{'!' if self.breaking else ''}: {self.title}"

    @property
    def sentence(self) -> str:
        """The same where a repository's commits begin with no type."""
        return self.title[:1].upper() + self.title[1:]


def begin_with_types(subjects: Sequence[str]) -> bool:
    """Return whether the commits of a repository begin with a type, by the first lines of their
    messages. The answer is yes for a repository with too few commits.
    """
    typed = sum(_conventional(subject) is not None for subject in subjects)
    return len(subjects) < _FEWEST_SUBJECTS or typed >= _SHARE_WITH_TYPE * len(subjects)


def read_change_name(design: str) -> ChangeName | None:
    """Return the name that a document states in its first heading of level 1.

    Accepted are `# fix: title`, `# fix(scope)!: title` and `# Design: fix: title`. Code in the
    title keeps its backticks. Return None if the heading states no known type.
    """
    heading = next(
        (block for block in read_blocks(design) if block.is_heading and block.level == 1),
        None,
    )
    if heading is None:
        return None
    written = split_lines(design)[heading.line]
    words = one_line(written).lstrip("#").rstrip("# ").strip()
    return _conventional(_DOCUMENT.sub("", words, count=1) if _DOCUMENT.match(words) else words)


def change_name(
    design: str, *, title: str, labels: Sequence[str] = (), issue_type: str = ""
) -> ChangeName:
    """Return the name of a change, from its design or else from its request.

    The order is the design's title, the beginning of the request's title (`fix: …`), the type of
    the issue, the labels. A request that states nothing is a `chore`: that promises neither a
    feature nor a fix.
    """
    if (stated := read_change_name(design)) is not None:
        return stated
    kinds = (kind for name in (issue_type, *labels) if (kind := named_type(name)) is not None)
    return renamed(ChangeName(type=next(kinds, ChangeType.CHORE), title=_UNTITLED), title)


def renamed(change: ChangeName, title: str) -> ChangeName:
    """Return the name of a change of the same type with another title, which may state a type."""
    words = one_line(title)
    plain = ChangeName(type=change.type, title=_make_title(words) or _UNTITLED)
    return _conventional(words) or plain


def _conventional(words: str) -> ChangeName | None:
    match = _CONVENTIONAL.fullmatch(words.lstrip("*_` "))
    kind = _SYNONYMS.get(match["type"].lower()) if match is not None else None
    if match is None or kind is None:
        return None
    return ChangeName(
        type=kind,
        title=_make_title(match["title"]),
        scope=(match["scope"] or "").strip("()").strip(),
        breaking=match["breaking"] is not None,
    )


def named_type(name: str) -> ChangeType | None:
    """Return the type that a label or the type of an issue names, as `bug` or `kind/bug`."""
    plain = one_line(re.sub(r"[^\w\s:/=().-]", " ", name)).lower()
    prefixed = _LABEL.fullmatch(plain)
    return _SYNONYMS.get(prefixed["name"].strip() if prefixed is not None else plain)


def _make_title(words: str) -> str:
    """Return the words as a title: no full stop, and no capital at the beginning of a sentence.

    An acronym, a name in capitals and code keep theirs.
    """
    plain = words.strip().rstrip(".。").strip() or words.strip()
    first = plain.split(maxsplit=1)[0] if plain else ""
    ordinary = first[1:].islower() and first.isalpha()
    return plain[:1].lower() + plain[1:] if ordinary else plain
