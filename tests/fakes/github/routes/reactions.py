"""Reactions to issues and comments."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import issues as render
from tests.fakes.github.replies import Refused, Reply, not_found, unfit
from tests.fakes.github.state import Reaction

_ISSUE = R + "/issues/{issue_number}/reactions"
_COMMENT = R + "/issues/comments/{comment_id}/reactions"
_WRITE = ("issues=write", "pull_requests=write")


def _of(call: Call) -> list[Reaction]:
    if "issue_number" in call.params:
        return call.issue().reactions
    text = call.params["comment_id"]
    found = call.repo.comment(int(text)) if text.isdigit() else None
    if found is None:
        raise not_found()
    return found.reactions


@route("GET", _ISSUE, "issues=read", "pull_requests=read")
@route("GET", _COMMENT, "issues=read", "pull_requests=read")
def reactions(call: Call) -> Reply:
    """All reactions."""
    kept = [
        found for found in _of(call) if call.query.get("content", found.content) == found.content
    ]
    return Reply(body=[render.reaction(call.hub.url, found) for found in kept], page=True)


@route("POST", _ISSUE, *_WRITE)
@route("POST", _COMMENT, *_WRITE)
def react(call: Call) -> Reply:
    """One more reaction; 200 with the old one when the caller had reacted so already."""
    content, reactions = call.given().get("content"), _of(call)
    if content not in render.REACTIONS:
        raise unfit("Reaction", "content")
    for found in reactions:
        if found.user is call.user and found.content == content:
            return Reply(200, render.reaction(call.hub.url, found))
    found = Reaction(call.hub.next_id(), call.someone, content, call.hub.clock.tick())
    reactions.append(found)
    return Reply(201, render.reaction(call.hub.url, found))


@route("DELETE", _ISSUE + "/{reaction_id}", *_WRITE)
@route("DELETE", _COMMENT + "/{reaction_id}", *_WRITE)
def take_back(call: Call) -> Reply:
    """Remove a reaction: one's own, or any for those who may write."""
    reactions = _of(call)
    found = next((each for each in reactions if str(each.id) == call.params["reaction_id"]), None)
    if found is None:
        raise not_found()
    if not (found.user is call.user or call.may(Role.WRITE)):
        raise Refused(403, "Must have admin rights to Repository.")
    reactions.remove(found)
    return Reply(204)
