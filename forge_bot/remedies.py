"""Ways out of an error, as values: a face words each of them in its own commands. The standard
library only, for the gate.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

RemedyKind = Literal[
    "resume",
    "start-run",
    "list-runs",
    "show-status",
    "read-help",
    "reject-with-notes",
    "approve-again",
    "set-key",
    "check-key",
    "report-bug",
]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way out. `about` is an example of a task for a new run, or the variable of a key, empty
    where it is not known.
    """

    kind: RemedyKind
    about: str = ""


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
