"""Check runs, check suites and commit statuses."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import checks as render
from tests.fakes.github.render.repositories import short
from tests.fakes.github.replies import Reply, Thing, unfit
from tests.fakes.github.state import Check


def _sha(call: Call, ref: str) -> str:
    sha = call.repo.bare.resolve(ref)
    if not sha:
        raise unfit("Commit", "sha", "custom", f"No commit found for SHA: {ref}")
    return sha


def _shown(call: Call, found: Check) -> Thing:
    return render.check(call.hub.url, call.repo, found, call.hub.actions)


@route("GET", R + "/commits/{ref}/check-runs", "checks=read")
def checks(call: Call) -> Reply:
    """The check runs of a commit: of each name the latest, unless all are asked for."""
    sha = _sha(call, call.params["ref"])
    found = [each for each in call.repo.checks.values() if each.sha == sha]
    if call.query.get("filter", "latest") == "latest":
        found = list({each.name: each for each in found}.values())
    for key, value in (("check_name", "name"), ("status", "status")):
        if key in call.query:
            found = [each for each in found if getattr(each, value) == call.query[key]]
    return Reply(body=[_shown(call, each) for each in found], page=True, envelope="check_runs")


@route("GET", R + "/commits/{ref}/status", "statuses=read")
def combined(call: Call) -> Reply:
    """The statuses of a commit, of each context the latest, and what they come to."""
    sha, own = _sha(call, call.params["ref"]), f"{call.hub.url}/repos/{call.repo.full_name}/commits"
    latest = list({each.context: each for each in call.repo.statuses if each.sha == sha}.values())
    states = {each.state for each in latest}
    state = (
        "failure"
        if states & {"error", "failure"}
        else "success"
        if states == {"success"}
        else "pending"
    )
    body: Thing = {
        "state": state,
        "sha": sha,
        "total_count": len(latest),
        "repository": short(call.hub.url, call.repo),
    }
    body["statuses"] = [render.status(call.hub.url, call.repo, each) for each in latest]
    for line in body["statuses"]:
        del line["creator"]
    return Reply(body={**body, "commit_url": f"{own}/{sha}", "url": f"{own}/{sha}/status"})


@route("POST", R + "/statuses/{sha}", "statuses=write", role=Role.WRITE)
def create_status(call: Call) -> Reply:
    """A new status of a commit."""
    given = call.given()
    made = call.hub.status(
        call.repo,
        _sha(call, call.params["sha"]),
        call.text("context", "Status"),
        call.text("state", "Status"),
        str(given.get("description", "")),
    )
    body = render.status(call.hub.url, call.repo, made)
    return Reply(201, body, {"Location": body["url"]})
