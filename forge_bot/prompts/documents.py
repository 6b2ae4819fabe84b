"""The pull request of a run that nobody has opened yet: facts to Markdown for GitHub."""

import shlex
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import Field

from forge_bot.prompts import escape
from forge_bot.values import CommandResult, Frozen, Usage, Verdict

if TYPE_CHECKING:
    from forge_bot.prompts.environment import Environment

MAX_BODY = 60_000
"""The maximum characters of a body.

GitHub refuses comments and pull requests above 65,536; the rest is reserved for text that a host
adds.
"""


class Requirement(Frozen):
    """One requirement, and the place where it is met."""

    text: str
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    state: str = ""


class Review(Frozen):
    """The outcome of a review."""

    label: str
    verdict: Verdict
    rounds: int = 1
    findings: int = Field(default=0, description="findings that are still open")


class AnsweredCheckpoint(Frozen):
    """A checkpoint and the person who answered it."""

    label: str
    answer: str
    by: str
    via: str
    digest: str
    notes: str = ""


class PullRequestFacts(Frozen):
    """The facts that a pull request states."""

    title: str
    why: tuple[str, ...] = Field(max_length=3, description="what and why, a sentence a line")
    issue: int | None = Field(default=None, description="the issue that merging closes")
    warnings: tuple[str, ...] = Field(default=(), description="what a reviewer has to know first: red commands, accepted risks")
    requirements: tuple[Requirement, ...] = ()
    reviews: tuple[Review, ...] = ()
    commands: tuple[CommandResult, ...] = ()
    answers: tuple[AnsweredCheckpoint, ...] = ()
    usage: Usage
    workspace: str


class PullRequestBody(Frozen):
    """A pull request in GitHub's form."""

    title: str
    body: str


def pull_request(facts: PullRequestFacts) -> PullRequestBody:
    """Return title and body. The body is cut at MAX_BODY."""
    title, _, body = _environment().render("pull_request.md.j2", facts).strip().partition("\n")
    return PullRequestBody(title=title, body=_within(body.strip()) + "\n")


def _within(body: str) -> str:
    said = "\n\n… cut here: the text is longer than GitHub takes."
    return body if len(body) <= MAX_BODY else body[: MAX_BODY - len(said)] + said


class _Ready(str):
    """Markdown that is already harmless."""

    __slots__ = ()


@cache
def _environment() -> "Environment":
    # A caller that only needs the pull request's words does not wait for templates.
    from forge_bot.prompts.environment import Environment

    filters: dict[str, Callable[..., str]] = {
        "cell": _cell,
        "code": _code,
        "command": _command,
        "heading": _heading,
        "money": _money,
        "thousands": _thousands,
    }
    return Environment(folder="documents", filters=filters, finalize=_harmless)


def _cell(text: str) -> _Ready:
    return _Ready(text.replace("|", "\\|") if isinstance(text, _Ready) else escape.cell(text))


def _code(text: str) -> _Ready:
    return _Ready(escape.code(text))


def _command(argv: list[str]) -> _Ready:
    return _code(shlex.join(argv))


def _heading(text: str) -> _Ready:
    return _Ready(escape.heading(text))


def _money(amount: str) -> _Ready:
    return _Ready(f"${Decimal(amount):.2f}")


def _thousands(number: int) -> str:
    return f"{number:,}"


def _harmless(value: Any) -> Any:
    """Escape a value that a template prints without a filter, since its origin is unknown."""
    return value if isinstance(value, int | float | _Ready) else escape.line(str(value))
