"""The values that travel between terminal, workflow and activities, and stay in the history.

They name places and commits. Reports travel, since the workflow folds them; the state, prompts,
documents, code and keys do not.
"""

from pydantic import Field, ValidationError
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from forge_bot.agent.actions_wanted import WantedAction
from forge_bot.agent.capabilities import CapabilityType
from forge_bot.bot.worker_messages import WorkerStopped, stopped_by
from forge_bot.errors import ForgeError, RateLimited, TemporalWorkerDiffers
from forge_bot.runs.run_steps import ACTIVITY_OF_ACTION, AGENTS, PUBLISH
from forge_bot.temporal.thread_payloads import VisitDone, VisitStep
from forge_bot.values import Frozen, PhaseId

_PUBLISHING = frozenset({"take_up", "news", "record", "finish", PUBLISH})
"""Activities without a model and without the sandbox: recording, pushing and publishing."""

STEPS = (
    AGENTS,
    *ACTIVITY_OF_ACTION.values(),
    "setup",
    "checks",
    "apply_patch",
    "write_document",
    "pipeline_step",
    PUBLISH,
)
"""Names of the activities that perform an action, or one step of it."""


class RunBegin(Frozen):
    """The input of the workflow of a run."""

    repository: str = Field(description="folder of the clone, on the machine of its workers")
    run: str
    queue: str = Field(description="task queue of the workers that have this clone")
    model: str | None = None
    push: bool = Field(default=False, description="push each report before the next step")
    open_pr: bool = False
    post: bool = Field(default=False, description="ask whether the summary goes to the issue")
    until: str = Field(default="", description="phase after which the workflow ends")
    heartbeat_seconds: float = Field(description="silence after which a worker counts as lost")
    shown_as: str = Field(
        default="", description="the repository in the server's list; empty if it has no attributes"
    )


class StepOrder(Frozen):
    """One step for a worker, of the run as the workflow knows it."""

    begin: RunBegin
    commit: str = Field(default="", description="the newest commit that the workflow knows")
    known: int = Field(default=0, description="reports that the workflow knows")
    action_id: str = ""
    step: str = ""
    key: str = Field(default="", description="the place of an agent's action in the journal")
    first: bool = Field(default=True, description="the first step of its action")
    report: str = Field(default="", description="a person's report, to be recorded")

    @property
    def queue(self) -> str:
        """The task queue of the workers that may take this step."""
        queue = self.begin.queue
        return publishing_queue(queue) if self.step in _PUBLISHING else queue


class StepDone(Frozen):
    """The result of a step: the newly recorded reports of the branch."""

    commit: str
    reports: tuple[str, ...] = Field(default=(), description="those the workflow did not know")
    more: bool = Field(default=False, description="there are more of them than one message takes")
    then: str = Field(default="", description="the next step of the same action")
    actions: tuple[WantedAction, ...] = Field(
        default=(), description="actions of agents that this next step consists of"
    )
    outcome: str = Field(default="", description="what came of an action")
    unpushed: bool = Field(default=False, description="its worker may not push; another one does")
    pipeline: str = Field(default="", description="the pipeline, when a run is taken up")


class ActionWorkflowInput(Frozen):
    """The input of the workflow of an action. The worker reads arguments and configuration from its
    own machine.
    """

    action: WantedAction
    order: StepOrder | VisitStep


class ActionResult(Frozen):
    """The outcome of an action. Its text stays in the journal, or in a document of the run."""

    capability: str
    capability_type: CapabilityType
    outcome: str
    success: bool


class ActionWorkflowResult(Frozen):
    """The result of the workflow of an action, and the newly recorded reports of the branch."""

    result: ActionResult
    done: StepDone | VisitDone


class RunStanding(Frozen):
    """The state of a run, for clients that follow it."""

    ready: bool = False
    known: int = 0
    commit: str = ""
    action_id: str = ""
    phase: PhaseId = PhaseId("")
    label: str = ""
    step: str = ""
    asks: bool = Field(default=False, description="a person is asked")
    over: bool = False
    stopped_after: PhaseId = Field(
        default=PhaseId(""), description="the last phase that was wanted, once it is over"
    )
    trouble: WorkerStopped | None = Field(default=None, description="why the work stands still")
    again: int = Field(default=0, description="seconds after which it is tried again by itself")


def publishing_queue(queue: str) -> str:
    """Return the queue of the workers that push and publish for a clone."""
    return f"{queue}-publishing"


_UNNAMED = 60
"""Seconds to wait if GitHub names no time."""

_SOON = 10
"""Seconds in which an activity is tried again by itself."""


def seconds_to_wait(stop: WorkerStopped) -> int:
    """Return the seconds for which GitHub or a provider asks to wait; 0 without such a limit."""
    if stop.code == RateLimited.code:
        return stop.seconds if stop.seconds is not None else _UNNAMED
    seconds = (stop.trouble.seconds if stop.trouble is not None else None) or 0
    return seconds if seconds > _SOON else 0


def as_failure(stop: WorkerStopped, *, passing: bool = False) -> ApplicationError:
    """Return the failure that carries an error over the server. `passing`: it is tried again, at
    once unless that was asked not to be done.
    """
    again = passing and not seconds_to_wait(stop)
    # Benign: our own words say it, and the library prints no traceback above them.
    return ApplicationError(
        stop.message,
        stop.model_dump_json(),
        type=stop.code,
        non_retryable=not again,
        category=ApplicationErrorCategory.BENIGN,
    )


def _of_another_version(cause: ApplicationError) -> bool:
    """Return whether Temporal's own library failed, on a step or an input that it does not know."""
    return cause.type == "NotFoundError" or cause.message.startswith("Failed decoding arguments")


def stop_in(cause: BaseException | None) -> tuple[WorkerStopped, bool]:
    """Return the error that a failure carries, and whether its reason can go away by itself."""
    if isinstance(cause, ApplicationError) and cause.details:
        try:
            stop = WorkerStopped.model_validate_json(str(cause.details[0]))
        except ValidationError:
            pass
        else:
            return stop, not cause.non_retryable or seconds_to_wait(stop) > 0
    if isinstance(cause, ApplicationError) and _of_another_version(cause):
        message = f"A worker of another version of forge-bot cannot take this step: {cause.message}"
        return stopped_by(TemporalWorkerDiffers(message)), False
    message = f"The worker was lost: {cause}." if cause is not None else "The worker was lost."
    return WorkerStopped(code=ForgeError.code, message=message, exit_code=1), True
