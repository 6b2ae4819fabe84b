"""How much process a request deserves, and what kind of branch it gets: guesses that say what decided them."""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from forge_bot.engine.effort_words import (
    CHORE,
    DOCS,
    FEATURE,
    FIX,
    LARGE,
    LARGE_NOUNS,
    NEGATED_AFTER,
    NEGATED_BEFORE,
    REFACTOR,
    SETTINGS,
    SMALL,
)
from forge_bot.errors import BadOption
from forge_bot.values import Effort, Frozen

BranchType = Literal["feature", "fix", "docs", "refactor", "chore"]

# A small word deep in a long text says nothing about the whole: it counts in the title, or when the text is short.
_SHORT_TEXT = 500

_LABEL = re.compile(
    r"(?P<key>forge|effort|size|estimate|estimation|t-?shirt|complexity)\s*(?:[:/=_-]|\s)\s*(?P<size>[a-z-]+)", re.IGNORECASE
)
_SIZES = {
    **dict.fromkeys(("xxs", "xs", "s", "small", "tiny", "extra-small"), Effort.S),
    **dict.fromkeys(("m", "medium", "mid"), Effort.M),
    **dict.fromkeys(("l", "large", "big", "xl", "xxl", "xxxl", "extra-large", "huge"), Effort.L),
}
_ORDER = [Effort.S, Effort.M, Effort.L]
_MOST_POINTS = ((4, Effort.S), (12, Effort.M))

# What is quoted, or names a place, is not what the request is about. Each part is bounded so that it takes linear time.
_ENDINGS = "md|rst|txt|py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|java|kt|cs|php|c|h|cpp|sh|sql|css|html|ya?ml|json|toml|ini|cfg|lock"
_ASIDE = re.compile(
    r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|`[^`\n]*`|<!--.*?(?:-->|\Z)|^[ ]{0,3}>[^\n]*|https?://\S+"
    r"|(?<![\w./\\@~-])[A-Za-z0-9_.@~-]*(?:[/\\][A-Za-z0-9_.@-]+)+"
    rf"|(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]+\.(?:{_ENDINGS})(?![A-Za-z0-9_])",
    re.DOTALL | re.MULTILINE,
)
_COMMIT = re.compile(r"(?P<type>[a-z]+)(?:\([^)]*\))?!?[:：]\s")
_COMMIT_TYPES: dict[str, BranchType] = {
    **dict.fromkeys(("feat", "feature"), "feature"),
    **dict.fromkeys(("fix", "bugfix", "hotfix", "bug"), "fix"),
    **dict.fromkeys(("doc", "docs"), "docs"),
    **dict.fromkeys(("refactor", "refactoring"), "refactor"),
    **dict.fromkeys(("chore", "build", "ci", "deps", "test", "tests", "style"), "chore"),
}


class EffortGuess(Frozen):
    """A guess, and in a few words what it rests on."""

    effort: Effort
    reason: str


def guess_effort(*, flag: str | None, labels: Sequence[str], story_points: float | None, text: str) -> EffortGuess:
    """The first that says something decides: the flag, a label, story points (up to 4 S, up to 12 M), words, else M.

    Raises BadOption if the flag is none of S, M, L in either case. Labels are such as `forge:S`, `effort: M`, `size/XL`; one
    that begins with `forge` goes before the others, and of two the larger counts. Story points of 0 or less say nothing.
    """
    if flag is not None:
        return EffortGuess(effort=_flag(flag), reason="the effort that was asked for")
    if (label := _label(labels)) is not None:
        return label
    if story_points is not None and math.isfinite(story_points) and story_points > 0:
        effort = next((size for most, size in _MOST_POINTS if story_points <= most), Effort.L)
        return EffortGuess(effort=effort, reason=f"{story_points:g} story {'point' if story_points == 1 else 'points'}")
    return _words(text) or EffortGuess(effort=Effort.M, reason="nothing in the request says that it is small or large")


def branch_type(text: str) -> BranchType:
    """The kind of change a request asks for: its title (the first line) decides, and only if that is silent the rest.

    A title can begin like a commit message, `docs: …` (https://www.conventionalcommits.org); otherwise words decide, in the
    order fix, refactor, docs, chore. A title that begins by adding something is a feature, unless it adds a fix or documents.
    """
    title, _, rest = text.strip().partition("\n")
    commit = _COMMIT.match(title.lower())
    if commit is not None and commit["type"] in _COMMIT_TYPES:
        return _COMMIT_TYPES[commit["type"]]
    title, rest = _readable(title), _readable(rest)
    if (verb := FEATURE.match(title)) is not None:
        return "docs" if DOCS.search(title, verb.end()) else "fix" if _adds_a_fix(title[verb.end() :]) else "feature"
    # The body speaks of many things: a bug report that mentions a docstring is no work on documentation.
    return _kind(title) or _weak_kind(title) or ("fix" if _kind(rest) == "fix" else "feature")


def _flag(flag: str) -> Effort:
    try:
        return Effort(flag.strip().upper())
    except ValueError:
        raise BadOption(f"Effort “{flag}” does not exist; it is one of {', '.join(Effort)}.") from None


def _label(labels: Sequence[str]) -> EffortGuess | None:
    found: list[tuple[bool, int, str]] = []
    for label in labels:
        match = _LABEL.fullmatch(unicodedata.normalize("NFKC", label).strip())
        size = _SIZES.get(match["size"].lower()) if match is not None else None
        if match is not None and size is not None:
            found.append((match["key"].lower() == "forge", _ORDER.index(size), label.strip()))
    if not found:
        return None
    _, rank, label = max(found)
    return EffortGuess(effort=_ORDER[rank], reason=f"the label “{label}”")


def _words(text: str) -> EffortGuess | None:
    whole = _readable(text)
    near = whole if len(whole) <= _SHORT_TEXT else _readable(text.strip().partition("\n")[0])
    for effort, words, where in ((Effort.L, LARGE, whole), (Effort.L, LARGE_NOUNS, near), (Effort.S, SMALL, near)):
        hit = next(_meant(words, where), None)
        if hit is not None:
            return EffortGuess(effort=effort, reason=f"the {'words' if ' ' in hit else 'word'} “{hit}” in the request")
    return None


def _meant(words: re.Pattern[str], text: str) -> Iterator[str]:
    """The hits that are not denied: “no migration is needed” asks for none, and neither does 移行は不要."""
    for hit in words.finditer(text):
        if not NEGATED_BEFORE.search(text[max(0, hit.start() - 40) : hit.start()]) and not NEGATED_AFTER.match(text, hit.end()):
            yield hit[0]


def _readable(text: str) -> str:
    return " ".join(_ASIDE.sub(" ", unicodedata.normalize("NFKC", text)).split())


def _kind(text: str) -> BranchType | None:
    kinds: tuple[tuple[BranchType, re.Pattern[str]], ...] = (
        ("fix", FIX),
        ("refactor", REFACTOR),
        ("docs", DOCS),
        ("chore", CHORE),
    )
    for kind, words in kinds:
        if words.search(text):
            return kind
    return None


def _weak_kind(title: str) -> BranchType | None:
    return "feature" if FEATURE.search(title) else "chore" if SETTINGS.search(title) else None


def _adds_a_fix(rest: str) -> bool:
    return re.match(r"\s*(?:a |an |the )?(?:\w+ )?(?:hot|bug)?fix(?:es)?\b", rest, re.IGNORECASE) is not None
