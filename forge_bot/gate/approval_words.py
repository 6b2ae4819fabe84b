"""Reads the words behind `approve`: a version, choices of open decisions, and a condition."""

import re
from dataclasses import dataclass
from unicodedata import category

from forge_bot.gate.arguments import read_digest
from forge_bot.sentences import say

LONGEST_CONDITION = 500
"""Characters of a condition. More is not a condition but notes, and those go with `reject`."""

_CHOICE = re.compile(r"([1-9][0-9]?)[a-z]", re.IGNORECASE)
_WITH = re.compile(r"(?:^|\s)with(?=\s|$)", re.IGNORECASE)
# Controls, signs without a form, and code points that mean nothing: a condition that was copied
# from elsewhere may hold words that its reader never saw.
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_JOINERS = "\u200c\u200d"
"""Shape the letters beside them in several scripts, and emoji."""


@dataclass(frozen=True, slots=True)
class ApprovalWords:
    """Words behind `approve`. With a `problem`, one sentence, or with `unknown` words, nothing else
    counts.
    """

    digest: str | None = None
    choices: tuple[str, ...] = ()
    condition: str = ""
    problem: str = ""
    unknown: bool = False


def read_approval(rest: str) -> ApprovalWords:
    """Read `3f9c2a1b`, `2a`, `1b 2a`, `with the words of a person`, or several of them. `with`
    comes last: what follows it is the condition.
    """
    before, condition, problem = rest, "", ""
    if marker := _WITH.search(rest):
        before, condition = rest[: marker.start()], " ".join(rest[marker.end() :].split())
        problem = _condition_problem(condition)
    digest: str | None = None
    choices: dict[str, str] = {}
    for word in (each.removesuffix(",") for each in before.split()):
        choice = _CHOICE.fullmatch(word)
        version = read_digest(word)
        if choice is not None and choice[1] not in choices:
            choices[choice[1]] = word.lower()
        elif choice is not None:
            problem = problem or say("gate.grammar.decided_twice", number=choice[1])
        elif version is not None and digest is None:
            digest = version
        else:
            return ApprovalWords(unknown=True)
    if problem:
        return ApprovalWords(problem=problem)
    return ApprovalWords(digest, tuple(choices.values()), condition)


def _condition_problem(condition: str) -> str:
    if not condition:
        return say("gate.grammar.write_the_condition")
    if len(condition) > LONGEST_CONDITION:
        return say(
            "gate.grammar.condition_is_too_long", count=len(condition), most=LONGEST_CONDITION
        )
    unseen = {sign for sign in condition if category(sign) in _UNSEEN and sign not in _JOINERS}
    if unseen:
        names = ", ".join(f"U+{ord(sign):04X}" for sign in sorted(unseen)[:3])
        return say("gate.grammar.condition_holds_unseen", signs=names)
    return ""
