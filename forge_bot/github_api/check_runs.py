"""Read the failed checks at the head of a pull request, each with the end of its log."""

import re
from collections import deque
from http.client import HTTPResponse
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from pydantic import AliasChoices, Field

from forge_bot.errors import NotOnGitHub, PermissionMissing
from forge_bot.github_api.request_runner import PAGE, RepositoryRequests
from forge_bot.github_api.types import FailedCheck, FromGitHub, PullRequest

_SUCCEEDED = frozenset({"success", "neutral", "skipped"})
_MOST_LOGS = 5
_TIMEOUT = 20
_MOST = 50_000_000
_CHUNK = 65_536
_KEPT = 16_384
_LINES = 60
# Every line of a log begins with a timestamp; colours are ANSI sequences.
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class _Checks(FromGitHub):
    """The check runs of a commit, or its statuses."""

    found: list[FailedCheck] = Field(validation_alias=AliasChoices("check_runs", "statuses"))


def failed_checks(place: RepositoryRequests, number: int) -> tuple[FailedCheck, ...]:
    """Implement GitHub.failed_checks with the check runs and statuses of the head commit."""
    errand = place.errand("github.requests.checks_not_read", "pull request", number=number)
    sha = place.ask(errand, "GET", f"/pulls/{number}").read(PullRequest).head_sha
    query = {"filter": "latest", "status": "completed", **PAGE}
    runs = [
        each
        for page in place.pages(errand, f"/commits/{sha}/check-runs", query)
        for each in page.read(_Checks).found
    ]
    failed = [run for run in runs if run.conclusion not in _SUCCEEDED]
    logged = {run.id for run in [run for run in failed if run.is_job][:_MOST_LOGS]}
    statuses = place.ask(errand, "GET", f"/commits/{sha}/status", query=PAGE).read(_Checks).found
    return (
        *(run.replace(log=_log(place, run.id)) if run.id in logged else run for run in failed),
        *(status for status in statuses if status.conclusion in {"error", "failure"}),
    )


def _log(place: RepositoryRequests, job: int) -> str:
    errand = place.errand("github.requests.log_not_read", "job", job=job)
    try:
        return _end_of_log(
            place.ask(errand, "GET", f"/actions/jobs/{job}/logs").headers.get("location", "")
        )
    except (NotOnGitHub, PermissionMissing):
        return ""


def _end_of_log(address: str) -> str:
    """Return the last lines of the log at a URL that GitHub gave; it is read without the token.

    Return an empty text if the log cannot be read, since it is optional.
    """
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        return ""
    try:
        # The scheme was checked above, and no token is sent.
        with urlopen(address, timeout=_TIMEOUT) as answer:  # noqa: S310
            data = _end(answer)
    except (OSError, URLError, ValueError):
        return ""
    text = _COLOUR.sub("", _STAMP.sub("", data.decode(errors="replace")))
    return "\n".join(text.splitlines()[-_LINES:])


def _end(answer: HTTPResponse) -> bytes:
    """Return the last bytes.

    Of a log beyond the size limit, return the last bytes that were read.
    """
    chunks: deque[bytes] = deque(maxlen=2)
    total = 0
    while total < _MOST and (chunk := answer.read(_CHUNK)):
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)[-_KEPT:]
