"""The command of a comment. Pure; the gate and the supervisor read a comment alike.

A command is the first line of a comment, at column 0. Nothing else of a comment commands, so that
no copied mail, quotation or code does; a second command directly behind it stops the first.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from forge_bot.gate.grammar import (
    ANSWERS,
    LONGEST_SHOWN,
    NAMED,
    RUN_COMMANDS,
    START,
    AnswerCommand,
    AnswerQuestion,
    Command,
    Form,
    Misplaced,
    Mistyped,
    RunCommand,
    WrittenCommand,
)
from forge_bot.sentences import say

PREFIX = "/forge"
LONGEST_BODY = 131_072
"""Characters of the longest comment that is read; GitHub itself takes half as many."""

_MARK = re.compile(r"^<!-- forge-bot:", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?|\n")
# Punctuation may be glued to a name, as in `approve? no, wait`: what follows is judged then.
_NAME = re.compile(r"/?([a-z]+)(?=\s|$|[^\w\s/-]+(?:\s|$))", re.IGNORECASE)


class ParsedComment(NamedTuple):
    """The command of a comment, or what was meant as one and is none. `unread` says whether text of
    its author stands below that the command does not take.
    """

    command: Command | Mistyped | None = None
    unread: bool = False


class _Line(NamedTuple):
    form: Form
    words: str
    rest: str


def parse_comment(
    body: str, prefix: str = PREFIX, *, bare: bool = True, mention: str = ""
) -> ParsedComment:
    """Return the command of a comment. Without `bare` only `/forge approve` counts and `/approve`
    is left to other programs; `mention` counts like the prefix. A comment that carries the bot's
    own mark says nothing.
    """
    if len(body) > LONGEST_BODY or _MARK.search(body):
        return ParsedComment()
    if mention and body[: len(mention)].casefold() == mention.casefold():
        body = f"{prefix}{body[len(mention) :]}"
    first, *others = lines = split_lines(body)
    if (line := _recognise(first, prefix, bare=bare)) is None:
        return ParsedComment(_misplaced(lines, prefix, bare=bare))
    below = without_quotes(others)
    written = WrittenCommand(line.words, line.rest, below, prefix)
    if others and _recognise(others[0], prefix, bare=bare) is not None:
        return ParsedComment(written.wrong(say("gate.one_command")))
    unread = not line.form.takes_notes and any(sign.isalnum() for sign in below)
    return ParsedComment(line.form.read(written), unread)


def split_lines(body: str) -> list[str]:
    """Return the lines of a comment, counted as Markdown counts them."""
    return _LINE_END.split(body)


def without_quotes(lines: Sequence[str]) -> str:
    """Return the lines that quote nobody, as one text."""
    return "\n".join(line for line in lines if not line.lstrip().startswith(">")).strip()


def named_word(words: str) -> tuple[str, str, str]:
    """Return the word that these words begin with, in small letters, the same as written, and the
    rest; empty where they begin with none. A colon may follow a command with notes: `reject: no`.
    """
    match = _NAME.match(words)
    if match is None:
        return "", "", words.strip()
    name, rest = match[1].casefold(), words[match.end() :]
    with_colon = name in NAMED and NAMED[name].takes_notes
    return name, match[0], (rest.removeprefix(":") if with_colon else rest).strip()


def _recognise(line: str, prefix: str, *, bare: bool) -> _Line | None:
    """Return the command that a line begins with, at column 0."""
    if line[: len(prefix)].casefold() == prefix.casefold():
        rest = line[len(prefix) :]
        if rest[:1].strip():
            return None
        word = line[: len(prefix)]
        name, written, behind = named_word(rest.strip())
        if name not in NAMED:
            return _Line(START, word, rest.strip())
        return _Line(NAMED[name], f"{word} {written}", behind)
    name, written, behind = named_word(line) if bare and line.startswith("/") else ("", "", "")
    return _Line(NAMED[name], written, behind) if name in NAMED else None


def _misplaced(lines: Sequence[str], prefix: str, *, bare: bool) -> Misplaced | None:
    """Return the first line that would be a command if it stood at the very beginning, as its
    author's own word.
    """
    for line in lines:
        command = _recognise(line.strip(), prefix, bare=bare)
        if command is not None:
            written = WrittenCommand(command.words, command.rest, "", prefix)
            if not isinstance(command.form.read(written), Mistyped):
                return Misplaced(line.strip()[:LONGEST_SHOWN], say("gate.commands_come_first"))
    return None


def read_answer(text: str, *, takes_words: bool = False) -> AnswerCommand | Mistyped:
    """Read an answer that was typed at a question, such as `approve 1a2b3c4` or `reject too long`.

    The words are those of a comment: `approved` is never a yes. A slash before the word is
    allowed, and a colon after `reject`. A rejection may come without notes: a terminal asks for
    them, and the engine refuses it. `takes_words`: an agent asks, so words that begin with no
    command are the answer.
    """
    first, _, below = text.strip().partition("\n")
    name, word, rest = named_word(first)
    if name not in ANSWERS and takes_words and text.strip():
        return AnswerQuestion(text.strip())
    if name not in ANSWERS:
        return Mistyped(first[:LONGEST_SHOWN], say("gate.no_such_answer"))
    takes_notes = name in NAMED and NAMED[name].takes_notes
    written = WrittenCommand(word, rest, below.rstrip(), "")
    if written.below and not takes_notes:
        return written.wrong(say("gate.nothing_follows", name=name))
    return ANSWERS[name](written)


def read_command(name: str, text: str, prefix: str) -> RunCommand | Mistyped:
    """Read what is given to a run by a name of `RUN_COMMANDS` and the words behind it."""
    return RUN_COMMANDS[name](WrittenCommand(name, text, "", prefix))
