"""Ways out of an error, as values: a face words each of them in its own commands. The standard
library only, for the gate.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the run."""

    kind: Literal["resume"] = "resume"


@dataclass(frozen=True, slots=True)
class StartRun:
    """Start a new run; `task` is an example."""

    task: str = "…"
    kind: Literal["start-run"] = "start-run"


@dataclass(frozen=True, slots=True)
class ListRuns:
    """See which runs there are."""

    kind: Literal["list-runs"] = "list-runs"


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """See where the run stands, its documents and its phases."""

    kind: Literal["show-status"] = "show-status"


@dataclass(frozen=True, slots=True)
class ReadHelp:
    """See what a command takes."""

    kind: Literal["read-help"] = "read-help"


@dataclass(frozen=True, slots=True)
class RejectWithNotes:
    """Say what should be different."""

    kind: Literal["reject-with-notes"] = "reject-with-notes"


@dataclass(frozen=True, slots=True)
class ApproveAgain:
    """Read the version that waits now and approve it."""

    kind: Literal["approve-again"] = "approve-again"


@dataclass(frozen=True, slots=True)
class SetKey:
    """Set a key of the model's provider; `variable` names it, empty where it is not known."""

    variable: str = ""
    kind: Literal["set-key"] = "set-key"


@dataclass(frozen=True, slots=True)
class CheckKey:
    """Check a key that the provider does not accept."""

    variable: str = ""
    kind: Literal["check-key"] = "check-key"


@dataclass(frozen=True, slots=True)
class ReportBug:
    """Report the error to the people who make forge-bot."""

    kind: Literal["report-bug"] = "report-bug"


Remedy = (
    Resume
    | StartRun
    | ListRuns
    | ShowStatus
    | ReadHelp
    | RejectWithNotes
    | ApproveAgain
    | SetKey
    | CheckKey
    | ReportBug
)


@dataclass(frozen=True, slots=True)
class ModelTrouble:
    """The reason why a model could not be asked, and the seconds to wait, where they are known. A
    limit names the model, and another run if that was told of it; a cap the dollars of the call.
    """

    cause: Literal["down", "rate-limited", "no-credit", "cap", "switched-off"] = "down"
    seconds: int | None = None
    model: str = ""
    told: str = ""
    dollars: Decimal = Decimal(0)
