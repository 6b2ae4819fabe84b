"""Accounts, what they may do in a repository, and what is left of the limit."""

from tests.fakes.github.calls import Call, R, route
from tests.fakes.github.people import Role
from tests.fakes.github.render import people, repositories
from tests.fakes.github.replies import Refused, Reply, not_found


@route("GET", "/user")
def myself(call: Call) -> Reply:
    """Whose token it is; an App's token belongs to nobody."""
    if call.token is not None and call.token.app:
        raise Refused(403, "Resource not accessible by integration")
    return Reply(body=people.account(call.hub.url, call.someone))


@route("GET", "/orgs/{org}/teams/{team_slug}/members", "members=read")
def members(call: Call) -> Reply:
    """Who is in a team; told to Apps that may, and to people of the organization."""
    if call.token is None or (call.token.app and not call.may(Role.READ, "members=read")):
        raise Refused(403, "Resource not accessible by integration")
    logins = call.hub.teams.get(f"{call.params['org']}/{call.params['team_slug']}".lower())
    if logins is None:
        raise not_found()
    shown = [people.user(call.hub.url, call.hub.user(login)) for login in logins]
    return Reply(body=shown, page=True)


@route("GET", R + "/collaborators/{username}/permission", "metadata=read")
def permission(call: Call) -> Reply:
    """What somebody may do here; told only to those who may push, and to Apps."""
    if call.token is None:
        raise Refused(401, "Requires authentication")
    if not call.may(Role.WRITE, "metadata=read"):
        raise Refused(403, "Must have push access to view collaborator permission.")
    found = call.hub.account(call.params["username"])
    if found is None:
        raise Refused(404, f"{call.params['username']} is not a user")
    role = call.repo.role(found)
    who = {
        **people.user(call.hub.url, found),
        "permissions": repositories.permissions(role),
        "role_name": call.repo.role_name(found),
    }
    return Reply(
        body={"permission": role.permission, "role_name": call.repo.role_name(found), "user": who}
    )
