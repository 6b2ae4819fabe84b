"""Flags before and behind a task's words; what stands among the words belongs to them."""

import re

from forge_bot.values import Effort, Frozen

SWITCHES = frozenset({"--auto", "--nopr", "--debug", "--discuss", "--resume"})
_EFFORT = "--effort"
_END = "--"
_WORD = re.compile(r"\S+")
_SIZE = re.compile(r"x{0,3}[sml]|small|medium|large", re.IGNORECASE)
"""What means a size behind words, where `--effort` and any other word may be the end of a sentence."""


class TaskWithFlags(Frozen):
    """A task's words as they were written, the flags beside them, and what is wrong with those."""

    text: str
    switches: frozenset[str] = frozenset()
    effort: Effort | None = None
    problems: tuple[str, ...] = ()


def spoken(arguments: str) -> TaskWithFlags:
    """Part the flags from the text. At the beginning every word with dashes is meant as one, and `--` ends them."""
    words = list(_WORD.finditer(arguments))
    taken, start, ended = _before([word[0] for word in words])
    behind, end = ([], len(words)) if ended else _behind([word[0] for word in words], start)
    text = arguments[words[start].start() : words[end - 1].end()] if start < end else ""
    return _read(text, [*taken, *behind])


def _before(words: list[str]) -> tuple[list[str], int, bool]:
    """Flags at the beginning, a value joined to its flag by `=`; where the text begins; whether `--` said so."""
    taken: list[str] = []
    at = 0
    while at < len(words) and words[at].startswith("--"):
        if words[at] == _END:
            return taken, at + 1, True
        if words[at] == _EFFORT:
            taken.append(f"{_EFFORT}={words[at + 1] if at + 1 < len(words) else ''}")
            at = min(at + 2, len(words))
        else:
            taken.append(words[at])
            at += 1
    return taken, at, False


def _behind(words: list[str], start: int) -> tuple[list[str], int]:
    """Flags at the end, and where the text ends. Only known ones: a sentence may well end with an option's name."""
    taken: list[str] = []
    end = len(words)
    while end > start:
        last = words[end - 1]
        if last in SWITCHES or last.startswith(f"{_EFFORT}="):
            taken.append(last)
            end -= 1
        elif end - start > 1 and words[end - 2] == _EFFORT and _SIZE.fullmatch(last):
            taken.append(f"{_EFFORT}={last}")
            end -= 2
        else:
            break
    return taken[::-1], end


def _read(text: str, taken: list[str]) -> TaskWithFlags:
    effort: Effort | None = None
    problems: list[str] = []
    for flag in taken:
        name, _, value = flag.partition("=")
        if name == _EFFORT and value.upper() in set(Effort):
            effort = Effort(value.upper())
        elif name == _EFFORT:
            problems.append(f"effort {value!r} does not exist: it is one of {', '.join(Effort)}")
        elif flag not in SWITCHES:
            problems.append(f"unknown flag {flag}; if it belongs to the task, write -- before the task")
    return TaskWithFlags(text=text, switches=SWITCHES.intersection(taken), effort=effort, problems=tuple(problems))
