"""The calls of git in a shell line: after operators, in subshells and substitutions, under a path,
and inside `sh -c`. Also whether a line gives a person's answer by forge-bot's own commands.

This is not a complete shell parser, since a host's agent is not malicious. A missed change is
refused when it is reported. An answer without a terminal is refused by the command itself.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import NamedTuple

from forge_bot.text_format import names

SHELLS = {"sh", "bash", "dash", "ksh", "zsh"}
_OPERATORS = ";&|()\n"
_INSIDE = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_TAKES_A_WORD = frozenset(
    names("""
    -c -C --git-dir --work-tree --namespace --exec-path --super-prefix --config-env
    """)
)
_DEEPEST = 4

ANSWERS = frozenset({"approve", "reject", "revise", "done", "skip", "continue", "abandon", "retry"})
"""Our commands that give a person's answer. `resume --from` and `run --from` are a retry."""

_PERSONS = ANSWERS | {"repair"}
"""Commands that an agent leaves to the person; `repair` takes a run back to an older record."""

_SHOW_TEXT = frozenset(names("cat cd echo egrep fgrep grep head ls printf pushd rg tail test wc"))
_GIT_LOOKS = frozenset({"add", "blame", "commit", "diff", "grep", "log", "show", "status"})
_COPIES = frozenset({"cp", "install", "ln", "mv"})
_BETWEEN_TOKENS = re.compile(r"[\s`()\[\]{},;|&<>=$!]+")
_PROGRAM = re.compile(
    r"(?:.*/)?forge-bot(?:\.exe)?|(?:.*/)?forge_bot/(?:__main__|cli/\w+)\.py|forge_bot"
    r"(?!\.gate\b)(?:\.\w+)+"
)
_BEFORE_MODULE = re.compile(r"-\w*m|run_module|import|from")
_NOT_LITERAL = re.compile(r"[$`*?\[{%]")
_REDIRECTS = re.compile(r"\d*>>?(?!&|\s*/dev/null)|&>")


class GitCall(NamedTuple):
    """A command of git, and the words after it."""

    verb: str
    words: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the words before `--` that are not options: branches and commits."""
        before = self.words[: self.words.index("--")] if "--" in self.words else self.words
        return tuple(word for word in before if not word.startswith("-") or word == "-")


def git_calls(line: str, depth: int = 0) -> Iterator[GitCall]:
    """Return every visible call of git in a line."""
    if depth > _DEEPEST:
        return
    for words in commands_of(line):
        for place, word in enumerate(words):
            name = PurePath(word).name.removesuffix(".exe")
            if name == "git" and (call := _call(words[place + 1 :])) is not None:
                yield call
            if name in SHELLS or name == "eval":
                for given in words[place + 1 :]:
                    yield from git_calls(given, depth + 1)
            for found in _INSIDE.finditer(word):
                yield from git_calls(found[1] or found[2] or "", depth + 1)


def commands_of(line: str) -> Iterator[list[str]]:
    """Return the words of each command; if quotes do not close, split at operators."""
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


# -- answers
# --------------------------------------------------------------------------------------------------


def gives_answer(line: str) -> bool:
    """Return whether a line names our program and one of its answers, in any quoting, or hides
    which command is called.

    Text that is only shown or searched for does not count. A line is refused rather than
    understood: a copy or an alias of the program, and a command that only the shell can work out,
    count as answers.
    """
    commands = [words for words in commands_of(line) if words]
    if not (_runs_text(line, commands) or _writes_text(line)):
        commands = [words for words in commands if not _shows_text(words)]
    tokens = [token for words in commands for token in _tokens(_without_task(words))]
    if _names_program(tokens) and (
        any(map(_is_answer, tokens)) or any(map(_is_renaming, commands))
    ):
        return True
    return any(_hidden(words) or _goes_back(words) for words in commands)


def _runs_text(line: str, commands: Sequence[Sequence[str]]) -> bool:
    """Return whether the output of a command may be executed: by a substitution, or by a pipe into
    more than a filter.
    """
    return bool(re.search(r"\$\(|`|<\(", line)) or (
        "|" in line and not all(map(_shows_text, commands))
    )


def _writes_text(line: str) -> bool:
    return _REDIRECTS.search(line) is not None


def _shows_text(words: Sequence[str]) -> bool:
    """Return whether a command only shows or searches text, or names it in a commit."""
    if words[0] == "git":
        call = _call(words[1:])
        return (
            call is not None
            and call.verb in _GIT_LOOKS
            and "-c" not in words
            and not any("!" in word for word in words)
        )
    return words[0] in _SHOW_TEXT and not any(word.startswith("--pre") for word in words)


def _without_task(words: Sequence[str]) -> Sequence[str]:
    """Return a command without the text of a task or a question, but with the parts of it that a
    shell would execute.
    """
    for place, word in enumerate(words[:-1]):
        if _PROGRAM.fullmatch(word) and words[place + 1] in {"ask", "run"}:
            after = words[place + 2 :]
            return [
                *words[: place + 2],
                *(each for each in after if each.startswith("-") or re.search(r"[$`]", each)),
            ]
    return words


def _tokens(words: Sequence[str], depth: int = 0) -> list[str]:
    """Return the words of a command without quotes. A word that contains a line is split into its
    own words.
    """
    # `done` and `continue` are also words of the shell.
    words = words[1:] if words and words[0] in {"done", "continue"} else words
    found: list[str] = []
    for word in words:
        if depth < _DEEPEST and re.search(r"\s", word):
            found += [token for inner in commands_of(word) for token in _tokens(inner, depth + 1)]
        else:
            plain = re.sub(r"[\\'\"]", "", word)
            found += [token for token in _BETWEEN_TOKENS.split(plain) if token]
    return found


def _is_answer(word: str) -> bool:
    return word.lower().rpartition(".")[2] in _PERSONS or word == "--by-script"


def _names_program(tokens: Sequence[str]) -> bool:
    return any(_is_program(tokens, place) for place in range(len(tokens)))


def _is_program(tokens: Sequence[str], place: int) -> bool:
    """Return whether a token is our program: its name, a path to it, or its package after `-m` or
    `import`.
    """
    if tokens[place] == "forge_bot":
        return place > 0 and _BEFORE_MODULE.fullmatch(tokens[place - 1]) is not None
    return _PROGRAM.fullmatch(tokens[place]) is not None


def _is_renaming(words: Sequence[str]) -> bool:
    """Return whether a command gives our program another name."""
    copied = words[0] in _COPIES and any(
        re.search(r"(?:bin|Scripts)/forge-bot", word) for word in words[1:-1]
    )
    assigned = re.fullmatch(r"\w+=(?:.*/)?forge-bot", words[0]) is not None
    return copied or ((words[0] == "alias" or assigned) and _names_program(_tokens(words)))


def _hidden(words: Sequence[str]) -> bool:
    """Return whether our program is called with a command in a variable, a pattern or an escape."""
    inner = (line for word in words if re.search(r"\s", word) for line in commands_of(word))
    if any(_hidden(line) for line in inner):
        return True
    for place, word in enumerate(words):
        if _is_program([*words[max(place - 1, 0) : place], word], min(place, 1)):
            called = next((each for each in words[place + 1 :] if not each.startswith("-")), "")
            return _NOT_LITERAL.search(called) is not None
    return False


def _goes_back(words: Sequence[str]) -> bool:
    """Return whether a command sends a run back with `resume --from` or `run --from`."""
    tokens = _tokens(words)
    for place in range(len(tokens)):
        if _is_program(tokens, place):
            after = tokens[place + 1 :]
            return after[:1] in (["resume"], ["run"]) and "--from" in after
    return False


# -- scripts in a line; each is read alone, without its imports
# --------------------------------------------------------------------------------------------------


_INTERPRETER = re.compile(
    r"(?:python|pypy|node|bun|deno|ruby|perl|php|tclsh|lua)[\d.]*|uv|expect|source|\."
)
_READ = 200_000
"""Bytes of a script that are read."""
_QUOTED_ANSWER = re.compile(
    rf"""(?:['"]|forge-bot\s+)(?:{"|".join(sorted(ANSWERS))}|repair|--by-script)\b"""
)
_PROGRAM_NAME = re.compile(r"forge[-_]bot\b")


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
