"""The words behind `approve`, and the flags of a new run: the same in a thread and over MCP.
Standard library only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category

from forge_bot.gate.arguments import (
    AMOUNTS,
    NO_LIMIT,
    SIZES,
    Amount,
    Size,
    read_amount,
    read_digest,
)
from forge_bot.sentences import say

# -- the words behind `approve`
# --------------------------------------------------------------------------------------------------

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
class Approve:
    """Yes to what was shown last before the comment, or to the version that is named. `choices`
    such as `2a` settle open decisions, and `words` are a condition.
    """

    digest: str | None = None
    choices: tuple[str, ...] = ()
    words: str = ""


def read_approval(rest: str) -> Approve | str:
    """Read `3f9c2a1b`, `2a`, `1b 2a`, `with the words of a person`, or several of them. `with`
    comes last: what follows it is the condition. Return one sentence about a problem, an empty one
    for words that say nothing of the kind.
    """
    before, condition, problem = rest, "", ""
    if marker := _WITH.search(rest):
        before, condition = rest[: marker.start()], " ".join(rest[marker.end() :].split())
        problem = _condition_problem(condition)
    digest: str | None = None
    choices: dict[str, str] = {}
    for word in (word.removesuffix(",") for word in before.split()):
        choice = _CHOICE.fullmatch(word)
        version = read_digest(word)
        if choice is not None and choice[1] not in choices:
            choices[choice[1]] = word.lower()
        elif choice is not None:
            problem = problem or say("gate.grammar.decided_twice", number=choice[1])
        elif version is not None and digest is None:
            digest = version
        else:
            return ""
    return problem or Approve(digest, tuple(choices.values()), condition)


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


# -- the flags of a new run
# --------------------------------------------------------------------------------------------------

SWITCHES = ("auto", "nopr", "debug", "discuss", "batch")
VALUES = {"effort": "S|M|L", "budget": "5", "pipeline": "NAME", "in": "FOLDER"}
"""Each with an example of what it takes. docs/thread.md says what the flags do."""

_PIPELINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_FOLDER = re.compile(r"[\w.][\w.@+/-]{0,200}")
# Telephones make a long dash of two hyphens.
_FLAG = re.compile(r"(?:--|—|–)([^\s=]*)(?:=(\S*))?")
# Behind the words a flag takes only a value that can be meant as one: `--effort` may also be the
# last word but one of a sentence. A name is a word like any other, and is given with `=`.
_VALUE_LIKE = {
    "effort": re.compile(r"x{0,3}[sml]|small|medium|large", re.IGNORECASE),
    "budget": re.compile(r"[+$]*[0-9][0-9.,]*\$?|[0-9][0-9.,_]*[km]?tok(?:ens?)?", re.IGNORECASE),
}
_MOST_PROBLEMS = 3
_Flag = tuple[str, str | None]
"""A name and a value; None where none was given."""


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a run on this issue. The text is added to the request, and so are the comments that
    `taken` links to, also while a run is under way.
    """

    text: str = ""
    taken: tuple[str, ...] = ()
    effort: Size | None = None
    auto: bool = False
    skip_pr: bool = False
    debug: bool = False
    discuss: bool = False
    batch: bool = False
    budget: Amount = NO_LIMIT
    pipeline: str | None = None
    scope: str = ""


def read_task_flags(words: str, also: Sequence[str] = ()) -> tuple[Start, tuple[str, ...]]:
    """Separate the flags from the words of a task, and return one sentence for each flag that is
    wrong. `also` names switches that only this face has.

    Before the words, everything that begins with dashes is a flag, and `--` ends them. After the
    words only known flags are. A flag in the middle of the words belongs to them.
    """
    switches, text = (*SWITCHES, *also), words.strip()
    flags: list[_Flag] = []
    while match := _FLAG.match(text):
        text = text[match.end() :].lstrip()
        name, value = match[1].casefold(), match[2]
        if not name:
            return _read_flags(text, flags, switches)
        if name in VALUES and value is None and text:
            value, *rest = text.split(maxsplit=1)
            text = "".join(rest)
        flags.append((name, value))
    behind: list[_Flag] = []
    while text and (last := _last_flag(text, switches)) is not None:
        flag, text = last
        behind.insert(0, flag)
    return _read_flags(text, [*flags, *behind], switches)


def _last_flag(text: str, switches: Sequence[str]) -> tuple[_Flag, str] | None:
    """Return the known flag that the words end with, and the words before it."""
    *before, last = text.rsplit(maxsplit=1)
    if match := _FLAG.fullmatch(last):
        name, value = match[1].casefold(), match[2]
        known = name in (switches if value is None else VALUES)
        return ((name, value), "".join(before)) if known else None
    *before, word = "".join(before).rsplit(maxsplit=1) or [""]
    match = _FLAG.fullmatch(word)
    shape = _VALUE_LIKE.get(match[1].casefold()) if match and match[2] is None else None
    if match is None or shape is None or not shape.fullmatch(last):
        return None
    return (match[1].casefold(), last), "".join(before)


def _read_flags(
    text: str, flags: Sequence[_Flag], switches: Sequence[str]
) -> tuple[Start, tuple[str, ...]]:
    values = {name: value for name, value in flags if name in VALUES and value}
    problems = [_problem(name, value, switches) for name, value in flags]
    named = {name for name, _ in flags}
    task = Start(
        text=text.strip(),
        effort=SIZES.get(values.get("effort", "").casefold()),
        auto="auto" in named,
        skip_pr="nopr" in named,
        debug="debug" in named,
        discuss="discuss" in named,
        batch="batch" in named,
        budget=read_amount(values.get("budget", "")) or NO_LIMIT,
        pipeline=values.get("pipeline"),
        scope=values.get("in", ""),
    )
    return task, tuple(dict.fromkeys(filter(None, problems)))[:_MOST_PROBLEMS]


def _problem(name: str, value: str | None, switches: Sequence[str]) -> str:
    """Return one sentence about the problem of a flag; empty for a valid one."""
    if name not in {*switches, *VALUES}:
        names = ", ".join(f"`--{known}`" for known in (*SWITCHES, *VALUES))
        shown = re.sub(r"[^\w-]", "", name)
        return say("gate.task_flags.unknown_flag", flag=shown, names=names)
    if name in switches:
        return say("gate.task_flags.no_value", flag=name) if value is not None else ""
    given = value or ""
    if name == "effort" and given.casefold() not in SIZES:
        return say("gate.task_flags.bad_effort")
    if name == "budget" and read_amount(given) is None:
        return say("gate.task_flags.bad_budget", amounts=say(AMOUNTS))
    if name == "pipeline" and not _PIPELINE.fullmatch(given):
        return say("gate.task_flags.bad_pipeline")
    if name == "in" and not _FOLDER.fullmatch(given):
        return say("gate.task_flags.bad_folder")
    return ""
