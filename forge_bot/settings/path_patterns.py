"""Patterns of paths in settings: `**` is any folders, `*` and `?` are characters other than a
slash, and a folder covers its whole content.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from forge_bot.artifacts.waves import fold_path, normal_path

_PIECES = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+|.")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def checked_pattern(text: str) -> str:
    """Return a pattern. Raises ValueError for one that names paths outside of the repository."""
    if not normal_path(text) or normal_path(text).startswith("../"):
        raise ValueError("a pattern names paths inside the repository, such as db/migrations/**")
    return text


def matches_path(path: str, patterns: Sequence[str]) -> bool:
    """Return whether one of the patterns fits a path, or a folder that it lies in."""
    return any(_expression_of(fold_path(pattern)).fullmatch(fold_path(path)) for pattern in patterns)


@lru_cache(maxsize=256)
def _expression_of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern_expression(pattern) + "(?:/.*)?", re.DOTALL)


def pattern_expression(pattern: str) -> str:
    """Return a pattern as a regular expression for the whole path, without what lies below it."""
    parts: list[str] = _PIECES.findall(pattern)
    return "".join(_MEANINGS.get(piece) or re.escape(piece) for piece in parts)
