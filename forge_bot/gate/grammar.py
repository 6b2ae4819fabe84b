"""The commands: a closed union of what a comment can hold, and the table that reads them. A row has
the name, what it takes, what it means, and how the rest of its line is read.

Thread, terminal and MCP read commands and answers with this table. It uses the standard library
only, since the gate runs before anything is installed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from forge_bot.gate.arguments import (
    NO_LIMIT,
    SHORTEST_DIGEST,
    SIZES,
    Amount,
    Size,
    read_amount,
    read_digest,
)
from forge_bot.gate.task_flags import read_task_flags
from forge_bot.gate.written_command import Mistyped, WrittenCommand

# -- what a comment can hold; each knows its line, counted from 1
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a run on this issue. The text is added to the request."""

    line: int
    text: str = ""
    effort: Size | None = None
    auto: bool = False
    skip_pr: bool = False
    debug: bool = False
    discuss: bool = False
    batch: bool = False
    budget: Amount = NO_LIMIT
    pipeline: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Approve:
    """Yes to what was shown last before the comment, or to the version that is named."""

    line: int
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """Back with notes; there are always some."""

    line: int
    notes: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about the run. It is answered in the thread and changes nothing."""

    line: int
    question: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Do a phase again, the current one if none is named."""

    line: int
    phase: str | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """Say where the run stands."""

    line: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Say what the run has cost."""

    line: int


@dataclass(frozen=True, slots=True)
class Continue:
    """Allow more money or tokens, and go on."""

    line: int
    amount: Amount


@dataclass(frozen=True, slots=True)
class Refresh:
    """Read the issue again: its text as it is now becomes the request."""

    line: int


@dataclass(frozen=True, slots=True)
class Update:
    """Merge what came to the base branch since, and verify the run again."""

    line: int


@dataclass(frozen=True, slots=True)
class Resize:
    """Change how much process the run gets."""

    line: int
    effort: Size


@dataclass(frozen=True, slots=True)
class MarkDone:
    """The task that was asked of a person has been done."""

    line: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Go on without the task that was asked of a person."""

    line: int


@dataclass(frozen=True, slots=True)
class Abandon:
    """End the run. Its branch stays."""

    line: int


@dataclass(frozen=True, slots=True)
class PostSummary:
    """Post the summary that was shown, or the version that is named. Only a terminal and a client
    are asked for it.
    """

    line: int
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """List the commands. The gate answers this one by itself."""

    line: int


Command = (
    Start
    | Approve
    | Reject
    | Ask
    | Retry
    | Status
    | Cost
    | Continue
    | Refresh
    | Update
    | Resize
    | MarkDone
    | Skip
    | Abandon
    | Help
)
AnswerCommand = Approve | Reject | MarkDone | Skip | PostSummary | Abandon
"""What answers an open question, on every face."""


# -- how it is read
# --------------------------------------------------------------------------------------------------

_Command = TypeVar("_Command", bound=Command | PostSummary)
_PHASE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One command. `takes` is shown behind its name; the name of the one that starts a run is
    empty.
    """

    name: str
    takes: str
    meaning: str
    read: Callable[[WrittenCommand], Command | Mistyped]
    also: tuple[str, ...] = ()

    def usage(self, prefix: str, *, bare: bool = True) -> str:
        """Return its form, for example `/approve [digest]`."""
        name = f"/{self.name}" if bare and self.name else f"{prefix} {self.name}".strip()
        return f"{name} {self.takes}".strip()


def _start(written: WrittenCommand) -> Command | Mistyped:
    flags = read_task_flags(written.rest)
    if flags.problems:
        return written.wrong(" ".join(flags.problems))
    return Start(
        line=written.line,
        text=f"{flags.text}\n{written.below}".strip(),
        effort=flags.effort,
        auto="auto" in flags.switches,
        skip_pr="nopr" in flags.switches,
        debug="debug" in flags.switches,
        discuss="discuss" in flags.switches,
        batch="batch" in flags.switches,
        budget=flags.budget,
        pipeline=flags.pipeline,
        scope=flags.scope or None,
    )


def _approve(written: WrittenCommand) -> Approve | Mistyped:
    return _bound(written, Approve)


def _post(written: WrittenCommand) -> PostSummary | Mistyped:
    return _bound(written, PostSummary)


def _bound(
    written: WrittenCommand, command: Callable[[int, str | None], _Command]
) -> _Command | Mistyped:
    """Read a yes to one version: nothing follows it, or the version."""
    digest = read_digest(written.rest)
    if digest is not None or not written.rest:
        return command(written.line, digest)
    return written.wrong(
        f"an approval takes nothing, or the version you read ({SHORTEST_DIGEST} characters of it or"
        f" more). If something should be different, write `{written.named('reject')}` and what;"
        " remarks that change nothing go on lines of their own."
    )


def _reject(written: WrittenCommand) -> Reject | Mistyped:
    if not written.text:
        return written.wrong(
            "please say what should be different, behind the command or on the lines below it."
        )
    return Reject(written.line, written.text)


def _rejection(written: WrittenCommand) -> Reject:
    return Reject(written.line, written.text)


def _ask(written: WrittenCommand) -> Command | Mistyped:
    if not written.text:
        return written.wrong(
            "please write the question behind the command or on the lines below it."
        )
    return Ask(written.line, written.text)


def _retry(written: WrittenCommand) -> Command | Mistyped:
    if written.rest and not _PHASE.fullmatch(written.rest):
        return written.wrong(
            "it takes the name of one phase, such as `phase-3`, or nothing; notes go on the lines"
            " below."
        )
    return Retry(written.line, written.rest.lower() or None, written.below.strip())


def _continue(written: WrittenCommand) -> Command | Mistyped:
    amount = read_amount(written.rest)
    if amount is None:
        example = f"`{written.named('continue')} +$5`"
        return written.wrong(
            "please say how many US dollars more, below 10,000, or how many tokens, from 1,000 on,"
            f" for example {example}."
        )
    return Continue(written.line, amount)


def _resize(written: WrittenCommand) -> Command | Mistyped:
    effort = SIZES.get(written.rest.casefold())
    if effort is None:
        return written.wrong(
            f"it takes one of S, M and L, for example `{written.named('effort')} M`."
        )
    return Resize(written.line, effort)


def _alone(command: Callable[[int], _Command]) -> Callable[[WrittenCommand], _Command | Mistyped]:
    def read(written: WrittenCommand) -> _Command | Mistyped:
        if written.rest:
            name = written.said.split()[-1].lstrip("/").casefold()
            start = (
                f" (To start a run with these words as its text: `{written.prefix} -- {name} …`.)"
                if written.prefix
                else ""
            )
            return written.wrong(f"it stands alone on its line.{start}")
        return command(written.line)

    return read


FORMS: tuple[Form, ...] = (
    Form("", "[flags] [text]", "Start a run on this issue; the text adds to the request.", _start),
    Form("approve", "[digest]", "Approve the version shown last, or the one you name.", _approve),
    Form("reject", "notes", "Reject it; the notes say what should change.", _reject, ("revise",)),
    Form("ask", "question", "Ask about the run; this changes nothing.", _ask),
    Form(
        "retry",
        "[phase]",
        "Repeat the current phase, or the one you name; lines below are notes.",
        _retry,
    ),
    Form("status", "", "Show where the run stands.", _alone(Status)),
    Form("cost", "", "Show what the run has cost so far.", _alone(Cost)),
    Form("continue", "+$5", "Allow more money, or `20000 tokens`, and continue.", _continue),
    Form("refresh", "", "Read the issue again and work from its new text.", _alone(Refresh)),
    Form("update", "", "Merge the base branch, verify again, and push.", _alone(Update)),
    Form("effort", "S|M|L", "Change how much process the run gets.", _resize),
    Form("done", "", "Mark a manual task as done.", _alone(MarkDone)),
    Form("skip", "", "Skip a manual task and continue.", _alone(Skip)),
    Form("abandon", "", "End the run; its branch stays.", _alone(Abandon)),
    Form("help", "", "Show this list.", _alone(Help)),
)

NAMED: dict[str, Form] = {
    name: form for form in FORMS if form.name for name in (form.name, *form.also)
}
START = FORMS[0]
_BEFORE_NOTES = (NAMED["reject"], NAMED["ask"])


def form_named(word: str) -> Form | None:
    """Return the command of this name, in lower case. A colon may follow one that takes notes:
    `reject: too long`.
    """
    form = NAMED.get(word.removesuffix(":"))
    return form if word in NAMED or form in _BEFORE_NOTES else None


ANSWERS: dict[str, Callable[[WrittenCommand], AnswerCommand | Mistyped]] = {
    "approve": _approve,
    "reject": _rejection,
    "revise": _rejection,
    "done": _alone(MarkDone),
    "skip": _alone(Skip),
    "post": _post,
    "abandon": _alone(Abandon),
}
"""What answers an open question. `post` is only asked for by a terminal and a client: in a thread
the bot says the result itself."""
