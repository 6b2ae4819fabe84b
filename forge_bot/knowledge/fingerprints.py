"""What a remark says, as sets of words: how two remarks that say the same thing are told from two about different things."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from forge_bot.knowledge.words import words

ALIKE = 0.75
"""How much of the longer remark the shorter one has to say, when neither says anything else."""
ALIKE_IN_A_FILE = 0.5
"""How many of all their words two remarks on the same file have to share."""

_PATH = re.compile(r"(?<![\w/.-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w(/.-]|\.\w)")
_CODE = re.compile(r"\b(?:\w+(?:\.\w+)*\(\)|\w+(?:\.\w+)+|\w*[a-z0-9][A-Z]\w*|\w+_\w+|\d+)|`[^`]+`")
# "missing", "lacks", "is not", "never": one absence is said in many ways, and it is the point of a remark.
_ABSENCE = re.compile(r"\b(?:missing|misses|lack(?:s|ing)?|without|no|not|never|none|absent|cannot|\w+n['’]t)\b", re.IGNORECASE)
_ABSENT = "absent"
_PLACE = re.compile(
    r"\b(?:in|inside|within|of|for|from|at|on|into|by|to|via)\s+(?:(?:the|a|an|this|that|its|each|every|any)\s+)*(\w+)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w{4})(?:ations?|ings?|ions?|ed|es|e|s)$")
_FEWEST = 4


class Fingerprint(NamedTuple):
    """The words of a remark without their endings; those of them that name what it is about; the files it names."""

    words: frozenset[str]
    names: frozenset[str]
    files: frozenset[str]

    def says_the_same(self, other: "Fingerprint") -> bool:
        """Whether both say the same thing about the same thing.

        A word that only one of them has, on either side, may be what makes the difference ("… in the loader", "… in the parser"):
        then only a common file shows that they mean the same place. Where one says all that the other says and little more, the
        surplus must not name anything, nor turn the sense around.
        """
        if self.files or other.files:
            return self._shares_a_file(other) and _shared(self.words, other.words) >= ALIKE_IN_A_FILE
        if self.words == other.words:
            return True
        small, large = (self, other) if len(self.words) < len(other.words) else (other, self)
        if len(small.words) < max(_FEWEST, ALIKE * len(large.words)):
            return False
        return small.words < large.words and large.names.isdisjoint(large.words - small.words)

    def _shares_a_file(self, other: "Fingerprint") -> bool:
        return any(same_file(mine, theirs) for mine in self.files for theirs in other.files)


def fingerprint(text: str) -> Fingerprint:
    """The fingerprint of a remark of one line."""
    files = frozenset(files_in(text))
    rest = _ABSENCE.sub(f" {_ABSENT} ", _PATH.sub(" ", text))
    code = [found.strip("`() ").casefold() for found in _CODE.findall(rest)]
    places = (stem(word) for found in _PLACE.finditer(rest) for word in words(found[1]))
    said = frozenset(stem(word) for word in words(rest)) | frozenset(code)
    return Fingerprint(words=said, names=said & {_ABSENT, *code, *places}, files=files)


def files_in(text: str) -> Iterator[str]:
    """Names of files with an ending, with their folders as far as these are written."""
    for found in _PATH.finditer(text):
        yield found[0].removeprefix("./")


def same_file(one: str, other: str) -> bool:
    """Whether two paths can mean the same file: one may leave out the first folders."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word without the endings that tell a verb's or noun's forms apart."""
    return _ENDING.sub("", word)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of all the words of two sets that is in both; 1 when there are none."""
    return len(one & other) / len(one | other) if one | other else 1.0
