"""Compare remarks by sets of words to find those with the same meaning.

Words that differ by a typing error are the same word: one letter too many or too few, two letters
exchanged, in a long word one wrong letter (Damerau, 1964). Languages without blanks between words
are compared by their characters: endings and particles may differ, nouns and names may not.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from forge_bot.project.search_words import words

ALIKE = 0.75
"""The share of the longer remark that the shorter one must repeat if neither adds anything."""
ALIKE_IN_A_FILE = 0.5
"""The share of all words that two remarks on the same file must have in common."""

_PATH = re.compile(
    r"(?<![\w/.-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w(/.-]|\.\w)"
)
_CODE = re.compile(r"\b(?:\w+(?:\.\w+)*\(\)|\w+(?:\.\w+)+|\w*[a-z0-9][A-Z]\w*|\w+_\w+|\d+)|`[^`]+`")
# "missing", "lacks", "is not", "never": an absence has many wordings, and it is the point of a
# remark.
_ABSENCE = re.compile(
    r"\b(?:missing|misses|lack(?:s|ing)?|without|no|not|never|none|absent|cannot|\w+n['’]t)\b",
    re.IGNORECASE,
)
_ABSENT = "absent"
_LETTERS = re.compile(r"\b[mwcMWC][a-zA-Z]{4,7}\b")
_PLACE = re.compile(
    r"\b(?:in|inside|within|of|for|from|at|on|into|by|to|via)\s+"
    r"(?:(?:the|a|an|this|that|its|each|every|any)\s+)*(\w+)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w{4})(?:ations?|ings?|ions?|ed|es|e|s)$")
_FEWEST = 4
_ABSENCES = ("missing", "without", "cannot")
_SHORTEST_TYPED = 5
_SHORTEST_MISTYPED_LETTER = 7
MOST_MISTYPED = 2
"""The number of words of a remark that may have typing errors."""
_UNSPACED = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_NO_SIGN = re.compile(r"[\W_ー・]+")
_SPELLINGS = (
    *(
        ("無い", "ない"),
        ("無し", "なし"),
        ("無く", "なく"),
        ("出来", "でき"),
        ("下さい", "ください"),
        ("有る", "ある"),
        ("全て", "すべて"),
    ),
    *(
        ("ありません", "ない"),
        ("ていません", "ていない"),
        ("ています", "ている"),
        ("できません", "できない"),
        ("できます", "できる"),
    ),
)
_DENIES = re.compile(r"ない|なし|なく|なかった|ません|ずに|未|不足|欠|漏れ|缺|没")
_ENDINGS_DIFFER = 3
_LONG_UNSPACED = 10
_NEVER = 1_000


class Fingerprint(NamedTuple):
    """The words of a remark without endings, those that name its subject, and its files."""

    words: frozenset[str]
    names: frozenset[str]
    files: frozenset[str]
    unspaced: str = ""

    def is_same_remark(self, other: "Fingerprint") -> bool:
        """Return whether both remarks mean the same.

        A word that only one of them has may make the difference ("… in the loader", "… in the
        parser"): then only a common file shows that they mean the same place. If one contains the
        other and little more, the additional words must not name anything or reverse the meaning.
        Typing errors and endings make no difference.
        """
        if self.files or other.files:
            return (
                self._shares_a_file(other) and _shared(self.words, other.words) >= ALIKE_IN_A_FILE
            )
        if self.words == other.words or self._is_mistyped(other) or self._ends_otherwise(other):
            return True
        small, large = (self, other) if len(self.words) < len(other.words) else (other, self)
        if len(small.words) < max(_FEWEST, ALIKE * len(large.words)):
            return False
        return small.words < large.words and large.names.isdisjoint(large.words - small.words)

    def _is_mistyped(self, other: "Fingerprint") -> bool:
        """Return whether the two differ only in typing errors, none of them in a name."""
        mine, theirs = sorted(self.words - other.words), sorted(other.words - self.words)
        if not 0 < len(mine) == len(theirs) <= min(MOST_MISTYPED, len(self.words & other.words)):
            return False
        named = self.names.union(other.names)
        pairs = (mine, theirs), (mine, theirs[::-1])
        return named.isdisjoint((*mine, *theirs)) and any(
            all(map(is_typing_error, *pair)) for pair in pairs
        )

    def _ends_otherwise(self, other: "Fingerprint") -> bool:
        """Return whether the two differ only in endings and particles.

        Both must be in one language that has no blanks between words.
        """
        if not self.unspaced or not other.unspaced or _denies(self) is not _denies(other):
            return False
        latin = (frozenset(word for word in each.words if word.isascii()) for each in (self, other))
        if next(latin) != next(latin):
            return False
        longest = (
            _ENDINGS_DIFFER
            if max(len(self.unspaced), len(other.unspaced)) >= _LONG_UNSPACED
            else _ENDINGS_DIFFER - 1
        )
        return _distance(self.unspaced, other.unspaced, longest) <= longest

    def _shares_a_file(self, other: "Fingerprint") -> bool:
        return any(same_file(mine, theirs) for mine in self.files for theirs in other.files)


def fingerprint(text: str) -> Fingerprint:
    """Return the fingerprint of a remark of one line."""
    files = frozenset(files_in(text))
    rest = _LETTERS.sub(_absence_mistyped, _ABSENCE.sub(f" {_ABSENT} ", _PATH.sub(" ", text)))
    code = [found.strip("`() ").casefold() for found in _CODE.findall(rest)]
    places = (stem(word) for found in _PLACE.finditer(rest) for word in words(found[1]))
    said = frozenset(stem(word) for word in words(rest)) | frozenset(code)
    unspaced = _signs(rest) if _UNSPACED.search(rest) else ""
    return Fingerprint(
        words=said, names=said & {_ABSENT, *code, *places}, files=files, unspaced=unspaced
    )


def is_typing_error(one: str, other: str) -> bool:
    """Return whether two words differ by only one typing error.

    First letters are rarely wrong, and short words are rarely similar by accident.
    """
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if (
        len(long) < _SHORTEST_TYPED
        or len(long) - len(short) > 1
        or short[0] != long[0]
        or not (short + long).isascii()
    ):
        return False
    if not (short + long).isalpha():
        return False
    same = next(
        (place for place, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]),
        len(short),
    )
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    exchanged = (
        short[same : same + 2] == long[same : same + 2][::-1]
        and short[same + 2 :] == long[same + 2 :]
    )
    return exchanged or (
        len(short) >= _SHORTEST_MISTYPED_LETTER and short[same + 1 :] == long[same + 1 :]
    )


def _absence_mistyped(found: re.Match[str]) -> str:
    return _ABSENT if _means_absence(found[0].casefold()) else found[0]


@lru_cache(maxsize=50_000)
def _means_absence(word: str) -> bool:
    return any(is_typing_error(word, absence) for absence in _ABSENCES)


def _signs(text: str) -> str:
    """Return the text without blanks, punctuation and long-vowel marks.

    Words with several spellings get one spelling.
    """
    signs = _NO_SIGN.sub("", unicodedata.normalize("NFKC", text).casefold())
    for one, other in _SPELLINGS:
        signs = signs.replace(one, other)
    return signs


def _denies(print_: Fingerprint) -> bool:
    return _DENIES.search(print_.unspaced) is not None


def _distance(one: str, other: str, most: int) -> int:
    """Return the edit distance (Levenshtein, 1965).

    Kana of endings count 1, other kana 2, and other signs make the words different.
    """
    if abs(len(one) - len(other)) > most:
        return _NEVER
    above = list(accumulate((_cost(sign) for sign in other), initial=0))
    for sign in one:
        row = [above[0] + _cost(sign)]
        for place, against in enumerate(other):
            change = (
                0
                if sign == against
                else (
                    max(_cost(sign), _cost(against))
                    if _is_ending(sign) and _is_ending(against)
                    else _NEVER
                )
            )
            row.append(
                min(above[place] + change, above[place + 1] + _cost(sign), row[-1] + _cost(against))
            )
        if min(row) > most:
            return _NEVER
        above = row
    return above[-1]


def _cost(sign: str) -> int:
    return 1 if _is_ending(sign) else 2 if "\u30a0" <= sign <= "\u30ff" else _NEVER


def _is_ending(sign: str) -> bool:
    return "\u3040" <= sign <= "\u309f" or sign in "的了"


def files_in(text: str) -> Iterator[str]:
    """Yield the names of files with an ending, with their folders as far as these are written."""
    for found in _PATH.finditer(text):
        yield found[0].removeprefix("./")


def same_file(one: str, other: str) -> bool:
    """Return whether two paths can mean the same file: one may omit the first folders."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the word without the endings of verb and noun forms."""
    return _ENDING.sub("", word)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of all words of two sets that is in both; 1 when there are none."""
    return len(one & other) / len(one | other) if one | other else 1.0
