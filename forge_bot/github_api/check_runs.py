"""Read the failed checks of a commit, each with the end of its log."""

import re
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from forge_bot.github_api.types import FailedCheck

if TYPE_CHECKING:
    from github.CheckRun import CheckRun
    from github.Repository import Repository

_SUCCEEDED = frozenset({"success", "neutral", "skipped"})
_MOST_LOGS = 5
_TIMEOUT = 20
_MOST_BYTES = 50_000_000
_LINES = 60
# Every line of a log begins with a timestamp; colours are ANSI sequences.
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def failed_checks(repository: "Repository", commit: str) -> tuple[FailedCheck, ...]:
    """Return the check runs and statuses of a commit that did not succeed."""
    place = repository.get_commit(commit)
    runs = place.get_check_runs(filter="latest", status="completed")
    failed = [run for run in runs if run.conclusion not in _SUCCEEDED]
    # Jobs of Actions have a log with the same id.
    jobs = [run.id for run in failed if run.app and run.app.slug == "github-actions"][:_MOST_LOGS]
    statuses = [
        FailedCheck(
            name=status.context,
            conclusion=status.state,
            url=status.target_url or "",
            summary=status.description or "",
        )
        for status in place.get_combined_status().statuses
        if status.state in {"error", "failure"}
    ]
    return (*(_check(run, _log(repository, run.id, jobs)) for run in failed), *statuses)


def _check(run: "CheckRun", log: str) -> FailedCheck:
    report = [run.output.title, run.output.summary] if run.output else []
    return FailedCheck(
        name=run.name,
        conclusion=run.conclusion or "",
        url=run.html_url or "",
        summary="\n".join(filter(None, report)),
        log=log,
    )


def _log(repository: "Repository", job: int, known: list[int]) -> str:
    """Return the last lines of a job's log; empty if it cannot be read, since it is optional."""
    from github import GithubException

    try:
        return _end_of_log(repository.get_workflow_job(job).logs_url()) if job in known else ""
    except GithubException:
        return ""


def _end_of_log(address: str) -> str:
    """Return the last lines of the log at a URL that GitHub gave; it is read without the token."""
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        return ""
    try:
        # The scheme was checked above, and no token is sent.
        with urlopen(Request(address), timeout=_TIMEOUT) as answer:  # noqa: S310
            data = answer.read(_MOST_BYTES)
    except (OSError, URLError, ValueError):
        return ""
    text = _COLOUR.sub("", _STAMP.sub("", data.decode(errors="replace")))
    return "\n".join(text.splitlines()[-_LINES:])
