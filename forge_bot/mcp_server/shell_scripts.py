"""The script files in a shell line, and whether one of them gives a person's answer.

Each file is read alone: its imports and the files that it creates are not followed.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePath

from forge_bot.lazy_regex import lazy_regex
from forge_bot.mcp_server.shell_words import ANSWERS, SHELLS, commands_of, gives_answer

_INTERPRETER = lazy_regex(
    r"(?:python|pypy|node|bun|deno|ruby|perl|php|tclsh|lua)[\d.]*|uv|expect|source|\."
)
_READ = 200_000
"""Bytes of a script that are read."""
_QUOTED_ANSWER = lazy_regex(
    rf"""(?:['"]|forge-bot\s+)(?:{"|".join(sorted(ANSWERS))}|repair|--by-script)\b"""
)
_PROGRAM_NAME = lazy_regex(r"forge[-_]bot\b")


def runs_answer(line: str, folder: Path) -> bool:
    """Return whether a line runs a script in which our program gets an answer."""
    return any(_answers(file) for file in _scripts(line, folder))


def _scripts(line: str, folder: Path) -> Iterator[Path]:
    """Yield the files that a line runs: by path, by an interpreter, or by a pipe into one."""
    commands = [words for words in commands_of(line) if words]
    places = [folder, *_entered(commands, folder)]
    for words in commands:
        for place, word in enumerate(words):
            if place == 0 and "/" in word:
                yield from _files([word], places)
            if _runs_files(word):
                given = [*_files(words[place + 1 :], places)]
                piped = (each for others in commands for each in _files(others, places))
                yield from given[:1] or piped


def _entered(commands: Sequence[Sequence[str]], folder: Path) -> Iterator[Path]:
    for words in commands:
        for first, second in pairwise(words):
            if first in {"cd", "pushd"}:
                yield folder / Path(second).expanduser()


def _runs_files(word: str) -> bool:
    name = PurePath(word).name.removesuffix(".exe") or word
    return name in SHELLS or _INTERPRETER.fullmatch(name) is not None


def _files(words: Sequence[str], places: Sequence[Path]) -> Iterator[Path]:
    for word in words:
        for place in places:
            file = place / Path(word.lstrip("<")).expanduser()
            if file.is_file():
                yield file
                break


def _answers(file: Path) -> bool:
    with file.open("rb") as opened:
        text = opened.read(_READ).decode("utf-8", "replace")
    if not _PROGRAM_NAME.search(text):
        return False
    is_shell = file.suffix == ".sh" or re.match(r"#!.*\b(?:ba|da|k|z)?sh\b", text) is not None
    return gives_answer(text) if is_shell else _QUOTED_ANSWER.search(text) is not None
