"""Who a request comes from and whether it may be done: 401, 403 and 404 as GitHub tells them apart.

Which operation asks for which permission is told by GitHub's description of permissions for Apps;
which refusal has which sentence is known from use, and is not part of the description.
"""

import base64
import binascii

from tests.fakes.github.calls import Call
from tests.fakes.github.people import Role, Token
from tests.fakes.github.replies import Refused, not_found
from tests.fakes.github.state import Repository

# What nobody sees without permission, public repository or not.
_NEVER_PUBLIC = frozenset({"administration", "secrets"})


def identify(tokens: dict[str, Token], header: str) -> Token | None:
    """The token of an Authorization header; None without one, 401 for one that GitHub does not
    know.
    """
    scheme, _, value = header.partition(" ")
    if not value:
        return None
    if scheme.lower() == "basic":
        value = _password(value)
    found = tokens.get(value.strip())
    if found is None:
        raise Refused(401, "Bad credentials")
    return found


def _password(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def admit(call: Call) -> None:
    """Let a call through, or refuse it as GitHub does: 404 hides what the caller may not know
    of.
    """
    writing = call.route.method != "GET"
    if "repo" not in call.params:
        if call.token is None and (writing or call.route.template == "/user"):
            raise Refused(401, "Requires authentication")
        return
    repo = call.repo
    if call.token is not None and call.token.app:
        _admit_app(call, call.token, writing=writing)
        _refuse_archived(repo, writing=writing)
        return
    role = repo.role(call.user)
    if role < Role.READ:
        raise not_found()
    if call.token is None and (writing or call.route.role > Role.READ):
        raise Refused(401, "Requires authentication")
    if role < call.route.role:
        raise Refused(403, _needed(call.route.role))
    _refuse_archived(repo, writing=writing)


def _refuse_archived(repo: Repository, *, writing: bool) -> None:
    if writing and repo.archived:
        raise Refused(403, "Repository was archived so is read-only.")


def _admit_app(call: Call, token: Token, *, writing: bool) -> None:
    repo, needs = call.repo, call.route.permissions
    inside = token.repository == repo.id
    if repo.private and not (inside and (not needs or any(token.holds(*need) for need in needs))):
        raise not_found() if not inside else _integration(call)
    open_to_all = not writing and not any(area in _NEVER_PUBLIC for area, _ in needs)
    if open_to_all or (inside and any(token.holds(*need) for need in needs)):
        return
    raise _integration(call)


def _integration(call: Call) -> Refused:
    return Refused(
        403,
        "Resource not accessible by integration",
        headers={"x-accepted-github-permissions": call.route.accepted},
    )


def _needed(role: Role) -> str:
    words = {
        Role.ADMIN: "Must have admin rights to Repository.",
        Role.WRITE: "Must have push access to repository",
    }
    return words.get(role, "Must have triage access to repository")
