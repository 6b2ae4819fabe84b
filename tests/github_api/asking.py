"""A plain HTTP client for tests of the fake: no library in between, no redirect followed."""

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.fakes.github import FakeGitHub

GRAPHQL_READY = (
    "mutation($input: MarkPullRequestReadyForReviewInput!) { markPullRequestReadyForReview(input:"
    " $input) { pullRequest { isDraft } } }"
)


def never(seconds: float) -> None:
    """A wait where none may be."""
    pytest.fail(f"{seconds} seconds would have been waited")


@dataclass(frozen=True)
class Said:
    """An answer."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def message(self) -> str:
        """The sentence of a refusal."""
        return self.body["message"]


@dataclass(frozen=True)
class Asking:
    """Somebody with a token, or nobody."""

    at: FakeGitHub | str
    token: str = ""
    repo: str = "/repos/acme/widget"

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Said:
        """Ask; a path that begins with + is in the repository."""
        connection = http.client.HTTPConnection(
            urlsplit(self.at if isinstance(self.at, str) else self.at.url).netloc, timeout=10
        )
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(
                method,
                path.replace("+", self.repo, 1),
                json.dumps(body) if body is not None else None,
                given,
            )
            answer = connection.getresponse()
            data = answer.read()
            shown = (
                json.loads(data)
                if data and "json" in answer.headers.get("Content-Type", "")
                else data
            )
            return Said(
                answer.status,
                shown,
                {name.lower(): value for name, value in answer.headers.items()},
            )
        finally:
            connection.close()
