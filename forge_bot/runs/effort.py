"""Guess the effort of a request, with the reason that decided it."""

import math
import re
import unicodedata
from collections.abc import Sequence

from forge_bot.errors import BadOption
from forge_bot.values import Effort, Frozen

_LABEL = re.compile(
    r"(?:forge|effort|size|estimate|t-?shirt|complexity)\s*(?:[:/=_-]|\s)\s*(?P<size>[a-z-]+)",
    re.IGNORECASE,
)
_SIZES = {
    **dict.fromkeys(("xs", "s", "small"), Effort.S),
    **dict.fromkeys(("m", "medium"), Effort.M),
    **dict.fromkeys(("l", "large", "xl", "xxl"), Effort.L),
}
_TYPES = {"epic": Effort.L, "initiative": Effort.L, "sub-task": Effort.S, "subtask": Effort.S}
"""Issue types that imply a size. A bug or a task may have any size."""

_MOST_S, _MOST_M = 4, 12
"""Story points of the two smaller efforts."""

_ORDER = [Effort.S, Effort.M, Effort.L]
# The limits of the signs of scope, tuned to the hand labels in tests/fixtures/effort_requests.yaml.
LARGE_ITEMS = 7
LARGE_FILES = 6
LARGE_WORDS = 350
SMALL_ITEMS = 1
SMALL_FILES = 2
SMALL_WORDS = 40

_ENDINGS = (
    "md|rst|txt|py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|java|kt|cs|php|c|h|cpp|sh|sql|css|html|po"
    "|ya?ml|json|toml|ini|cfg|lock"
)
# Each alternative is bounded, so that a hostile text takes linear time.
_FENCED = re.compile(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TICKED = re.compile(r"^[ \t]{0,6}[-*+][ \t]+\[[xX]\][ \t].*$", re.MULTILINE)
"""What is done, or what an issue form has people agree to."""
_UNANSWERED = re.compile(r"^#{1,6}[ \t].*\n\s*_No response_[ \t]*$", re.MULTILINE)
"""A field of an issue form that nobody filled in, as GitHub writes it."""
_URL = re.compile(r"https?://\S+")
_PATH = re.compile(
    r"(?<![\w./\\@~-])[A-Za-z0-9_.@~-]*(?:[/\\][A-Za-z0-9_.@-]+)+"
    rf"|(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]+\.(?:{_ENDINGS})(?![A-Za-z0-9_])"
)
_CODE = re.compile(r"`[^`\n]+`|(?<!\w)--[a-z][\w-]*")
_ITEM = re.compile(r"^[ \t]{0,6}(?:[-*+]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|^[^\S\n]+at [\w$.<>]+ ?\(|^panic: |^thread '.*'"
    r" panicked|^[^\S\n]*File \".+\", line \d+",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d_]+")
# Chinese and Japanese put no blanks between words; two of their characters count as one word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


class EffortGuess(Frozen):
    """A guess and a short reason for it."""

    effort: Effort
    reason: str


class Scope(Frozen):
    """Signs of the size of a request that do not depend on its language."""

    words: int
    items: int
    files: int
    places: int
    traceback: bool


def guess_effort(
    *,
    flag: str | None,
    labels: Sequence[str],
    story_points: float | None,
    text: str,
    issue_type: str = "",
    mark: str = "forge",
) -> EffortGuess:
    """Guess the effort from the first source that gives one: flag, label, issue type, story points,
    signs of scope.

    Labels look like `forge:S`, `effort: M`, `size/XL`. A label that begins with `mark` takes
    precedence; of two labels the larger counts. Story points up to 4 mean
    S, up to 12 M; 0 or less are ignored. Raises BadOption if the flag is none of S, M, L.
    """
    if flag is not None:
        return EffortGuess(effort=_flag(flag), reason="the effort that was asked for")
    if (label := _label(labels, mark)) is not None:
        return label
    if (size := _TYPES.get(issue_type.strip().lower())) is not None:
        return EffortGuess(effort=size, reason=f"the issue type “{issue_type.strip()}”")
    if story_points is not None and math.isfinite(story_points) and story_points > 0:
        effort = Effort.S if story_points <= _MOST_S else Effort.M
        effort = effort if story_points <= _MOST_M else Effort.L
        return EffortGuess(effort=effort, reason=f"story points: {story_points:g}")
    return _by_scope(read_scope(text))


def read_scope(text: str) -> Scope:
    """Count the signs of scope in a request.

    They are words of prose, list items, named files and other places, and a traceback. Ticked boxes
    and empty fields of an issue form ask for nothing.
    """
    text = unicodedata.normalize("NFKC", text).replace("\r\n", "\n")
    outside = _COMMENT.sub(" ", _FENCED.sub("\n", text))
    outside = _URL.sub(" ", _UNANSWERED.sub("", _TICKED.sub("", outside)))
    files = {path.strip("`") for path in _PATH.findall(outside)}
    unspaced = len(_UNSPACED.findall(outside))
    return Scope(
        words=len(_WORD.findall(_UNSPACED.sub(" ", outside))) + unspaced // 2,
        items=len(_ITEM.findall(outside)),
        files=len(files),
        places=len(files | set(_CODE.findall(outside))),
        traceback=_TRACEBACK.search(text) is not None,
    )


def _by_scope(scope: Scope) -> EffortGuess:
    signs = (
        (scope.items, LARGE_ITEMS, f"a list of {scope.items:,} items"),
        (scope.files, LARGE_FILES, f"{scope.files:,} files named"),
        (scope.words, LARGE_WORDS, f"a long request of about {scope.words:,} words"),
    )
    if large := next((reason for count, least, reason in signs if count >= least), ""):
        return EffortGuess(effort=Effort.L, reason=large)
    short = scope.words <= SMALL_WORDS and scope.items <= SMALL_ITEMS and scope.files <= SMALL_FILES
    if short and scope.traceback:
        return EffortGuess(effort=Effort.S, reason="a short request with a traceback")
    if short and scope.places:
        return EffortGuess(effort=Effort.S, reason="a short request that names its place")
    return EffortGuess(effort=Effort.M, reason="no sign that the request is small or large")


def _label(labels: Sequence[str], mark: str) -> EffortGuess | None:
    """Return the largest of the efforts that labels name; those that begin with `mark` go first."""
    guesses: list[tuple[bool, int, str]] = []
    for label in labels:
        plain = unicodedata.normalize("NFKC", label).strip()
        own = plain.casefold().startswith(f"{mark.casefold()}:")
        match = _LABEL.fullmatch(plain)
        size = plain[len(mark) + 1 :].strip() if own else match["size"] if match else ""
        if (effort := _SIZES.get(size.lower())) is not None:
            guesses.append((own, _ORDER.index(effort), label.strip()))
    if not guesses:
        return None
    _, rank, label = max(guesses)
    return EffortGuess(effort=_ORDER[rank], reason=f"the label “{label}”")


def _flag(flag: str) -> Effort:
    try:
        return Effort(flag.strip().upper())
    except ValueError:
        raise BadOption(
            f"Effort “{flag}” does not exist; it is one of {', '.join(Effort)}."
        ) from None
