"""Issues: listed, opened, edited, closed, locked."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import issues as render
from tests.fakes.github.render import stamp
from tests.fakes.github.replies import Refused, Reply, unfit
from tests.fakes.github.routes.labels import named, set_labels
from tests.fakes.github.state import Issue

BODY_LIMIT = 65_536
TITLE_LIMIT = 256


def body_of(call: Call) -> str | None:
    """The text of an issue or pull request; 422 when it is too long."""
    body = call.given().get("body")
    if body is not None and (not isinstance(body, str) or len(body) > BODY_LIMIT):
        raise unfit(
            "Issue", "body", "custom", f"body is too long (maximum is {BODY_LIMIT} characters)"
        )
    return body


def _shown(call: Call, issue: Issue, status: int = 200) -> Reply:
    body = render.issue(call.hub.url, call.repo, issue)
    return Reply(status, body, {"Location": body["url"]} if status == 201 else {})


@route("GET", R + "/issues", "issues=read")
def issues(call: Call) -> Reply:
    """Issues and pull requests, newest first, by state, labels, author and time of the last
    change.
    """
    state, wanted = (
        call.query.get("state", "open"),
        [name for name in call.query.get("labels", "").lower().split(",") if name],
    )
    found = [
        issue
        for issue in call.repo.issues.values()
        if not issue.deleted and not issue.moved and state in {"all", issue.state}
    ]
    found = [
        issue for issue in found if set(wanted) <= {label.name.lower() for label in issue.labels}
    ]
    if creator := call.query.get("creator"):
        found = [
            issue for issue in found if issue.user and issue.user.login.lower() == creator.lower()
        ]
    if since := call.query.get("since"):
        found = [issue for issue in found if stamp(issue.updated) >= since]
    found.sort(key=lambda issue: issue.number, reverse=call.query.get("direction") != "asc")
    return Reply(body=[render.issue(call.hub.url, call.repo, issue) for issue in found], page=True)


@route("POST", R + "/issues", "issues=write")
def create_issue(call: Call) -> Reply:
    """A new issue. Labels of somebody who may not triage are dropped without a word."""
    repo = call.repo
    if not repo.has_issues:
        raise Refused(410, "Issues are disabled for this repo")
    title, body, at = (
        call.text("title", "Issue", limit=TITLE_LIMIT),
        body_of(call),
        call.hub.clock.tick(),
    )
    issue = Issue(call.hub.next_id(), repo.next_number(), title, body, call.someone, at, at)
    if call.may(Role.TRIAGE, "issues=write"):
        set_labels(call, issue, named(call, call.given().get("labels") or []))
    repo.issues[issue.number] = issue
    return _shown(call, issue, 201)


@route("GET", R + "/issues/{issue_number}", "issues=read", "pull_requests=read")
def issue(call: Call) -> Reply:
    """One issue, or a pull request seen as one; with its text as HTML for who asks for that."""
    reply = _shown(call, call.issue())
    if "full+json" in call.headers.get("accept", ""):
        reply.body |= {"body_html": render.rendered(call.hub.url, call.issue().body or "")}
    return reply


@route("PATCH", R + "/issues/{issue_number}", "issues=write", "pull_requests=write")
def change_issue(call: Call) -> Reply:
    """Title, text, state, labels: by the author, or by somebody who may."""
    found, given = call.issue(), call.given()
    own = call.user is not None and found.user is call.user
    floor = Role.WRITE if {"title", "body"} & given.keys() else Role.TRIAGE
    if not (
        call.may(floor, "issues=write", "pull_requests=write")
        or (own and not {"labels"} & given.keys())
    ):
        raise Refused(403, "Must have admin rights to Repository.")
    if "title" in given:
        before, found.title = found.title, call.text("title", "Issue", limit=TITLE_LIMIT)
        call.hub.happened(found, "renamed", call.user, titles=(before, found.title))
    if "body" in given:
        found.body = body_of(call)
    if "labels" in given:
        set_labels(call, found, named(call, given["labels"]))
    if "state" in given:
        set_state(call, found, given["state"], given.get("state_reason"))
    found.updated = call.hub.clock.tick()
    return _shown(call, found)


def set_state(call: Call, issue: Issue, state: str, reason: str | None) -> None:
    """Close or reopen an issue or pull request."""
    if state not in {"open", "closed"}:
        raise unfit("Issue", "state")
    if state != issue.state:
        kind = "closed" if state == "closed" else "reopened"
        call.hub.happened(issue, kind, call.user)
    issue.state, issue.closed = state, call.hub.clock.tick() if state == "closed" else None
    issue.state_reason = (
        None if issue.pull else reason or ("completed" if state == "closed" else "reopened")
    )
