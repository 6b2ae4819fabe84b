"""Facts about a repository on GitHub: settings, rules, secrets by name, workflows."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import quote

from forge_bot.errors import (
    GitHubRefused,
    NotOnGitHub,
    PermissionMissing,
)
from forge_bot.gate.json_payload import Node
from forge_bot.github_api.connection import Connection
from forge_bot.github_api.types import (
    RepositoryFacts,
)

if TYPE_CHECKING:
    from github.Repository import Repository

T = TypeVar("T")

_MAY_OPEN = "can_approve_pull_request_reviews"


class RepositoryCalls(Connection):
    """What is asked of GitHub about the repository itself."""

    def facts(self, workflow: str, schedule: str = "") -> RepositoryFacts:
        """Return the facts that doctor checks. `workflow` and `schedule` are the paths of workflow
        files. Facts that the token may not see are left out and named.
        """
        about = self._fact(self._repository.complete)
        hidden: list[str] = []

        def visible(what: str, ask: Callable[[], T]) -> T | None:
            try:
                return self._fact(ask)
            except (PermissionMissing, NotOnGitHub):
                hidden.append(what)
                return None

        def read_actions() -> object:
            rules = f"{about.url}/actions/permissions/workflow"
            return self._client.requester.requestJsonAndCheck("GET", rules)[1]

        def read_secrets() -> tuple[str, ...]:
            return tuple(secret.name for secret in about.get_secrets())

        def read_state(path: str, text: str | None) -> str:
            if not text:
                return ""
            name = path.rpartition("/")[2]
            return visible("the workflow's state", lambda: about.get_workflow(name).state) or ""

        actions = visible("what Actions may do", read_actions)
        text = self._text_of_file(about, workflow)
        scheduled = self._text_of_file(about, schedule) if schedule else None
        return RepositoryFacts(
            full_name=about.full_name,
            default_branch=about.default_branch,
            archived=about.archived,
            has_issues=about.has_issues,
            labels=self._fact(lambda: tuple(label.name for label in about.get_labels())),
            workflow=text,
            workflow_state=read_state(workflow, text),
            schedule_state=read_state(schedule, scheduled),
            actions_may_open_pulls=Node(actions).true(_MAY_OPEN) if actions is not None else None,
            secrets=visible("names of secrets", read_secrets),
            rules=self.rules_of(about.default_branch),
            hidden=tuple(hidden),
        )

    def rules_of(self, branch: str) -> tuple[str, ...]:
        """Return the kinds of the rules that hold for a branch, which need not exist. Branch
        protection, the older kind, is `protection`.
        """

        def read() -> tuple[str, ...]:
            address = f"{self._repository.url}/rules/branches/{quote(branch, safe='')}"
            rules = self._client.requester.requestJsonAndCheck("GET", address)[1]
            return tuple(Node(rule).text("type") for rule in cast("list[object]", rules))

        def protected() -> bool:
            return self._repository.get_branch(branch).protected

        kinds = self._fact(read)
        try:
            return (*kinds, "protection") if self._fact(protected) else kinds
        except NotOnGitHub:
            return kinds

    def environment_secrets(self, name: str) -> tuple[str, ...]:
        """Return the names of the secrets of an environment of jobs. Raises NotOnGitHub and
        PermissionMissing.
        """

        def read() -> tuple[str, ...]:
            environment = self._repository.get_environment(name).complete()
            return tuple(secret.name for secret in environment.get_secrets())

        what = f"the environment {name} of {self.name} could not be read"
        return self._do(what, "environment", read)

    def has_commit(self, ref: str) -> bool:
        """Return whether a commit, tag or branch of this name is there and may be seen."""
        what = f"{self.name}@{ref} could not be looked for"
        try:
            return bool(
                self._do(what, "commit", lambda: self._repository.get_commit(ref).complete().sha)
            )
        except (NotOnGitHub, GitHubRefused):
            return False

    def _fact(self, ask: Callable[[], T]) -> T:
        return self._do(f"{self.name} could not be looked at", "repository", ask)

    def _text_of_file(self, repository: "Repository", path: str) -> str | None:
        def read() -> str:
            file = repository.get_contents(path, ref=repository.default_branch)
            return "" if isinstance(file, list) else file.decoded_content.decode(errors="replace")

        try:
            return self._fact(read)
        except NotOnGitHub:
            return None
