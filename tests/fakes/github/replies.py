"""What the GitHub of the tests answers: data, a page of a list, or a refusal in GitHub's own
shapes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

Thing = dict[str, Any]
DOCS = "https://docs.github.com/rest"


def mapping(value: Any) -> Thing:
    """What came as JSON, as an object; empty when it is none."""
    return cast("Thing", value) if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """What came as JSON, as a list; empty when it is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


@dataclass
class Reply:
    """One answer. `page` marks a list that is cut into pages; `envelope` is the key under which its
    items then stand.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    page: bool = False
    envelope: str = ""
    raw: bytes | None = None


class Refused(Exception):
    """A request that GitHub does not carry out."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Sequence[Any] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        body: Thing = {"message": message, "documentation_url": DOCS, "status": str(status)}
        if errors:
            body["errors"] = list(errors)
        self.reply = Reply(status, body, headers or {})


def not_found() -> Refused:
    """What is not there, or what the caller may not know about."""
    return Refused(404, "Not Found")


def unfit(resource: str, field_name: str, code: str = "invalid", message: str = "") -> Refused:
    """422: a field has a value that it cannot have."""
    error: Thing = {"resource": resource, "field": field_name, "code": code}
    if message:
        error["message"] = message
    return Refused(422, "Validation Failed", errors=[error])


def moved(status: int, address: str) -> Refused:
    """The thing has another address now: 301 for reading, 307 for everything else."""
    refused = Refused(
        status,
        "Moved Permanently" if status == 301 else "Temporary Redirect",
        headers={"Location": address},
    )
    del refused.reply.body["status"]
    refused.reply.body["url"] = address
    return refused
