"""What was asked and answered, in order: the log that tests count in and the description is held
against.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Exchange:
    """One request and its answer. `body` and `answer` are what the JSON says, None where there is
    none.
    """

    method: str
    path: str
    query: dict[str, str]
    body: Any
    status: int
    answer: Any
    headers: dict[str, str]
    login: str | None
    authorization: str | None = None

    @property
    def words(self) -> str:
        """The request in a line."""
        return f"{self.method} {self.path}"
