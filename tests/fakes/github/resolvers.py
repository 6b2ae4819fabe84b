"""What the GraphQL mutations and queries do, for one caller."""

import base64
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tests.fakes.github.people import Role, Token
from tests.fakes.github.push_rules import WORKFLOWS
from tests.fakes.github.render import stamp
from tests.fakes.github.render.reviews import reviews
from tests.fakes.github.replies import Thing
from tests.fakes.github.smart_http import may_change_workflows
from tests.fakes.github.state import Comment, Issue, Repository

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
        mutations: dict[str, Callable[[Thing], Thing]] = {
            "markPullRequestReadyForReview": self._ready,
            "convertPullRequestToDraft": self._draft,
            "minimizeComment": self._minimize,
            "unminimizeComment": self._unminimize,
            "createCommitOnBranch": self._commit,
        }

        self.fields: Thing = {name: _answering(mutation) for name, mutation in mutations.items()}
        self.fields |= {
            "id": "Q",
            "viewer": _user(token),
            "repository": self._repository,
            "node": self._node,
        }

    # -- queries
    # ----------------------------------------------------------------------------------------------

    def _repository(self, _info: object, owner: str, name: str, **_flags: object) -> Thing:
        repo = self.hub.find(owner, name)
        if repo is None or (repo.private and not self._may(repo, Role.READ, "metadata", "read")):
            raise Denied(
                "NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'."
            )

        def numbered(kind: str, _info: object, number: int) -> Thing:
            issue = repo.issues.get(number)
            if issue is None or (issue.pull is not None) != (kind == "a PullRequest"):
                raise Denied(
                    "NOT_FOUND", f"Could not resolve to {kind} with the number of {number}."
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
            "pullRequest": partial(numbered, "a PullRequest"),
            "issue": partial(numbered, "an Issue"),
        }

    def _node(self, _info: object, id: str) -> Thing:  # noqa: A002 - GraphQL's name
        repo, thing = self._found(id)
        return self._shown(repo, thing)

    # -- mutations
    # ----------------------------------------------------------------------------------------------

    def _pull(self, node: str, mutation: str) -> tuple[Repository, Issue]:
        repo, thing = self._found(node)
        if not isinstance(thing, Issue) or thing.pull is None:
            raise Denied(
                "NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'."
            )
        if not (
            self._may(repo, Role.WRITE, "pull_requests", "write")
            or (thing.user is self.token.user and not self.token.app)
        ):
            self._deny(mutation)
        return repo, thing

    def _ready(self, given: Thing) -> Thing:
        repo, issue = self._pull(given["pullRequestId"], "MarkPullRequestReadyForReview")
        if issue.pull:
            issue.pull.draft = False
        return {"pullRequest": self._shown(repo, issue)}

    def _draft(self, given: Thing) -> Thing:
        repo, issue = self._pull(given["pullRequestId"], "ConvertPullRequestToDraft")
        if issue.pull:
            issue.pull.draft = True
        return {"pullRequest": self._shown(repo, issue)}

    def _comment(self, node: str, mutation: str) -> tuple[Repository, Comment]:
        repo, thing = self._found(node)
        if not isinstance(thing, Comment):
            raise Denied(
                "NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'."
            )
        own = "pull_requests" if thing.issue.pull else "issues"
        if not (self._may(repo, Role.TRIAGE, own, "write") or thing.user is self.token.user):
            self._deny(mutation)
        return repo, thing

    def _minimize(self, given: Thing) -> Thing:
        repo, comment = self._comment(given["subjectId"], "MinimizeComment")
        comment.minimized = str(given["classifier"]).lower().replace("_", "-")
        return {"minimizedComment": self._shown(repo, comment)}

    def _unminimize(self, given: Thing) -> Thing:
        repo, comment = self._comment(given["subjectId"], "UnminimizeComment")
        comment.minimized = None
        return {"unminimizedComment": self._shown(repo, comment)}

    def _commit(self, given: Thing) -> Thing:
        where = given["branch"]
        owner, _, name = where.get("repositoryNameWithOwner", "/").partition("/")
        repo, branch = (
            self.hub.find(owner, name),
            where.get("branchName", "").removeprefix("refs/heads/"),
        )
        if repo is None or not repo.bare.head(branch):
            raise Denied("NOT_FOUND", f'Branch "{branch}" not found.')
        if not self._may(repo, Role.WRITE, "contents", "write"):
            self._deny("CreateCommitOnBranch")
        old, expected = repo.bare.head(branch), given["expectedHeadOid"]
        if old != expected:
            raise Denied(
                "STALE_DATA",
                f'Expected branch to point to "{expected}" but it did not. Pull and try again.',
            )
        self._guard(repo, branch, files := _files(given.get("fileChanges") or {}))
        message = given["message"]["headline"] + (
            f"\n\n{given['message']['body']}" if given["message"].get("body") else ""
        )
        sha = repo.bare.commit(
            branch, files, message, self.hub.signature(self.token.user), self.hub.clock.tick()
        )
        page = f"{self.hub.url}/{repo.full_name}/commit/{sha}"
        return {
            "commit": {
                "id": f"C_{sha}",
                "oid": sha,
                "url": page,
                "messageHeadline": given["message"]["headline"],
            }
        }

    def _guard(self, repo: Repository, branch: str, files: dict[str, bytes | None]) -> None:
        above = not self.token.app and repo.role(self.token.user) >= Role.ADMIN
        if branch in repo.protections and not above:
            raise Denied("UNPROCESSABLE", "Changes must be made through a pull request.")
        touched = any(path.startswith(WORKFLOWS) for path in files)
        if touched and may_change_workflows(self.token) is not True:
            self._deny("CreateCommitOnBranch")

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

    def _found(self, node: str) -> tuple[Repository, Issue | Comment]:
        found = self.hub.node(node)
        if found is None or (
            found[0].private and not self._may(found[0], Role.READ, "metadata", "read")
        ):
            raise Denied("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")
        return found

    def _shown(self, repo: Repository, thing: Issue | Comment) -> Thing:
        if isinstance(thing, Comment):
            page = f"{self.hub.url}/{repo.full_name}/{thing.issue.kind}/{thing.issue.number}#issuecomment-{thing.id}"
            about = {
                "__typename": "IssueComment",
                "id": f"IC_{thing.id}",
                "databaseId": thing.id,
                "body": thing.body,
                "url": page,
            }
            return {
                **about,
                "isMinimized": thing.minimized is not None,
                "minimizedReason": thing.minimized,
            }
        state = "MERGED" if thing.pull and thing.pull.merged else thing.state.upper()
        page = f"{self.hub.url}/{repo.full_name}/{thing.kind}/{thing.number}"
        about = {
            "databaseId": thing.id,
            "number": thing.number,
            "title": thing.title,
            "body": thing.body or "",
            "state": state,
            "url": page,
        }
        if thing.pull is None:
            edited = stamp(thing.body_edited) if thing.body_edited is not None else None
            return {**about, "__typename": "Issue", "id": f"I_{thing.id}", "lastEditedAt": edited}
        ends = {
            "headRefName": thing.pull.head,
            "baseRefName": thing.pull.base,
            "isDraft": thing.pull.draft,
        }
        return {
            **about,
            **ends,
            "__typename": "PullRequest",
            "id": f"PR_{thing.id}",
            "headRefOid": repo.bare.head(thing.pull.head),
            **reviews(f"{page}#discussion_r", thing.pull),
        }


def _user(token: Token) -> Thing:
    return {
        "__typename": "User",
        "id": f"U_{token.user.id}",
        "databaseId": token.user.id,
        "login": token.user.login,
    }


def _files(changes: Thing) -> dict[str, bytes | None]:
    added: list[Thing] = changes.get("additions") or []
    gone: list[Thing] = changes.get("deletions") or []
    return {
        **{each["path"]: base64.b64decode(each["contents"]) for each in added},
        **{each["path"]: None for each in gone},
    }


def _answering(mutation: Callable[[Thing], Thing]) -> Callable[..., Thing]:
    def resolve(_info: object, **arguments: Thing) -> Thing:
        given = arguments["input"]
        return {"clientMutationId": given.get("clientMutationId"), **mutation(given)}

    return resolve
