"""What the GraphQL mutation and queries do, for one caller."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.fakes.github.people import Role, Token
from tests.fakes.github.render.reviews import reviews
from tests.fakes.github.replies import Thing
from tests.fakes.github.state import Issue, Repository

if TYPE_CHECKING:
    from tests.fakes.github.world import World


class Denied(Exception):
    """An error with GitHub's `type` beside its message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Root:
    """The resolvers of queries and mutations for one caller."""

    def __init__(self, hub: "World", token: Token) -> None:
        self.hub, self.token = hub, token
        self.fields: Thing = {
            "id": "Q",
            "viewer": _user(token),
            "repository": self._repository,
            "markPullRequestReadyForReview": _answering(self._ready),
        }

    # -- queries
    # ----------------------------------------------------------------------------------------------

    def _repository(self, _info: object, owner: str, name: str, **_flags: object) -> Thing:
        repo = self.hub.find(owner, name)
        if repo is None or (repo.private and not self._may(repo, Role.READ, "metadata", "read")):
            raise Denied(
                "NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'."
            )

        def numbered(_info: object, number: int) -> Thing:
            issue = repo.issues.get(number)
            if issue is None or issue.pull is None:
                raise Denied(
                    "NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}."
                )
            return self._shown(repo, issue)

        return {
            "id": f"R_{repo.id}",
            "databaseId": repo.id,
            "name": repo.name,
            "nameWithOwner": repo.full_name,
            "url": f"{self.hub.url}/{repo.full_name}",
            "isPrivate": repo.private,
            "isArchived": repo.archived,
            "pullRequest": numbered,
        }

    # -- mutations
    # ----------------------------------------------------------------------------------------------

    def _ready(self, given: Thing) -> Thing:
        node = given["pullRequestId"]
        found = self.hub.pull_of(node)
        if found is None or (
            found[0].private and not self._may(found[0], Role.READ, "metadata", "read")
        ):
            raise Denied("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")
        repo, issue = found
        if not (
            self._may(repo, Role.WRITE, "pull_requests", "write")
            or (issue.user is self.token.user and not self.token.app)
        ):
            self._deny("MarkPullRequestReadyForReview")
        if issue.pull:
            issue.pull.draft = False
        return {"pullRequest": self._shown(repo, issue)}

    # -- what all of them need
    # ----------------------------------------------------------------------------------------------

    def _may(self, repo: Repository, role: Role, area: str, level: str) -> bool:
        if self.token.app:
            return self.token.repository == repo.id and self.token.holds(area, level)
        return repo.role(self.token.user) >= role

    def _deny(self, mutation: str) -> None:
        if self.token.app:
            raise Denied("FORBIDDEN", "Resource not accessible by integration")
        raise Denied(
            "FORBIDDEN",
            f"{self.token.user.login} does not have the correct permissions to execute"
            f" `{mutation}`",
        )

    def _shown(self, repo: Repository, issue: Issue) -> Thing:
        pull = issue.pull
        assert pull is not None
        page = f"{self.hub.url}/{repo.full_name}/pull/{issue.number}"
        return {
            "__typename": "PullRequest",
            "id": f"PR_{issue.id}",
            "databaseId": issue.id,
            "number": issue.number,
            "title": issue.title,
            "body": issue.body or "",
            "state": "MERGED" if pull.merged else issue.state.upper(),
            "url": page,
            "headRefName": pull.head,
            "headRefOid": repo.bare.head(pull.head),
            "baseRefName": pull.base,
            "isDraft": pull.draft,
            **reviews(f"{page}#discussion_r", pull),
        }


def _user(token: Token) -> Thing:
    return {
        "__typename": "User",
        "id": f"U_{token.user.id}",
        "databaseId": token.user.id,
        "login": token.user.login,
    }


def _answering(mutation: Callable[[Thing], Thing]) -> Callable[..., Thing]:
    def resolve(_info: object, **arguments: Thing) -> Thing:
        given = arguments["input"]
        return {"clientMutationId": given.get("clientMutationId"), **mutation(given)}

    return resolve
