"""Check runs, check suites and commit statuses."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import checks as render
from tests.fakes.github.render.repositories import short
from tests.fakes.github.replies import Refused, Reply, Thing, mapping, not_found, unfit
from tests.fakes.github.state import Check, Status

_ENDED = frozenset(
    {
        "action_required",
        "cancelled",
        "failure",
        "neutral",
        "success",
        "skipped",
        "stale",
        "timed_out",
    }
)


def _sha(call: Call, ref: str) -> str:
    sha = call.repo.bare.resolve(ref)
    if not sha:
        raise unfit("Commit", "sha", "custom", f"No commit found for SHA: {ref}")
    return sha


def _shown(call: Call, found: Check) -> Thing:
    return render.check(call.hub.url, call.repo, found, call.hub.actions)


def _found(call: Call) -> Check:
    text = call.params["check_run_id"]
    found = call.repo.checks.get(int(text)) if text.isdigit() else None
    if found is None:
        raise not_found()
    return found


def _app(call: Call) -> None:
    if call.token is None or not call.token.app:
        raise Refused(403, "You must authenticate via a GitHub App.")


def _filled(check: Check, given: Thing) -> Check:
    output = mapping(given.get("output"))
    check.title, check.summary = (
        output.get("title", check.title),
        output.get("summary", check.summary),
    )
    check.text, check.conclusion = (
        output.get("text", check.text),
        given.get("conclusion", check.conclusion),
    )
    check.status = "completed" if given.get("conclusion") else given.get("status", check.status)
    if check.status == "completed" and check.conclusion not in _ENDED:
        raise unfit("CheckRun", "conclusion", "missing_field")
    return check


@route("POST", R + "/check-runs", "checks=write")
def create_check(call: Call) -> Reply:
    """A check run; only Apps make them."""
    _app(call)
    sha = _sha(call, call.text("head_sha", "CheckRun"))
    suites = [found.suite for found in call.repo.checks.values() if found.sha == sha]
    suite = suites[0] if suites else call.hub.next_id()
    new = Check(
        call.hub.next_id(),
        suite,
        call.text("name", "CheckRun"),
        sha,
        "queued",
        None,
        at=call.hub.clock.tick(),
    )
    call.repo.checks[new.id] = _filled(new, call.given())
    return Reply(201, _shown(call, new))


@route("GET", R + "/check-runs/{check_run_id}", "checks=read")
def check(call: Call) -> Reply:
    """One check run."""
    return Reply(body=_shown(call, _found(call)))


@route("PATCH", R + "/check-runs/{check_run_id}", "checks=write")
def change_check(call: Call) -> Reply:
    """Go on with a check run."""
    _app(call)
    return Reply(body=_shown(call, _filled(_found(call), call.given())))


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


@route("GET", R + "/commits/{ref}/check-suites", "checks=read")
def suites(call: Call) -> Reply:
    """The check suites of a commit."""
    sha = _sha(call, call.params["ref"])
    numbers = sorted({each.suite for each in call.repo.checks.values() if each.sha == sha})
    body = [render.suite(call.hub.url, call.repo, number, call.hub.actions) for number in numbers]
    return Reply(body=body, page=True, envelope="check_suites")


@route("GET", R + "/check-suites/{check_suite_id}", "checks=read")
def suite(call: Call) -> Reply:
    """One check suite."""
    text = call.params["check_suite_id"]
    if not any(str(each.suite) == text for each in call.repo.checks.values()):
        raise not_found()
    return Reply(body=render.suite(call.hub.url, call.repo, int(text), call.hub.actions))


@route("POST", R + "/statuses/{sha}", "statuses=write", role=Role.WRITE)
def create_status(call: Call) -> Reply:
    """A commit status."""
    sha, given = _sha(call, call.params["sha"]), call.given()
    if given.get("state") not in {"error", "failure", "pending", "success"}:
        raise unfit("Status", "state")
    words = (given.get("context", "default"), given.get("description"), given.get("target_url"))
    new = Status(
        call.hub.next_id(), sha, given["state"], *words, call.someone, call.hub.clock.tick()
    )
    call.repo.statuses.append(new)
    shown = render.status(call.hub.url, call.repo, new)
    return Reply(201, shown, {"Location": shown["url"]})


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
