"""Split text into search words."""

import re
import unicodedata
from functools import lru_cache

_RUN = re.compile(r"[^\W_]+")
# Han, kana, Hangul and their extensions: scripts whose words are not (reliably) separated by
# blanks.
_CJK = re.compile(
    r"([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORTEST_PLURAL = 4
_ODD_PLURALS = {
    "alias": "alias",
    "aliases": "alias",
    "caches": "cache",
    "indices": "index",
    "series": "series",
    "statuses": "status",
}

_FUNCTION_WORDS = """
    a about above after again all also although always am an and any are aren as at be because been
    before being below between both but by can cannot could couldn did didn do does doesn doing don
    done down during each either else etc every few for from further get gets got had hadn has hasn
    have haven having he her here hers him his how however i if in instead into is isn it its itself
    just let ll may me might more most must my need needs neither no nor not now of off on once one
    only or other our ours out over own per please rather re same shall she should shouldn so some
    such than that the their them then there these they this those through thus to too under until
    up upon us use used uses using ve very via was wasn we were weren what when where whether which
    while who whom why will with within without won would wouldn yet you your
"""
# Nearly every request has one of these words; none states its subject.
_REQUEST_WORDS = """
    add added adding change changed changes changing fix fixed fixes fixing implement implemented
    make makes making update updated updates issue issues task tasks want wants
"""
STOP_WORDS = frozenset((_FUNCTION_WORDS + _REQUEST_WORDS).split())


def words(text: str) -> list[str]:
    """Return the search words in their order.

    Identifiers and paths are split, plurals reduced, CJK text becomes bigrams, and stop words are
    left out.
    """
    if text.isascii():
        return [word for run in _RUN.findall(text) for word in _latin(run)]
    parts: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        parts += _latin(run) if run.isascii() else _split_mixed(run)
    return parts


def _split_mixed(run: str) -> list[str]:
    parts = (_bigrams(part) if _CJK.match(part) else _latin(part) for part in _CJK.split(run))
    return [word for part in parts for word in part]


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


@lru_cache(maxsize=50_000)
def _latin(run: str) -> tuple[str, ...]:
    lowered = (part.casefold() for part in _HUMP.split(run))
    return tuple(singular(word) for word in lowered if len(word) > 1 and word not in STOP_WORDS)


def singular(word: str) -> str:
    """Return the singular of a plural by its ending alone (after Harman's S-stemmer, 1991).

    Other words stay as they are.
    """
    if word in _ODD_PLURALS:
        return _ODD_PLURALS[word]
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zzes")) else word[:-1]
