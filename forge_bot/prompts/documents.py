"""What people read: the pull request, and the question at a checkpoint. Facts in, Markdown for GitHub out."""

import shlex
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from pydantic import Field

from forge_bot.engine.values import CommandResult, Finding, Frozen, Usage, Verdict
from forge_bot.prompts import quiet
from forge_bot.prompts.environment import Environment

MAX_BODY = 60_000
"""Characters of a body. GitHub refuses comments and pull requests above 65,536; the rest is for what a host puts around it."""

_AROUND = 300
"""Characters set aside for the frame of one document, and for the sentence that it was cut."""


class Requirement(Frozen):
    """One thing that was asked for, and where it is met."""

    text: str
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    state: str = ""


class Review(Frozen):
    """How a review ended."""

    label: str
    verdict: Verdict
    rounds: int = 1
    findings: int = Field(default=0, description="findings that are still open")


class Answered(Frozen):
    """A checkpoint, and who answered it."""

    label: str
    answer: str
    by: str
    via: str
    digest: str
    notes: str = ""


class PullRequest(Frozen):
    """Everything a pull request says."""

    title: str
    why: tuple[str, ...] = Field(max_length=3, description="what and why, a sentence a line")
    issue: int | None = Field(default=None, description="the issue that merging closes")
    warnings: tuple[str, ...] = Field(default=(), description="what a reviewer has to know first: red commands, accepted risks")
    requirements: tuple[Requirement, ...] = ()
    reviews: tuple[Review, ...] = ()
    commands: tuple[CommandResult, ...] = ()
    answers: tuple[Answered, ...] = ()
    usage: Usage
    workspace: str


class Written(Frozen):
    """A pull request as GitHub takes it."""

    title: str
    body: str


class Option(Frozen):
    """An answer a person can give."""

    answer: str = Field(description="as it has to be typed")
    effect: str


class Exhibit(Frozen):
    """A document at a checkpoint."""

    name: str
    text: str
    url: str = ""
    missing: int = Field(default=0, description="characters that found no room; filled in when the checkpoint is rendered")


class Checkpoint(Frozen):
    """A question to a person."""

    label: str
    decision: tuple[str, ...] = Field(max_length=3, description="what is to be decided, a sentence a line")
    flags: tuple[str, ...] = Field(default=(), description="risks, the worst first")
    findings: tuple[Finding, ...] = Field(default=(), description="what reviews left open")
    difference: str = Field(default="", description="what changed since the version shown last, as a diff")
    digest: str
    options: tuple[Option, ...]
    exhibits: tuple[Exhibit, ...] = ()
    removed: str = Field(default="", description="the sentence on hidden text that was taken out of the request")
    usage: Usage | None = None


def pull_request(facts: PullRequest) -> Written:
    """Title and body. The body is cut at MAX_BODY."""
    title, _, body = _environment().render("pull_request.md.j2", facts).strip().partition("\n")
    return Written(title=title, body=_within(body.strip()) + "\n")


def checkpoint(facts: Checkpoint) -> str:
    """The question. Documents are shown as far as there is room, in the order given; what is cut is said."""
    room = MAX_BODY - len(_rendered(facts, ()))
    exhibits: list[Exhibit] = []
    for each in facts.exhibits:
        kept = each.text[: max(0, room - _AROUND)]
        room -= len(kept) + _AROUND
        exhibits.append(each.model_copy(update={"text": kept, "missing": len(each.text) - len(kept)}))
    return _within(_rendered(facts, tuple(exhibits))) + "\n"


def _rendered(facts: Checkpoint, exhibits: tuple[Exhibit, ...]) -> str:
    return _environment().render("checkpoint.md.j2", facts.model_copy(update={"exhibits": exhibits})).strip()


def _within(body: str) -> str:
    said = "\n\n… cut here: the text is longer than GitHub takes."
    return body if len(body) <= MAX_BODY else body[: MAX_BODY - len(said)] + said


@cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., str]] = {
        "cell": quiet.cell,
        "code": quiet.code,
        "command": _command,
        "document": quiet.block,
        "fenced": quiet.fenced,
        "heading": quiet.heading,
        "money": _money,
        "thousands": _thousands,
    }
    return Environment(folder="documents", filters=filters, finalize=_harmless)


def _command(argv: list[str]) -> str:
    return quiet.code(shlex.join(argv))


def _money(amount: str) -> str:
    return f"${Decimal(amount):.2f}"


def _thousands(number: int) -> str:
    return f"{number:,}"


def _harmless(value: Any) -> Any:
    """Whatever a template prints without saying how is prose of unknown origin."""
    return value if isinstance(value, int | float) else quiet.line(value if isinstance(value, quiet.Ready) else str(value))
