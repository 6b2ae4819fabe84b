"""Read the facts about a repository that doctor checks."""

import base64
import binascii
from typing import TypeVar
from urllib.parse import quote

from forge_bot.errors import NotOnGitHub, PermissionMissing
from forge_bot.github_api.request_runner import ApiRequest, RepositoryRequests
from forge_bot.github_api.types import FromGitHub, RepositoryFacts, SeenRepository

T = TypeVar("T")


class _Actions(FromGitHub):
    can_approve_pull_request_reviews: bool


class _Named(FromGitHub):
    name: str | None = None


class _Secrets(FromGitHub):
    secrets: list[_Named]


class _File(FromGitHub):
    encoding: str
    content: str


def facts(place: RepositoryRequests, workflow: str) -> RepositoryFacts:
    """Implement GitHub.facts. Facts that the token may not see are left out and named."""
    errand = place.errand("github.requests.repository_not_read", "repository")
    about = place.ask(errand, "GET", "").read(SeenRepository)
    hidden: list[str] = []

    def seen(what: str, path: str, kind: type[T]) -> T | None:
        try:
            return place.ask(errand, "GET", path).read(kind)
        except (PermissionMissing, NotOnGitHub):
            hidden.append(what)
            return None

    actions = seen("what Actions may do", "/actions/permissions/workflow", _Actions)
    secrets = seen("names of secrets", "/actions/secrets?per_page=100", _Secrets)
    return RepositoryFacts(
        **about.model_dump(),
        labels=tuple(each.name or "" for each in place.every(errand, "/labels", _Named)),
        workflow=_file(place, errand, workflow, about.default_branch),
        actions_may_open_pulls=actions and actions.can_approve_pull_request_reviews,
        secrets=secrets and tuple(secret.name or "" for secret in secrets.secrets),
        hidden=tuple(dict.fromkeys(hidden)),
    )


def _file(place: RepositoryRequests, errand: ApiRequest, path: str, branch: str) -> str | None:
    """Return the text of a file; None where there is none, empty if it cannot be read."""
    try:
        answer = place.ask(errand, "GET", f"/contents/{quote(path)}", query={"ref": branch})
    except NotOnGitHub:
        return None
    found = answer.read(_File)
    if found.encoding != "base64":
        return found.content
    try:
        return base64.b64decode(found.content).decode(errors="replace")
    except binascii.Error:
        return ""
