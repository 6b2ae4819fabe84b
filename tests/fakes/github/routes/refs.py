"""Branches and commits as git has them."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import code
from tests.fakes.github.replies import Refused, Reply, not_found


@route("GET", R + "/git/matching-refs/{ref}", "contents=read")
def matching_refs(call: Call) -> Reply:
    """All references that begin so."""
    start = f"refs/{call.params['ref']}"
    found = {name: sha for name, sha in call.repo.bare.refs().items() if name.startswith(start)}
    return Reply(
        body=[code.ref(call.hub.url, call.repo, name, sha) for name, sha in found.items()],
        page=True,
    )


@route("DELETE", R + "/git/refs/{ref}", "contents=write", role=Role.WRITE)
def delete_ref(call: Call) -> Reply:
    """The branch is gone; its commits stay."""
    name = f"refs/{call.params['ref']}"
    old = call.repo.bare.refs(name).get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    call.hub.guard_branch(call, name.removeprefix("refs/heads/"), old, "")
    call.repo.bare.set_ref(name, "")
    return Reply(204)


@route("GET", R + "/commits/{ref}", "contents=read")
def commit(call: Call) -> Reply:
    """The commit behind a branch, a tag or an id."""
    name = call.params["ref"]
    sha = call.repo.bare.resolve(name)
    if not sha:
        raise Refused(422, f"No commit found for SHA: {name}")
    return Reply(body=code.commit(call.hub.url, call.repo, sha))


@route("GET", R + "/branches/{branch}", "contents=read")
def branch(call: Call) -> Reply:
    """A branch."""
    if not call.repo.bare.head(call.params["branch"]):
        raise not_found()
    return Reply(body=code.branch(call.hub.url, call.repo, call.params["branch"]))


@route("GET", R + "/rules/branches/{branch}", "metadata=read")
def branch_rules(call: Call) -> Reply:
    """The rules that would hold for a branch."""
    return Reply(body=code.rules(call.repo, call.params["branch"]), page=True)
