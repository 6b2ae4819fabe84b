"""The messages of a worker to its supervisor: one JSON object in each line, each of a closed union.
The supervisor believes nothing else of a worker.
"""

import os
import sys
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from forge_bot import errors
from forge_bot.remedies import ModelTrouble, Remedy
from forge_bot.runs.notifications import Notice, log_line
from forge_bot.sentences import hint_of
from forge_bot.values import Frozen

LONGEST_LINE = 200_000
GO_ON = "go on\n"
"""The supervisor's answer once handed files are recorded, and the commit is on the remote. A worker
stops at the end of its input.
"""


ObjectId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class WorkerQuestion(Frozen):
    """A person's question about the run, and its place; its key is that of its report."""

    text: str = Field(max_length=8_000)
    by: str
    via: str
    key: str


class HandedOver(Frozen):
    """Files for a commit, with the report that they hold, as the id of a tree. The worker waits for
    an answer.
    """

    kind: Literal["handed-over"] = "handed-over"
    files: ObjectId


class LogMessage(Frozen):
    """A line for the log of the job."""

    kind: Literal["log"] = "log"
    text: str = Field(max_length=2_000)
    level: Literal["note", "warning"] = "note"


class WorkerStopped(Frozen):
    """The worker has nothing more to do, was cancelled, or cannot go on. `code` names the error, if
    it was one.
    """

    kind: Literal["stopped"] = "stopped"
    code: str = ""
    message: str = Field(default="", max_length=8_000)
    hint: str = Field(default="", max_length=2_000)
    exit_code: int = Field(default=0, ge=0, le=6)
    cancelled: bool = False
    answer: str = Field(default="", max_length=40_000)
    """A model's answer to a person's question, as Markdown that nobody has checked."""
    remedy: Remedy | None = None
    trouble: ModelTrouble | None = None
    seconds: int | None = Field(default=None, ge=0)
    """The seconds that GitHub asks to wait."""


CANCELLED = WorkerStopped(cancelled=True, exit_code=1)

AnyMessage = HandedOver | LogMessage | WorkerStopped
Message = Annotated[AnyMessage, Field(discriminator="kind")]
_MESSAGE: TypeAdapter[AnyMessage] = TypeAdapter(Message)


def read_message(line: bytes) -> AnyMessage | None:
    """Return the message in a line. None means that the worker is broken, or that something else
    writes in its place.
    """
    if len(line) > LONGEST_LINE:
        return None
    try:
        return _MESSAGE.validate_json(line)
    except ValidationError:
        return None


def written(message: AnyMessage) -> str:
    """The line for a message."""
    return message.model_dump_json() + "\n"


def stopped_by(error: errors.ForgeError) -> WorkerStopped:
    """Return the message for an error."""
    return WorkerStopped(
        code=error.code,
        message=error.message[:8_000],
        hint=hint_of(error)[:2_000],
        exit_code=error.exit_code,
        remedy=error.remedy,
        trouble=error.trouble if isinstance(error, errors.ModelUnavailable) else None,
        seconds=error.seconds if isinstance(error, errors.RateLimited) else None,
    )


def as_error(stopped: WorkerStopped) -> errors.ForgeError:
    """Return a worker's error, as the class that it was."""
    kind = errors.registry().get(stopped.code, errors.ForgeError)
    message, hint = stopped.message or "The worker failed.", stopped.hint or None
    if issubclass(kind, errors.ModelUnavailable):
        return kind(message, trouble=stopped.trouble, hint=hint, remedy=stopped.remedy)
    if issubclass(kind, errors.RateLimited):
        return kind(message, seconds=stopped.seconds, hint=hint)
    error = kind(message, hint=hint)
    if stopped.remedy is not None:
        error.hint_name, error.remedy = "", stopped.remedy
    return error


class Cancelled(Exception):
    """The supervisor asked the worker to stop."""


class Outbox:
    """The worker's side of the connection to its supervisor: its messages, and its waits. Nothing
    else may be written to the stream.
    """

    def __init__(self) -> None:
        self._to = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
        # Whatever a library prints goes to the log.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(self, message: AnyMessage) -> None:
        self._to.write(written(message))
        self._to.flush()

    def hand_over(self, files: str) -> None:
        """Hand the files of a commit over, and wait until it is on the remote. Raises Cancelled."""
        self.send(HandedOver(files=files))
        if sys.stdin.readline() != GO_ON:
            raise Cancelled

    def tell(self, notice: Notice) -> None:
        """Pass a notice on to the log of the job."""
        if (line := log_line(notice)) is not None:
            self.send(LogMessage(text=line.text[:2_000], level=line.kind))
