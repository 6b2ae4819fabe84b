"""The calls of git in a line for a shell: after operators, in subshells and substitutions, under a path, and in what `sh -c` is given.

A host's agent means no harm, so this is no parser of a shell: what it misses is refused when it is reported.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

_SHELLS = {"sh", "bash", "dash", "ksh", "zsh"}
_OPERATORS = ";&|()\n"
_INSIDE = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_TAKES_A_WORD = {"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}
_DEEPEST = 4


class GitCall(NamedTuple):
    """A command of git, and the words after it."""

    verb: str
    words: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The words before `--` that are no options: branches and commits."""
        before = self.words[: self.words.index("--")] if "--" in self.words else self.words
        return tuple(word for word in before if not word.startswith("-") or word == "-")


def git_calls(line: str, depth: int = 0) -> Iterator[GitCall]:
    """Every call of git that can be seen in a line."""
    if depth > _DEEPEST:
        return
    for words in _commands(line):
        for place, word in enumerate(words):
            name = PurePath(word).name.removesuffix(".exe")
            if name == "git" and (call := _call(words[place + 1 :])) is not None:
                yield call
            if name in _SHELLS or name == "eval":
                for given in words[place + 1 :]:
                    yield from git_calls(given, depth + 1)
            for found in _INSIDE.finditer(word):
                yield from git_calls(found[1] or found[2] or "", depth + 1)


def _commands(line: str) -> Iterator[list[str]]:
    """The words of each command; where quotes do not close, whatever stands between operators."""
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        words = [*lexer]
    except ValueError:
        words = re.findall(rf"[{re.escape(_OPERATORS)}]+|[^\s{re.escape(_OPERATORS)}]+", line)
    command: list[str] = []
    for word in (*words, ";"):
        if set(word) <= {*_OPERATORS} and word:
            yield command
            command = []
        else:
            command.append(word)


def _call(words: Sequence[str]) -> GitCall | None:
    left = list(words)
    while left and left[0].startswith("-"):
        left = left[2:] if left[0] in _TAKES_A_WORD else left[1:]
    return GitCall(left[0], tuple(left[1:])) if left else None
