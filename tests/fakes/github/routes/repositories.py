"""A repository's page and its settings."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import repositories
from tests.fakes.github.replies import Reply, unfit


@route("GET", R, "metadata=read")
def repository(call: Call) -> Reply:
    """The repository as the caller sees it."""
    return Reply(body=repositories.whole(call.hub.url, call.repo, call.user))


@route("POST", "/user/repos")
def create(call: Call) -> Reply:
    """Make an empty repository of the caller's own."""
    name = call.text("name", "Repository")
    full = f"{call.someone.login}/{name}"
    if call.hub.find(call.someone.login, name) is not None:
        raise unfit("Repository", "name", "custom", "name already exists on this account")
    repo = call.hub.repository(full, {}, private=bool(call.given().get("private")))
    return Reply(201, repositories.whole(call.hub.url, repo, call.user))


@route("DELETE", R, "administration=write", role=Role.ADMIN)
def delete(call: Call) -> Reply:
    """Delete it."""
    call.hub.remove(call.repo)
    return Reply(204)


@route("PATCH", R, "administration=write", role=Role.ADMIN)
def settings(call: Call) -> Reply:
    """Rename it or turn issues off; under its former names it is still found."""
    repo, given = call.repo, call.given()
    name = given.get("name", repo.name)
    if name != repo.name:
        if any(
            other.full_name == f"{repo.owner.login}/{name}"
            for other in call.hub.repositories.values()
        ):
            raise unfit("Repository", "name", "custom", "name already exists on this account")
        call.hub.rename(repo, name)
    repo.has_issues = given.get("has_issues", repo.has_issues)
    repo.archived = given.get("archived", repo.archived)
    return Reply(body=repositories.whole(call.hub.url, repo, call.user))
