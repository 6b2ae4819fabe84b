"""The data that pass between the job with the token and the job with the model.

The supervisor writes a `JobRequest`, which travels as the output of a job. The worker's job writes
a `JobResult` into a folder, beside a bundle of commits. Nothing of that is trusted before it was
inspected.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from forge_bot.bot.thread import ThreadCommand
from forge_bot.bot.worker_messages import WorkerStopped
from forge_bot.errors import NothingDelivered, NotInAction
from forge_bot.gate import grammar
from forge_bot.git import Repository
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.values import Frozen

COMMITS = "commits.bundle"
TOLD = "delivered.json"
_MOST_QUESTIONS = 5
_LONGEST_QUESTION = 8_000
_LARGEST = 1_000_000


class JobQuestion(Frozen):
    """A question about the run, and the comment that holds it."""

    text: str
    by: str
    via: str
    key: str
    comment: int


class JobRequest(Frozen):
    """The work of a worker: answer these questions, then continue the run from this commit."""

    v: int = 1
    run: str
    branch: str
    commit: str
    questions: tuple[JobQuestion, ...] = ()


class QuestionAnswered(Frozen):
    """A model's answer to a question, or the reason why there is none."""

    key: str
    text: str = Field(default="", max_length=40_000)
    stopped: WorkerStopped = WorkerStopped()


class JobResult(Frozen):
    """The result of a worker's job."""

    v: int = 1
    head: str = Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")
    answers: tuple[QuestionAnswered, ...] = ()
    stopped: WorkerStopped = WorkerStopped()


class JobHandoff:
    """Writes a request for a worker on another machine instead of starting one; then the supervisor
    ends.

    With `last`, no worker follows this supervisor, and people are told how to continue.
    """

    def __init__(self, *, last: bool = False) -> None:
        self.last = last
        self.handed: JobRequest | None = None

    def hand_over(
        self, repository: Repository, info: RunInfo, questions: Sequence[ThreadCommand]
    ) -> None:
        """Write the request for the other machine. Everything is on the remote, so a worker can
        start there. Questions beyond the first few are left for the next job.
        """
        asked = tuple(_question(spoken) for spoken in questions[:_MOST_QUESTIONS])
        commit = repository.commit_id(f"refs/heads/{info.branch}")
        self.handed = JobRequest(run=info.name, branch=info.branch, commit=commit, questions=asked)


def _question(spoken: ThreadCommand) -> JobQuestion:
    command = spoken.command
    text = command.question if isinstance(command, grammar.Ask) else ""
    return JobQuestion(
        text=text[:_LONGEST_QUESTION],
        by=spoken.by,
        via=spoken.comment.url,
        key=spoken.key,
        comment=spoken.comment.id,
    )


def handed(environ: Mapping[str, str]) -> JobRequest:
    """Return the request from the supervisor. Raises NotInAction."""
    try:
        return JobRequest.model_validate_json(environ.get("FORGE_BOT_HANDED", ""))
    except ValidationError:
        hint = "It is the output `handed` of the part hear, or of the part publish before."
        raise NotInAction(
            "FORGE_BOT_HANDED is not what a supervisor hands over.", hint=hint
        ) from None


def delivered(folder: Path) -> JobResult:
    """Return the result from the other machine. Raises NothingDelivered."""
    file = folder / TOLD
    if not file.is_file() or file.stat().st_size > _LARGEST:
        raise NothingDelivered("The job that works delivered nothing.")
    try:
        return JobResult.model_validate_json(file.read_bytes())
    except ValidationError:
        raise NothingDelivered("What the job that works delivered cannot be read.") from None
