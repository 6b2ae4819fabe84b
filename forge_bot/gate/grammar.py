"""The commands as a table: name, what it takes, what it means, and how the rest of its line is read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from forge_bot.gate.command_types import (
    Abandon,
    Approve,
    Ask,
    Command,
    Continue,
    Cost,
    Help,
    MarkDone,
    Mistyped,
    Refresh,
    Reject,
    Resize,
    Retry,
    Size,
    Skip,
    Start,
    Status,
)
from forge_bot.gate.start_flags import read_flags

SHORTEST_DIGEST = 7
"""Characters of a digest that are enough to name a version."""

LONGEST_SHOWN = 60
"""Characters of a mistyped line that are shown again."""

_DIGEST = re.compile(rf"`?([0-9a-fA-F]{{{SHORTEST_DIGEST},64}})`?")
_PHASE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.IGNORECASE)
_MONEY = re.compile(r"\+?\s?\$?\s?(\d{1,4}(?:\.\d{1,2})?)\s?(?:\$|usd)?", re.IGNORECASE)
_SIZES: dict[str, Size] = {"s": "S", "m": "M", "l": "L"}


@dataclass(frozen=True, slots=True)
class WrittenCommand:
    """A command as somebody wrote it: its words on the line, and the lines below it that are no commands."""

    line: int
    said: str
    rest: str
    below: str
    prefix: str

    @property
    def text(self) -> str:
        """What stands behind the command and below it."""
        return f"{self.rest}\n{self.below}".strip()

    def wrong(self, hint: str) -> Mistyped:
        """The line as one that cannot be followed."""
        return Mistyped(self.line, f"{self.said} {self.rest}".strip()[:LONGEST_SHOWN], hint)


@dataclass(frozen=True, slots=True)
class Form:
    """One command. `takes` is shown behind its name; the name of the one that starts a run is empty."""

    name: str
    takes: str
    meaning: str
    read: Callable[[WrittenCommand], Command | Mistyped]
    also: tuple[str, ...] = ()

    def usage(self, prefix: str, *, bare: bool = True) -> str:
        """How it is written, for example `/approve [digest]`."""
        name = f"/{self.name}" if bare and self.name else f"{prefix} {self.name}".strip()
        return f"{name} {self.takes}".strip()


def _start(written: WrittenCommand) -> Command | Mistyped:
    flags, text, problem = read_flags(written.rest, written.prefix)
    if problem:
        return written.wrong(problem)
    return Start(
        line=written.line,
        text=f"{text}\n{written.below}".strip(),
        effort=None if flags.effort is None else _SIZES[flags.effort],
        auto=flags.auto,
        skip_pr=flags.nopr,
        debug=flags.debug,
        discuss=flags.discuss,
        budget=flags.budget,
    )


def _approve(written: WrittenCommand) -> Command | Mistyped:
    if not written.rest:
        return Approve(written.line)
    if (digest := _DIGEST.fullmatch(written.rest)) is not None:
        return Approve(written.line, digest[1].lower())
    return written.wrong(
        f"an approval takes nothing, or the version you read ({SHORTEST_DIGEST} characters of it or more). "
        f"If something should be different, write `{written.prefix} reject` and what; remarks that change nothing go on lines of their own."
    )


def _reject(written: WrittenCommand) -> Command | Mistyped:
    if not written.text:
        return written.wrong("please say what should be different, behind the command or on the lines below it.")
    return Reject(written.line, written.text)


def _ask(written: WrittenCommand) -> Command | Mistyped:
    if not written.text:
        return written.wrong("please write the question behind the command or on the lines below it.")
    return Ask(written.line, written.text)


def _retry(written: WrittenCommand) -> Command | Mistyped:
    if written.rest and not _PHASE.fullmatch(written.rest):
        return written.wrong("it takes the name of one phase, such as `phase-3`, or nothing; notes go on the lines below.")
    return Retry(written.line, written.rest.lower() or None, written.below.strip())


def _continue(written: WrittenCommand) -> Command | Mistyped:
    amount = read_money(written.rest)
    if amount is None:
        return written.wrong(f"please say how many US dollars more, for example `{written.prefix} continue +$5`.")
    return Continue(written.line, amount)


def _resize(written: WrittenCommand) -> Command | Mistyped:
    effort = _SIZES.get(written.rest.casefold())
    if effort is None:
        return written.wrong(f"it takes one of S, M and L, for example `{written.prefix} effort M`.")
    return Resize(written.line, effort)


def read_money(text: str) -> Decimal | None:
    """`+$5`, `$5`, `5`, `+5.50` or `5 USD` as an amount above nothing and below 10,000."""
    match = _MONEY.fullmatch(text)
    return Decimal(match[1]) if match is not None and Decimal(match[1]) > 0 else None


def _alone(command: Callable[[int], Command]) -> Callable[[WrittenCommand], Command | Mistyped]:
    def read(written: WrittenCommand) -> Command | Mistyped:
        if written.rest:
            name = written.said.split()[-1].lstrip("/").casefold()
            start = f"{written.prefix} -- {name} …"
            return written.wrong(f"it stands alone on its line. (To start a run with these words as its text: `{start}`.)")
        return command(written.line)

    return read


FORMS: tuple[Form, ...] = (
    Form("", "[flags] [text]", "Start a run on this issue; the text is added to the request.", _start),
    Form("approve", "[digest]", "Say yes to the version shown last, or to the one you name.", _approve),
    Form("reject", "notes", "Send it back; the notes say what should be different.", _reject, ("revise",)),
    Form("ask", "question", "Ask about the run; the answer changes nothing.", _ask),
    Form("retry", "[phase]", "Do the current phase again, or go back to the one you name; lines below are notes.", _retry),
    Form("status", "", "Show where the run stands.", _alone(Status)),
    Form("cost", "", "Show what the run has cost so far.", _alone(Cost)),
    Form("continue", "+$5", "Allow more money, and go on.", _continue),
    Form("refresh", "", "Read the issue again and work from its present text.", _alone(Refresh)),
    Form("effort", "S|M|L", "Change how much process the run gets.", _resize),
    Form("done", "", "You did what a task asked of a person.", _alone(MarkDone)),
    Form("skip", "", "Go on without what a task asked of a person.", _alone(Skip)),
    Form("abandon", "", "End the run; its branch stays.", _alone(Abandon)),
    Form("help", "", "Show this list.", _alone(Help)),
)

NAMED: dict[str, Form] = {name: form for form in FORMS if form.name for name in (form.name, *form.also)}
START = FORMS[0]
