"""Comments on issues and pull requests."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import issues as render
from tests.fakes.github.render import stamp
from tests.fakes.github.replies import Refused, Reply, not_found, unfit
from tests.fakes.github.routes.issues import BODY_LIMIT
from tests.fakes.github.state import Comment

_WRITE = ("issues=write", "pull_requests=write")
_READ = ("issues=read", "pull_requests=read")


def _found(call: Call) -> Comment:
    text = call.params["comment_id"]
    found = call.repo.comment(int(text)) if text.isdigit() else None
    if found is None or found.issue.deleted:
        raise not_found()
    return found


def _own(call: Call) -> Comment:
    """The comment, where the caller wrote it or may write to the repository."""
    found = _found(call)
    if not (found.user is call.user or call.may(Role.WRITE, *_WRITE)):
        raise Refused(403, "Must have admin rights to Repository.")
    return found


def _body(call: Call) -> str:
    body = call.given().get("body")
    if not isinstance(body, str) or not body.strip():
        raise unfit(
            "IssueComment",
            "body",
            "missing_field" if body is None else "custom",
            "Body cannot be blank",
        )
    if len(body) > BODY_LIMIT:
        raise unfit(
            "IssueComment",
            "body",
            "custom",
            f"body is too long (maximum is {BODY_LIMIT} characters)",
        )
    return body


def _shown(call: Call, comments: list[Comment]) -> Reply:
    since = call.query.get("since", "")
    kept = [found for found in comments if stamp(found.updated) >= since]
    return Reply(body=[render.comment(call.hub.url, call.repo, found) for found in kept], page=True)


@route("GET", R + "/issues/{issue_number}/comments", *_READ)
def comments(call: Call) -> Reply:
    """The comments of one issue, in the order of their ids; with their texts as HTML for who asks
    for that.
    """
    reply = _shown(call, call.issue().comments)
    if "full+json" in call.headers.get("accept", ""):
        for shown in reply.body:
            shown["body_html"] = render.rendered(call.hub.url, shown["body"])
    return reply


@route("POST", R + "/issues/{issue_number}/comments", *_WRITE)
def create_comment(call: Call) -> Reply:
    """Say something. In a locked conversation only those who may write can."""
    issue, body = call.issue(), _body(call)
    if issue.locked and not call.may(Role.WRITE, *_WRITE):
        raise Refused(403, "Unable to create comment because issue is locked.")
    at = call.hub.clock.tick()
    found = Comment(call.hub.next_id(), issue, call.someone, body, at, at)
    issue.comments.append(found)
    issue.updated = at
    shown = render.comment(call.hub.url, call.repo, found)
    return Reply(201, shown, {"Location": shown["url"]})


@route("PATCH", R + "/issues/comments/{comment_id}", *_WRITE)
def edit_comment(call: Call) -> Reply:
    """Another text for a comment."""
    found = _own(call)
    found.body, found.updated = _body(call), call.hub.clock.tick()
    return Reply(body=render.comment(call.hub.url, call.repo, found))
