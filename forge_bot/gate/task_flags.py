"""The flags of a new run, before and after the words of its task. The same in a thread and over
MCP; standard library only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forge_bot.gate.arguments import AMOUNTS, NO_LIMIT, SIZES, Amount, Size, read_amount
from forge_bot.sentences import say

SWITCHES = {  # each with the name of the sentence that says what it does
    "auto": "gate.task_flags.auto",
    "nopr": "gate.task_flags.nopr",
    "debug": "gate.task_flags.debug",
    "discuss": "gate.task_flags.discuss",
    "batch": "gate.task_flags.batch",
}
VALUES = {
    "effort": "gate.task_flags.effort",
    "budget": "gate.task_flags.budget",
    "pipeline": "gate.task_flags.pipeline",
    "in": "gate.task_flags.folder",
}

_PIPELINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_FOLDER = re.compile(r"[\w.][\w.@+/-]{0,200}")
_END = "--"
_LONG_DASHES = ("—", "–")
_WORD = re.compile(r"\S+")
# A flag after the words takes only a value that can be meant as one: `--effort` may also be the
# last word but one of a sentence.
_VALUE_LIKE = {
    "effort": re.compile(r"x{0,3}[sml]|small|medium|large", re.IGNORECASE),
    "budget": re.compile(r"[+$]*[0-9][0-9.,]*\$?|[0-9][0-9.,_]*[km]?tok(?:ens?)?", re.IGNORECASE),
}
"""A name is a word like any other: behind the task it is given with `=`."""


@dataclass(frozen=True, slots=True)
class TaskFlags:
    """The flags beside a task's words, the words as they were written, and one sentence for each
    flag that is wrong.
    """

    text: str = ""
    switches: frozenset[str] = frozenset()
    effort: Size | None = None
    budget: Amount = NO_LIMIT
    pipeline: str | None = None
    scope: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Flag:
    """One flag as it was written; `value` is None where none was given."""

    written: str
    name: str
    value: str | None = None


def read_task_flags(words: str, also: Sequence[str] = ()) -> TaskFlags:
    """Separate the flags from the words of a task. `also` names switches that only this face has.

    Before the words, everything that begins with dashes is a flag, and `--` ends them. After the
    words only known flags are. A flag in the middle of the words belongs to them.
    """
    switches = (*SWITCHES, *also)
    places = list(_WORD.finditer(words))
    tokens = [place[0] for place in places]
    flags, start = _leading(tokens)
    behind: list[_Flag] = []
    end = len(tokens)
    ended = tokens[start - 1 : start] == [_END]
    while not ended and end > start and (last := _last(tokens[start:end], switches)) is not None:
        flag, length = last
        behind.insert(0, flag)
        end -= length
    text = words[places[start].start() : places[end - 1].end()] if start < end else ""
    return _read(text, [*flags, *behind], switches)


def _leading(tokens: list[str]) -> tuple[list[_Flag], int]:
    """Return the flags before the words, and the place where the words begin."""
    flags: list[_Flag] = []
    start = 0
    while start < len(tokens) and tokens[start].startswith((_END, *_LONG_DASHES)):
        flag = _flag(tokens[start])
        start += 1
        if flag.written == _END:
            break
        if flag.name in VALUES and flag.value is None and start < len(tokens):
            flag = _Flag(flag.written, flag.name, tokens[start])
            start += 1
        flags.append(flag)
    return flags, start


def _last(words: list[str], switches: Sequence[str]) -> tuple[_Flag, int] | None:
    """Return the known flag that the words end with and the number of its words."""
    if words[-1].startswith((_END, *_LONG_DASHES)):
        flag = _flag(words[-1])
        known = switches if flag.value is None else VALUES
        return (flag, 1) if flag.name in known else None
    if len(words) > 1 and words[-2].startswith((_END, *_LONG_DASHES)):
        flag = _flag(words[-2])
        shape = _VALUE_LIKE.get(flag.name)
        if flag.value is None and shape is not None and shape.fullmatch(words[-1]):
            return _Flag(flag.written, flag.name, words[-1]), 2
    return None


def _flag(written: str) -> _Flag:
    name, given, value = written.lstrip("-—–").partition("=")
    return _Flag(written, name.casefold(), value if given else None)


def _read(text: str, flags: list[_Flag], switches: Sequence[str]) -> TaskFlags:
    on: set[str] = set()
    effort: Size | None = None
    budget = NO_LIMIT
    pipeline: str | None = None
    scope = ""
    problems: list[str] = []
    for flag in flags:
        value = flag.value or ""
        if problem := _problem(flag, switches):
            problems.append(problem)
        elif flag.name == "effort":
            effort = SIZES[value.casefold()]
        elif flag.name == "budget":
            budget = read_amount(value) or NO_LIMIT
        elif flag.name == "pipeline":
            pipeline = value
        elif flag.name == "in":
            scope = value
        else:
            on.add(flag.name)
    return TaskFlags(text, frozenset(on), effort, budget, pipeline, scope, tuple(problems))


def _problem(flag: _Flag, switches: Sequence[str]) -> str:
    """Return one sentence about the problem of a flag; empty for a valid one."""
    value = flag.value or ""
    known = (*switches, *VALUES)
    dashes = flag.written.startswith(_END) and not flag.written.startswith("---")
    if flag.name not in known or not dashes:
        shown = re.sub(r"[^\w-]", "", flag.written.partition("=")[0])
        names = ", ".join(f"`--{name}`" for name in (*SWITCHES, *VALUES))
        hint = say("gate.task_flags.known_flags", names=names)
        return say("gate.task_flags.unknown_flag", flag=shown, hint=hint)
    if flag.name == "effort" and value.casefold() not in SIZES:
        return say("gate.task_flags.bad_effort")
    if flag.name == "budget" and read_amount(value) is None:
        return say("gate.task_flags.bad_budget", amounts=say(AMOUNTS))
    if flag.name == "pipeline" and not _PIPELINE.fullmatch(value):
        return say("gate.task_flags.bad_pipeline")
    if flag.name == "in" and not _FOLDER.fullmatch(value):
        return say("gate.task_flags.bad_folder")
    if flag.name in switches and flag.value is not None:
        return say("gate.task_flags.no_value", flag=flag.name)
    return ""
