"""Branches and commits as git has them."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import code
from tests.fakes.github.replies import Refused, Reply, not_found, unfit


def _sha(call: Call) -> str:
    sha = call.text("sha", "Reference")
    if len(sha) != 40 or not call.repo.bare.resolve(sha):
        raise Refused(422, "Object does not exist")
    return sha


@route("GET", R + "/git/ref/{ref}", "contents=read")
def ref(call: Call) -> Reply:
    """One reference, by its name without refs/."""
    name = f"refs/{call.params['ref']}"
    sha = call.repo.bare.refs(name).get(name)
    if sha is None:
        raise not_found()
    return Reply(body=code.ref(call.hub.url, call.repo, name, sha))


@route("GET", R + "/git/matching-refs/{ref}", "contents=read")
def matching_refs(call: Call) -> Reply:
    """All references that begin so."""
    start = f"refs/{call.params['ref']}"
    found = {name: sha for name, sha in call.repo.bare.refs().items() if name.startswith(start)}
    return Reply(
        body=[code.ref(call.hub.url, call.repo, name, sha) for name, sha in found.items()],
        page=True,
    )


@route("POST", R + "/git/refs", "contents=write", role=Role.WRITE)
def create_ref(call: Call) -> Reply:
    """A new branch at a commit that is there."""
    name, sha = call.text("ref", "Reference"), _sha(call)
    if not name.startswith("refs/heads/") or name.endswith("/"):
        raise Refused(422, "Reference name is not valid")
    if name in call.repo.bare.refs():
        raise Refused(422, "Reference already exists")
    call.hub.guard_branch(call, name.removeprefix("refs/heads/"), "", sha)
    call.repo.bare.set_ref(name, sha)
    shown = code.ref(call.hub.url, call.repo, name, sha)
    return Reply(201, shown, {"Location": shown["url"]})


@route("PATCH", R + "/git/refs/{ref}", "contents=write", role=Role.WRITE)
def move_ref(call: Call) -> Reply:
    """Point a branch to another commit; backwards only with force."""
    name, sha = f"refs/{call.params['ref']}", _sha(call)
    old = call.repo.bare.refs(name).get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    if not call.given().get("force") and not call.repo.bare.contains(sha, old):
        raise Refused(422, "Update is not a fast forward")
    call.hub.guard_branch(call, name.removeprefix("refs/heads/"), old, sha)
    call.repo.bare.set_ref(name, sha)
    return Reply(body=code.ref(call.hub.url, call.repo, name, sha))


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


@route("GET", R + "/git/commits/{commit_sha}", "contents=read")
def git_commit(call: Call) -> Reply:
    """A commit, as git has it."""
    sha = call.repo.bare.resolve(call.params["commit_sha"])
    if not sha:
        raise not_found()
    return Reply(body=code.git_commit(call.hub.url, call.repo, call.repo.bare.show(sha)))


@route("GET", R + "/commits/{ref}", "contents=read")
def commit(call: Call) -> Reply:
    """A commit, by id, branch or tag."""
    sha = call.repo.bare.resolve(call.params["ref"])
    if not sha:
        raise unfit("Commit", "sha", "custom", f"No commit found for SHA: {call.params['ref']}")
    return Reply(body=code.commit(call.hub.url, call.repo, call.repo.bare.show(sha)))
