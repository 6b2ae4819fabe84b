"""All that exists on the GitHub of the tests, and the rules that hold wherever it is changed."""

import threading
from typing import TYPE_CHECKING

from nacl.public import PrivateKey

from tests.fakes.github.people import Clock, Role, Token, User
from tests.fakes.github.push_rules import WORKFLOWS
from tests.fakes.github.replies import Refused, Thing, moved, not_found
from tests.fakes.github.smart_http import may_change_workflows
from tests.fakes.github.state import Issue, IssueEvent, Label, Repository

if TYPE_CHECKING:
    from tests.fakes.github.calls import Call

_ACTIONS_ID = 41_898_282


class World:
    """Accounts, tokens and repositories. Everything in it is reached under `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.clock = Clock()
        self.url = ""
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.repositories: dict[int, Repository] = {}
        self.teams: dict[str, tuple[str, ...]] = {}
        """Logins by team, as `acme/core`."""
        self.actions = User(_ACTIONS_ID, "github-actions[bot]", "Bot")
        self.users[self.actions.login] = self.actions
        self.nobody = Token("", User(0, "nobody"), limit=60)
        self._ids = 1000
        self.key_for_secrets = PrivateKey.generate()
        self.secret_values: dict[str, str] = {}

    def next_id(self) -> int:
        """An id that nothing has yet."""
        self._ids += 1
        return self._ids

    @property
    def storage_url(self) -> str:
        """Another host: where GitHub keeps logs."""
        return self.url.replace("127.0.0.1", "localhost")

    def account(self, login: str) -> User | None:
        """The account of that name; case does not count."""
        return self.users.get(login.lower())

    def find(self, owner: str, name: str) -> Repository | None:
        """The repository of that name, or of a former one."""
        wanted = f"{owner}/{name}".lower()
        every = self.repositories.values()
        now = next((repo for repo in every if repo.full_name.lower() == wanted), None)
        return now or next((repo for repo in every if wanted in repo.former), None)

    def found(self, owner: str, name: str) -> Repository:
        """The repository of that name; 404 without one."""
        repo = self.find(owner, name)
        if repo is None:
            raise not_found()
        return repo

    def remove(self, repo: Repository) -> None:
        """Delete a repository."""
        with self.lock:
            del self.repositories[repo.id]

    def rename(self, repo: Repository, name: str) -> None:
        """Another name; addresses with the old one lead to it from now on."""
        repo.former.append(repo.full_name.lower())
        repo.name = name

    def present(self, call: "Call", issue: Issue) -> Issue:
        """The issue, if it is still there: 410 for a deleted one, 301 or 307 for one that went to
        another repository.
        """
        if issue.deleted:
            raise Refused(410, "This issue was deleted")
        if issue.moved:
            repo, number = issue.moved
            rest = call.route.template.partition("_number}")[2].format(**call.params)
            raise moved(
                301 if call.route.method == "GET" else 307,
                f"{self.url}/repositories/{repo.id}/issues/{number}{rest}",
            )
        return issue

    def happened(
        self,
        issue: Issue,
        kind: str,
        actor: User | None,
        *,
        label: Label | None = None,
        titles: tuple[str, str] = ("", ""),
    ) -> IssueEvent:
        """Add an event to the timeline of an issue."""
        event = IssueEvent(self.next_id(), kind, actor, self.clock.tick(), label, titles)
        issue.events.append(event)
        return event

    def limit_of(self, token: Token | None) -> Thing:
        """The hourly limit and what is left of it."""
        asked = token or self.nobody
        left = max(asked.limit - asked.used, 0)
        return {
            "limit": asked.limit,
            "remaining": left,
            "reset": Clock().seconds + 3600,
            "used": asked.used,
            "resource": "core",
        }

    def signature(self, user: User) -> str:
        """An author as commits name one."""
        return f"{user.login} <{user.id}+{user.login}@users.noreply.github.com>"

    def guard_branch(
        self, call: "Call", branch: str, old: str, new: str, *, protected: bool = True
    ) -> None:
        """Refuse what a protected branch does not take, and commits that change workflows without
        permission for it.
        """
        del old
        guard = call.repo.protections.get(branch)
        above = (
            call.token is not None
            and not call.token.app
            and call.repo.role(call.user) >= Role.ADMIN
        )
        if protected and guard and not above:
            reason = (
                "Repository rule violations found"
                if guard.ruleset
                else "Changes must be made through a pull request."
            )
            raise Refused(422 if call.route.method != "PUT" else 409, reason)
        if new:
            self.guard_paths(call, call.repo.bare.arriving(new))

    def guard_paths(self, call: "Call", paths: list[str]) -> None:
        """Refuse a change to workflows where the token may not make one."""
        touched = [path for path in paths if path.startswith(WORKFLOWS)]
        if touched and call.token is not None and may_change_workflows(call.token) is not True:
            accepted = {"x-accepted-github-permissions": "contents=write,workflows=write"}
            raise Refused(
                403,
                "Resource not accessible by integration" if call.token.app else "Not Found",
                headers=accepted,
            )

    def pull_of(self, node_id: str) -> tuple[Repository, Issue] | None:
        """The pull request that a GraphQL id names."""
        for repo in self.repositories.values():
            for issue in repo.issues.values():
                if node_id == f"PR_{issue.id}" and issue.pull is not None and not issue.deleted:
                    return repo, issue
        return None
