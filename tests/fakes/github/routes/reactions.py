"""Reactions to issues and comments."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.render import issues as render
from tests.fakes.github.replies import Reply, not_found, unfit
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
