"""The commands among the lines of a comment. Pure; the gate and the supervisor recognise a line
alike.

Which lines speak is not decided here: the gate takes every line for one that could
(`candidate_lines`), and the supervisor reads the comment as Markdown (`bot/comment_markdown.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forge_bot.gate.arguments import read_amount
from forge_bot.gate.grammar import NAMED, START, Command, Form, form_named
from forge_bot.gate.similar_words import nearest
from forge_bot.gate.written_command import LONGEST_SHOWN, Mistyped, WrittenCommand
from forge_bot.sentences import say

PREFIX = "/forge"
LONGEST_BODY = 131_072
"""Characters of the longest comment that is read; GitHub itself takes half as many."""

_CANDIDATE = re.compile(r" {0,3}(?=\S)")
_MARK = re.compile(r"^<!-- forge-bot:", re.MULTILINE)
_NOT_OF_A_NAME = re.compile(r"[^\w-]|_")
# What people call things elsewhere. Behind the prefix, such a word is no text for a run: the first
# ones never, the others not alone.
_ENDS = ("stop", "cancel", "abort")
_CLEARLY = {
    **dict.fromkeys(("yes", "ok", "okay", "lgtm"), "approve"),
    **dict.fromkeys(("no", "nope"), "reject"),
    **dict.fromkeys(_ENDS, "abandon"),
    "resume": "retry",
}
_ALONE = {
    **dict.fromkeys(("accept", "merge", "ship", "good", "+1"), "approve"),
    **dict.fromkeys(("deny", "decline", "change", "changes"), "reject"),
    **dict.fromkeys(("rerun", "again", "restart"), "retry"),
    **dict.fromkeys(("end", "close", "kill"), "abandon"),
    **dict.fromkeys(("price", "usage", "spend", "money"), "cost"),
    **dict.fromkeys(("start", "run", "go", "begin", "fix", "do", "implement", "work"), ""),
    **{size: f"--effort {size.upper()}" for size in "sml"},
}
_BUDGET = ("budget", "raise", "limit")
"""What people say for `continue`, where nothing or an amount follows."""
_HEX = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class CommentText:
    """The lines of a comment, the numbers of those that may hold a command, and the end of the
    author's own text, before a copied mail.
    """

    lines: tuple[str, ...]
    speaking: frozenset[int]
    end: int


_LINE_END = re.compile(r"\r\n?|\n")


def split_lines(body: str) -> tuple[str, ...]:
    """Return the lines of a comment, counted as Markdown counts them."""
    return tuple(_LINE_END.split(body))


def as_plain_text(body: str) -> CommentText:
    """Return a text in which every line may hold a command."""
    lines = split_lines(body)
    return CommentText(lines, frozenset(range(len(lines))), len(lines))


def may_hold_command(body: str, prefix: str = PREFIX) -> bool:
    """Return whether a comment is worth reading: it is no longer than comments are, is none of the
    bot's own, and has a sign that commands begin with.
    """
    if len(body) > LONGEST_BODY or _MARK.search(body):
        return False
    return any(sign in body for sign in ("/", "／", prefix[0]))


def parse_lines(
    text: CommentText, prefix: str = PREFIX, *, bare: bool = True
) -> tuple[Command | Mistyped, ...]:
    """Return the commands on the speaking lines, with those that were meant as such and are none.

    A command begins its line, at most three blanks in. Notes run on to the next command or the
    end. Without `bare` only `/forge approve` counts and `/approve` is left to other programs.
    """
    reader = _Lines(text, prefix, bare)
    return tuple(reader.command(place) for place in range(len(reader.places)))


def command_lines(text: CommentText, prefix: str, *, bare: bool) -> tuple[int, ...]:
    """Return the numbers of the speaking lines that are commands or were meant as such."""
    return tuple(place[0] for place in _Lines(text, prefix, bare).places)


def obeyed(said: Sequence[Command | Mistyped]) -> tuple[Command, ...]:
    """The commands of a comment that are carried out: none of them when one line is mistyped, since
    it may be the one that matters.
    """
    commands = tuple(part for part in said if not isinstance(part, Mistyped))
    return commands if len(commands) == len(said) else ()


class _Lines:
    """The lines of a comment that are commands, or were meant to be."""

    def __init__(self, text: CommentText, prefix: str, bare: bool) -> None:
        self._text, self._prefix, self._bare = text, prefix, bare
        self.places: list[tuple[int, Form | str, str, str]] = []
        for number in sorted(text.speaking):
            if (found := self._recognise(text.lines[number])) is not None:
                self.places.append((number, *found))

    def command(self, place: int) -> Command | Mistyped:
        """Return the command at this place, with the lines up to the next one."""
        number, form, said, rest = self.places[place]
        end = self.places[place + 1][0] if place + 1 < len(self.places) else self._text.end
        below = "\n".join(self._text.lines[number + 1 : end])
        written = WrittenCommand(number + 1, said, rest, below.rstrip(), self._prefix)
        return written.wrong(form) if isinstance(form, str) else form.read(written)

    def _recognise(self, line: str) -> tuple[Form | str, str, str] | None:
        """Return the form of a line, or a hint if it nearly has one; the command as written; and
        the rest of the line.
        """
        blanks = _CANDIDATE.match(line)
        if blanks is None or line[blanks.end()] not in {"/", "／", self._prefix[0]}:
            return None
        word, *others = line.split(None, 1)
        rest = others[0].rstrip() if others else ""
        name = word.casefold()
        if name == self._prefix.casefold():
            return self._prefixed(word, rest)
        if self._bare and name.startswith("/") and (form := form_named(name[1:])) is not None:
            return form, word, rest
        hint = self._near(word, rest.partition(" ")[0].casefold())
        return (hint, word[:LONGEST_SHOWN], rest) if hint else None

    def _near(self, word: str, following: str) -> str:
        """Return the command that a misspelt word probably means, with the word that follows it;
        empty for all that others may mean something by.
        """
        name = word.casefold()
        prefix = self._prefix.casefold()
        if name == f"{prefix}-bot":
            # The name of the program, which is not its prefix.
            meant = f"{self._prefix} {following}" if following in NAMED else self._prefix
            return say("gate.did_you_mean", meant=meant)
        if "/" in name[1:]:
            behind = name.removeprefix(f"{prefix}/")
            meant = f"{self._prefix} {behind}"
            return say("gate.did_you_mean", meant=meant) if behind in NAMED else ""
        for joint in "-:_.":
            if name.startswith(f"{prefix}{joint}") and name[len(prefix) + 1 :] in NAMED:
                meant = f"{self._prefix} {name[len(prefix) + 1 :]}"
                return say("gate.did_you_mean", meant=meant)
        plain = _NOT_OF_A_NAME.sub("", name)
        known = (prefix[1:], *NAMED) if self._bare else (prefix[1:],)
        meant = plain if plain in known else nearest(plain, known)
        if meant is None and self._bare and name[1:] in _ENDS:
            meant = "abandon"
        if meant is None:
            return ""
        command = self._prefix if meant == prefix[1:] else f"/{meant}"
        return say("gate.did_you_mean", meant=command)

    def _prefixed(self, word: str, rest: str) -> tuple[Form | str, str, str]:
        first, *others = rest.split(None, 1) or [""]
        name = first.casefold()
        behind = others[0] if others else ""
        if (form := form_named(name)) is not None:
            return form, f"{word} {first}", behind
        if not rest or name.startswith(("--", "—", "–")):
            return START, word, rest
        meant = _meant(name, behind)
        if meant is None:
            return START, word, rest
        shown = f"{self._prefix} {meant}".strip()
        start = f"{self._prefix} -- {first[:LONGEST_SHOWN]}{' …' if behind else ''}".replace(
            "`", "'"
        )
        hint = say("gate.did_you_mean", meant=shown)
        return f"{hint} {say('gate.start_with_these_words', start=start)}", word, rest


def _meant(name: str, behind: str) -> str | None:
    """Return the command for the first word after the prefix, with what stands behind it; None if
    that word is ordinary text.
    """
    plain = _NOT_OF_A_NAME.sub("", name)
    if plain in _BUDGET and (not behind or read_amount(behind) is not None):
        return f"continue {behind or '+$5'}"
    meant = plain if plain in NAMED else nearest(plain, NAMED) or _CLEARLY.get(plain)
    if meant is not None or behind:
        return meant
    return f"approve {plain}" if _HEX.fullmatch(plain) else _ALONE.get(plain, "help")
