"""Read the facts about a repository that doctor checks."""

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import quote

from forge_bot.errors import NotOnGitHub, PermissionMissing
from forge_bot.github_api.json_models import LabelWire, RepositoryWire
from forge_bot.github_api.json_models_code import (
    ActionsWire,
    BranchWire,
    FileWire,
    RuleWire,
    SecretsWire,
)
from forge_bot.github_api.request_runner import ApiRequest, RepositoryRequests
from forge_bot.github_api.types import RepositoryFacts
from forge_bot.sentences import say

T = TypeVar("T")


def facts(
    place: RepositoryRequests, workflow: str, branches: Sequence[str] = ()
) -> RepositoryFacts:
    """Implement GitHub.facts. Facts that the token may not see are left out and named."""
    errand = ApiRequest(
        say("github.requests.repository_not_read", repository=place.name), "repository"
    )
    about = place.ask(errand, "GET", "").read(RepositoryWire)
    branch = quote(about.default_branch)
    hidden: list[str] = []

    def seen(what: str, path: str, kind: type[T]) -> T | None:
        try:
            return place.ask(errand, "GET", path).read(kind)
        except (PermissionMissing, NotOnGitHub):
            hidden.append(what)
            return None

    def rules_of(name: str) -> list[str]:
        path = f"/rules/branches/{quote(name, safe='')}"
        return [rule.type for rule in seen("rules", path, list[RuleWire]) or []]

    rules = rules_of(about.default_branch)
    guarded = seen("branch", f"/branches/{branch}", BranchWire)
    actions = seen("what Actions may do", "/actions/permissions/workflow", ActionsWire)
    secrets = seen("names of secrets", "/actions/secrets?per_page=100", SecretsWire)
    return RepositoryFacts(
        full_name=about.full_name,
        default_branch=about.default_branch,
        private=about.private,
        archived=about.archived,
        has_issues=about.has_issues,
        labels=tuple(
            each.name or ""
            for page in place.pages(errand, "/labels")
            for each in page.read(list[LabelWire])
        ),
        protected=bool(rules) or (guarded is not None and guarded.protected),
        rules=tuple(dict.fromkeys(rules)),
        signed=tuple(name for name in branches if "required_signatures" in rules_of(name)),
        workflow=_file(place, errand, workflow, about.default_branch),
        workflow_permissions=actions and actions.default_workflow_permissions,
        actions_may_open_pulls=actions and actions.can_approve_pull_request_reviews,
        secrets=secrets and tuple(secret.name for secret in secrets.secrets),
        hidden=tuple(dict.fromkeys(hidden)),
    )


def _file(place: RepositoryRequests, errand: ApiRequest, path: str, branch: str) -> str | None:
    try:
        return (
            place.ask(errand, "GET", f"/contents/{quote(path)}", query={"ref": branch})
            .read(FileWire)
            .text()
        )
    except NotOnGitHub:
        return None
