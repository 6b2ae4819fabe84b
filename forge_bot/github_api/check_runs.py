"""Read the failed checks at the head of a pull request."""

from forge_bot.errors import NotOnGitHub, PermissionMissing
from forge_bot.github_api.json_models_code import ChecksWire, CombinedWire, PullWire
from forge_bot.github_api.logs import end_of_log
from forge_bot.github_api.repository_requests import PAGE, RepositoryRequests
from forge_bot.github_api.request_runner import ApiRequest
from forge_bot.github_api.types import FailedCheck

_SUCCEEDED = frozenset({"success", "neutral", "skipped"})
_MOST_LOGS = 5


def failed_checks(place: RepositoryRequests, number: int) -> tuple[FailedCheck, ...]:
    """Implement GitHub.failed_checks with the check runs and statuses of the head commit."""
    errand = ApiRequest(f"the checks of {place.name}#{number} could not be read", "pull request")
    sha = place.ask(errand, "GET", f"/pulls/{number}").read(PullWire).head.sha
    query = {"filter": "latest", "status": "completed", **PAGE}
    runs = [
        each
        for page in place.pages(errand, f"/commits/{sha}/check-runs", query)
        for each in page.read(ChecksWire).check_runs
    ]
    failed = [run for run in runs if run.conclusion not in _SUCCEEDED]
    logged = {run.id for run in [run for run in failed if run.job][:_MOST_LOGS]}
    statuses = (
        place.ask(errand, "GET", f"/commits/{sha}/status", query=PAGE).read(CombinedWire).statuses
    )
    return (
        *(run.failed(_log(place, run.id) if run.id in logged else "") for run in failed),
        *(status.failed() for status in statuses if status.state in {"error", "failure"}),
    )


def _log(place: RepositoryRequests, job: int) -> str:
    errand = ApiRequest(f"the log of job {job} of {place.name} could not be read", "job")
    try:
        return end_of_log(
            place.ask(errand, "GET", f"/actions/jobs/{job}/logs").headers.get("location", "")
        )
    except (NotOnGitHub, PermissionMissing):
        return ""
