"""The commands as a table: name, what it takes, what it means, and how the rest of its line is
read.

Thread, terminal and MCP read commands and answers with this table. It uses the standard library
only, since the gate runs before anything is installed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from forge_bot.gate.arguments import (
    SHORTEST_DIGEST,
    SIZES,
    read_amount,
    read_digest,
)
from forge_bot.gate.command_types import (
    Abandon,
    AnswerCommand,
    Approve,
    Ask,
    Command,
    Continue,
    Cost,
    Help,
    MarkDone,
    Mistyped,
    PostSummary,
    Refresh,
    Reject,
    Resize,
    Retry,
    Skip,
    Start,
    Status,
    Update,
)
from forge_bot.gate.similar_words import nearest
from forge_bot.gate.task_flags import read_task_flags

_Command = TypeVar("_Command", bound=Command | PostSummary)

LONGEST_SHOWN = 60
"""Characters of a mistyped line that are shown again."""

_PHASE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenCommand:
    """A command as somebody wrote it: its words on the line, and the lines below it that are no
    commands.
    """

    line: int
    said: str
    rest: str
    below: str
    prefix: str

    @property
    def text(self) -> str:
        """Return the text behind the command and below it."""
        return f"{self.rest}\n{self.below}".strip()

    def named(self, command: str) -> str:
        """Another command as it is written on this face, for example `/forge reject`."""
        return f"{self.prefix} {command}".strip()

    def wrong(self, hint: str) -> Mistyped:
        """The line as one that cannot be followed."""
        return Mistyped(self.line, f"{self.said} {self.rest}".strip()[:LONGEST_SHOWN], hint)


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
    Form(
        "approve",
        "[digest]",
        "Approve the version shown last, or the one you name.",
        _approve,
    ),
    Form(
        "reject",
        "notes",
        "Reject it; the notes say what should change.",
        _reject,
        ("revise",),
    ),
    Form("ask", "question", "Ask about the run; this changes nothing.", _ask),
    Form(
        "retry",
        "[phase]",
        "Repeat the current phase, or the one you name; lines below are notes.",
        _retry,
    ),
    Form("status", "", "Show where the run stands.", _alone(Status)),
    Form("cost", "", "Show what the run has cost so far.", _alone(Cost)),
    Form(
        "continue",
        "+$5",
        "Allow more money, or `20000 tokens`, and continue.",
        _continue,
    ),
    Form("refresh", "", "Read the issue again and work from its new text.", _alone(Refresh)),
    Form(
        "update",
        "",
        "Merge the base branch, verify again, and push.",
        _alone(Update),
    ),
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


def read_answer(text: str, prefix: str = "") -> AnswerCommand | Mistyped:
    """Read an answer that was typed at a question, such as `approve 1a2b3c4` or `revise shorter`.

    The words are those of a comment: `approved` is a typo, never a yes. A slash before the word is
    allowed, and a colon after `reject`. A rejection may come without notes: a terminal asks for
    them, and the engine refuses it.
    """
    first, _, below = text.strip().partition("\n")
    word, *others = first.split(None, 1) or [""]
    name = word.casefold().removeprefix("/")
    form = form_named(name)
    name = name.removesuffix(":") if form is not None else name
    written = WrittenCommand(1, word, others[0].rstrip() if others else "", below.rstrip(), prefix)
    if name not in ANSWERS:
        return written.wrong(_meant_answer(name))
    if written.below and ANSWERS[name] is not _rejection:
        return written.wrong(f"nothing may follow `{name}`.")
    return ANSWERS[name](written)


def _meant_answer(name: str) -> str:
    plain = re.sub(r"[^\w]|_", "", name)
    meant = plain if plain in ANSWERS else nearest(plain, ANSWERS)
    return f"did you mean `{meant}`?" if meant else "that is none of the answers."
