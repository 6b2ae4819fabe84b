"""The commands: a closed union of the commands in a comment, and the table that reads them.

A row has the name, the arguments, the meaning, and the reader of the rest of the line. Thread,
terminal and MCP read commands and answers with this table. It uses the standard library only, since
the gate runs before anything is installed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from forge_bot.gate.arguments import SHORTEST_DIGEST, SIZES, Amount, Size, read_amount, read_digest
from forge_bot.gate.flags import Approve, Start, read_approval, read_task_flags
from forge_bot.sentences import say

LONGEST_SHOWN = 60
"""Characters of a mistyped line that are shown again."""


@dataclass(frozen=True, slots=True)
class Mistyped:
    """A line that was meant as a command and is none. The hint is one sentence of Markdown."""

    written: str
    hint: str


class Misplaced(Mistyped):
    """A line that would be a command in the first line of its comment. It is none here."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WrittenCommand:
    """A command as somebody wrote it: its words, and its author's own lines below it."""

    words: str
    rest: str
    below: str
    prefix: str

    @property
    def text(self) -> str:
        """Return the text behind the command and below it."""
        return f"{self.rest}\n{self.below}".strip()

    def named(self, command: str) -> str:
        """Return another command as it is written here: `/forge reject`, at a terminal `reject`."""
        return f"{self.prefix} {command}".strip()

    def wrong(self, hint: str) -> Mistyped:
        """Return the line as one that cannot be followed."""
        return Mistyped(f"{self.words} {self.rest}".strip()[:LONGEST_SHOWN], hint)


# -- what a comment can hold
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    """A command without arguments."""


@dataclass(frozen=True, slots=True)
class Reject:
    """Back with notes; there are always some."""

    notes: str


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """The answer to an agent's question, in a person's words."""

    notes: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about the run. It is answered in the thread and changes nothing."""

    question: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Do a phase again, the current one if none is named."""

    phase: str | None = None
    notes: str = ""


class Status(_Word):
    """Say where the run stands, and what it has cost."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Allow more money or tokens, and go on."""

    amount: Amount


class Refresh(_Word):
    """Read the issue again: its text as it is now becomes the request."""


class Update(_Word):
    """Merge what came to the base branch since, and verify the run again."""


@dataclass(frozen=True, slots=True)
class Resize:
    """Change how much process the run gets."""

    effort: Size


class MarkDone(_Word):
    """The task that was asked of a person has been done."""


class Skip(_Word):
    """Go on without the task that was asked of a person."""


class Abandon(_Word):
    """End the run. Its branch stays."""


@dataclass(frozen=True, slots=True)
class PostSummary:
    """Post the summary that was shown, or the version that is named. Only a terminal and a client
    are asked for it.
    """

    digest: str | None = None


class Help(_Word):
    """List the commands. The gate answers this one by itself."""


Command = (
    Start
    | Approve
    | Reject
    | AnswerQuestion
    | Ask
    | Retry
    | Status
    | Continue
    | Refresh
    | Update
    | Resize
    | MarkDone
    | Skip
    | Abandon
    | Help
)
AnswerCommand = Approve | Reject | AnswerQuestion | MarkDone | Skip | PostSummary | Abandon
"""The commands that answer an open question, on every face."""

RunCommand = AnswerCommand | Retry | Continue | Update | Resize
"""The commands that are given to a run, on every face."""


# -- how it is read
# --------------------------------------------------------------------------------------------------

_Command = TypeVar("_Command", bound=Command | PostSummary)
_WITH_LINKS = re.compile(r"with\s+((?:https?://\S+(?:\s+|$))+)", re.IGNORECASE)
_PHASE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One command.

    `takes` is shown behind its name. The command that starts a run has an empty name.
    `takes_notes`: the lines below are read, too.
    """

    name: str
    takes: str
    read: Callable[[WrittenCommand], Command | Mistyped]
    takes_notes: bool = False

    @property
    def meaning(self) -> str:
        """Return the sentence on its effect."""
        return say(f"commands.{self.name or 'forge'}")

    def usage(self, prefix: str, *, bare: bool = True) -> str:
        """Return its form, for example `/approve [digest]`."""
        name = f"/{self.name}" if bare and self.name else f"{prefix} {self.name}".strip()
        return f"{name} {self.takes}".strip()


def _start(written: WrittenCommand) -> Command | Mistyped:
    # The terminal's help shows this grammar, and needs nothing of GitHub.
    from forge_bot.forge import COMMENT_LINK

    before, rest = _links_behind_with(written.rest)
    task, problems = read_task_flags(rest)
    if problems:
        return written.wrong(" ".join(problems))
    behind, text = _links_behind_with(task.text)
    taken = (*before, *behind)
    if not all(map(COMMENT_LINK.fullmatch, taken)):
        return written.wrong(say("gate.grammar.takes_links_of_comments"))
    return replace(task, text=f"{text}\n{written.below}".strip(), taken=taken)


def _links_behind_with(text: str) -> tuple[tuple[str, ...], str]:
    """Return the addresses behind a `with` that the words begin with, and the words after them."""
    match = _WITH_LINKS.match(text)
    return (tuple(match[1].split()), text[match.end() :]) if match else ((), text)


def _approve(written: WrittenCommand) -> Approve | Mistyped:
    approval = read_approval(written.rest)
    if isinstance(approval, Approve):
        return approval
    return written.wrong(approval or _lines_to_copy(written))


def _lines_to_copy(written: WrittenCommand) -> str:
    """Return what may follow an approval, with the three lines that may have been meant."""
    words = " ".join(re.sub(r"[^\w\s.:'-]", " ", written.rest[: 2 * LONGEST_SHOWN]).split())
    words = words if 0 < len(words) <= LONGEST_SHOWN else "…"
    return say(
        "gate.grammar.approval_takes",
        characters=SHORTEST_DIGEST,
        approve=written.named("approve"),
        condition=f"{written.named('approve')} with {words}",
        reject=f"{written.named('reject')} {words}",
    )


def _post(written: WrittenCommand) -> PostSummary | Mistyped:
    digest = read_digest(written.rest)
    if digest is not None or not written.rest:
        return PostSummary(digest)
    return written.wrong(say("gate.grammar.post_takes", characters=SHORTEST_DIGEST))


def _with_text(
    command: Callable[[str], _Command], lacking: str = ""
) -> Callable[[WrittenCommand], _Command | Mistyped]:
    """Return the reader of a command with text; without any, the sentence `lacking` is the hint, if
    it is named.
    """

    def read(written: WrittenCommand) -> _Command | Mistyped:
        if lacking and not written.text:
            return written.wrong(say(lacking))
        return command(written.text)

    return read


def _retry(written: WrittenCommand) -> Retry | Mistyped:
    if written.rest and not _PHASE.fullmatch(written.rest):
        return written.wrong(say("gate.grammar.takes_a_phase"))
    return Retry(written.rest.lower() or None, written.below.strip())


def _continue(written: WrittenCommand) -> Continue | Mistyped:
    amount = read_amount(written.rest)
    if amount is None:
        return written.wrong(
            say("gate.grammar.say_how_much_more", command=written.named("continue"))
        )
    return Continue(amount)


def _resize(written: WrittenCommand) -> Resize | Mistyped:
    effort = SIZES.get(written.rest.casefold())
    if effort is None:
        return written.wrong(say("gate.grammar.takes_an_effort", command=written.named("effort")))
    return Resize(effort)


def _alone(command: Callable[[], _Command]) -> Callable[[WrittenCommand], _Command | Mistyped]:
    def read(written: WrittenCommand) -> _Command | Mistyped:
        alone = say("gate.grammar.stands_alone")
        return written.wrong(alone) if written.rest else command()

    return read


FORMS: tuple[Form, ...] = (
    Form("", "[flags] [text]", _start, takes_notes=True),
    Form("approve", "[digest] [2a] [with words]", _approve),
    Form("reject", "notes", _with_text(Reject, "gate.grammar.say_what_should_change"), True),
    Form("answer", "words", _with_text(AnswerQuestion, "gate.grammar.write_the_answer"), True),
    Form("ask", "question", _with_text(Ask, "gate.grammar.write_the_question"), True),
    Form("retry", "[phase]", _retry, takes_notes=True),
    Form("status", "", _alone(Status)),
    Form("continue", "+$5", _continue),
    Form("refresh", "", _alone(Refresh)),
    Form("update", "", _alone(Update)),
    Form("effort", "S|M|L", _resize),
    Form("done", "", _alone(MarkDone)),
    Form("skip", "", _alone(Skip)),
    Form("abandon", "", _alone(Abandon)),
    Form("help", "", _alone(Help)),
)

NAMED: dict[str, Form] = {form.name: form for form in FORMS if form.name}
START = FORMS[0]
TALK = (Ask, Help, Status)
"""Commands that ask for no work on the change."""

ANSWERS: dict[str, Callable[[WrittenCommand], AnswerCommand | Mistyped]] = {
    "approve": _approve,
    "reject": _with_text(Reject),
    "answer": _with_text(AnswerQuestion),
    "done": _alone(MarkDone),
    "skip": _alone(Skip),
    "post": _post,
    "abandon": _alone(Abandon),
}
"""What answers an open question. `post` is only asked for by a terminal and a client: in a thread
the bot says the result itself."""

RUN_COMMANDS: dict[str, Callable[[WrittenCommand], RunCommand | Mistyped]] = {
    **ANSWERS,
    "retry": _retry,
    "continue": _continue,
    "update": _alone(Update),
    "effort": _resize,
}
"""What is given to a run. A terminal and MCP take each of them by its name."""
