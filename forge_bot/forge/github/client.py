"""One repository on GitHub with all that is asked of it: its issues and their threads, its pull
requests, and its settings, rules, secrets by name and workflows.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from forge_bot.errors import GitHubRefused, MovedElsewhere, NotOnGitHub, PermissionMissing
from forge_bot.forge.github.connection import call
from forge_bot.forge.github.gate_client import read_membership
from forge_bot.forge.github.pull_request_calls import PullRequestCalls, account_of
from forge_bot.forge.json_values import Node
from forge_bot.forge.types import Comment, Issue, Membership, Reaction, Role

if TYPE_CHECKING:
    import github.Issue
    from github.IssueComment import IssueComment
    from github.Repository import Repository


_MAY_OPEN = "can_approve_pull_request_reviews"
_NOT_FOUND = 404


def read_issue(issue: "github.Issue.Issue", *, whole: bool = False) -> Issue:
    """Return an issue as PyGithub read it. Lists may lack what a `whole` one has."""
    return Issue(
        number=issue.number,
        title=issue.title,
        body=issue.body or "",
        labels=tuple(label.name for label in issue.labels if label.name),
        author=account_of(issue.user),
        url=issue.html_url,
        state=issue.state,
        closed_at=issue.closed_at if issue.state == "closed" else None,
        state_reason=issue.state_reason or "",
        is_pull_request="/pull/" in issue.html_url,
        type=(issue.type.name or "") if whole and issue.type else "",
    )


def read_comment(comment: "IssueComment") -> Comment:
    """Return a comment as PyGithub read it."""
    if not comment.id:
        raise ValueError("the address of another place, not a comment")
    app = comment.performed_via_github_app
    return Comment(
        id=comment.id,
        author=account_of(comment.user),
        body=comment.body or "",
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        url=comment.html_url,
        via_app=(app.slug or "an app") if app else "",
    )


class GitHub(PullRequestCalls):
    """A repository with all that is asked of GitHub about it."""

    @call("{name}#{number} could not be read", "issue")
    def issue(self, number: int) -> Issue:
        """Return an issue or pull request by number. A read is redirected silently: `name` is the
        new name of a renamed repository from then on. Raises NotOnGitHub, and MovedElsewhere for an
        issue that belongs to another repository now.
        """
        issue = self._repository.get_issue(number).complete()
        there, before = issue.repository_url.partition("/repos/")[2].lower(), self.name
        if there != self.name.lower():
            self.name = self._repository.complete().full_name
        if there != self.name.lower():
            sentence = f"{before}#{number} could not be read: it was moved to {issue.html_url}."
            raise MovedElsewhere(sentence, to=issue.html_url)
        return read_issue(issue, whole=True)

    @call("{name}#{number} could not be read", "issue")
    def rendered(self, number: int) -> str:
        """Return the text of an issue and its first comments as HTML, in which images of a private
        repository have addresses that open for some minutes.
        """
        pages = (f"issues/{number}", f"issues/{number}/comments?per_page=100")
        asked = {"Accept": "application/vnd.github.full+json"}
        ask, base = self._client.requester.requestJsonAndCheck, self._repository.url
        parts = [Node(ask("GET", f"{base}/{page}", headers=asked)[1]) for page in pages]
        return "\n".join(item.text("body_html") for item in (parts[0], *parts[1].items()))

    @call("the comments of {name}#{number} could not be read", "issue")
    def comments(self, number: int) -> tuple[Comment, ...]:
        """Return all comments in the order of their ids."""
        comments = map(read_comment, self._repository.get_issue(number).get_comments())
        return tuple(sorted(comments, key=lambda comment: comment.id))

    @call("the role of {login} in {name} could not be read", "account")
    def membership(self, login: str) -> Membership:
        """Return an account's role here. An account that does not exist has none."""
        path = f"/repos/{self.name}/collaborators/{quote(login, safe='')}/permission"
        with _if_there():
            answer = self._client.requester.requestJsonAndCheck("GET", path)[1]
            return read_membership(login, 200, Node(answer))
        return Role.NONE

    def team_members(self, team: str) -> frozenset[str] | None:
        """Return the logins of a team, named as `org/team`, and of the teams below it, in small
        letters; None for a team that the token may not read, and for another organization's.
        """
        if team.partition("/")[0].casefold() != self.name.partition("/")[0].casefold():
            return None
        try:
            return self._members(team)
        except (NotOnGitHub, PermissionMissing, GitHubRefused):
            return None

    @call("the team {team} could not be read", "team")
    def _members(self, team: str) -> frozenset[str]:
        from github.NamedUser import NamedUser
        from github.PaginatedList import PaginatedList

        organization, _, slug = team.partition("/")
        path = f"/orgs/{quote(organization, safe='')}/teams/{quote(slug, safe='')}/members"
        people = PaginatedList(NamedUser, self._client.requester, path, {})
        return frozenset(person.login.casefold() for person in people)

    @call("the comment on {name}#{number} could not be written", "issue", again=False)
    def comment(self, number: int, body: str) -> Comment:
        """Post a comment and return it with GitHub's own time. Raises ConversationLocked."""
        return read_comment(self._repository.get_issue(number).create_comment(body))

    @call("comment {comment_id} of {name} could not be changed", "comment")
    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace the text of one's own comment. Raises NotOnGitHub."""
        self._comment(comment_id).edit(body)

    @call("comment {comment_id} of {name} could not be reacted to", "comment")
    def react_to_comment(self, comment_id: int, reaction: Reaction) -> None:
        """React to a comment. A second call changes nothing."""
        self._comment(comment_id).create_reaction(reaction)

    def _comment(self, comment_id: int) -> "IssueComment":
        # A comment's address has no number of an issue in it.
        return self._repository.get_issue(1).get_comment(comment_id)

    @call("the label {label!r} could not be put on {name}#{number}", "issue")
    def add_label(self, number: int, label: str) -> None:
        """Put a label on an issue. One that is there stays, one that does not exist is made."""
        path, given = f"/repos/{self.name}/issues/{number}/labels", {"labels": [label]}
        self._client.requester.requestJsonAndCheck("POST", path, input=given)

    @call("the label {label!r} could not be taken off {name}#{number}", "label")
    def remove_label(self, number: int, label: str) -> None:
        """Take a label off an issue. Raises NotOnGitHub if it is not on it."""
        self._repository.get_issue(number).remove_from_labels(label)

    @call("the issues of {name} with the label {label!r} could not be read", "repository")
    def issues_labelled(self, label: str) -> tuple[int, ...]:
        """Return the numbers of the open issues that have a label."""
        issues = self._repository.get_issues(state="open", labels=[label])
        return tuple(issue.number for issue in issues)

    @call("the workflow {workflow} of {name} could not be started", "workflow", again=False)
    def dispatch(self, workflow: str, branch: str, inputs: dict[str, str]) -> None:
        """Start a workflow of a branch, by the name of its file. Raises NotOnGitHub."""
        given = self._repository.get_workflow(workflow)
        # The library says no more than `dict`.
        given.create_dispatch(branch, inputs, throw=True)  # pyright: ignore[reportUnknownMemberType]

    # -- the repository itself
    # ----------------------------------------------------------------------------------------------

    @call("{name} could not be looked at", "repository")
    def about(self) -> "Repository":
        """Return the repository as PyGithub reads it."""
        return self._repository.complete()

    @call("{name} could not be looked at", "repository")
    def labels(self) -> tuple[str, ...]:
        """Return the names of the labels."""
        return tuple(label.name for label in self._repository.get_labels())

    @call("{name} could not be looked at", "repository")
    def may_open_pulls(self) -> bool:
        """Return whether Actions may open pull requests. Raises PermissionMissing."""
        address = f"{self._repository.url}/actions/permissions/workflow"
        return Node(self._client.requester.requestJsonAndCheck("GET", address)[1]).true(_MAY_OPEN)

    @call("{name} could not be looked at", "repository")
    def workflow_state(self, workflow: str) -> str:
        """Return the state of a workflow by the name of its file, such as active or
        disabled_manually. Raises NotOnGitHub and PermissionMissing.
        """
        return self._repository.get_workflow(workflow).state

    @call("{name} could not be looked at", "repository")
    def rules_of(self, branch: str) -> tuple[str, ...]:
        """Return the kinds of the rules that hold for a branch, which need not exist. Branch
        protection, the older kind, is `protection`.
        """
        address = f"{self._repository.url}/rules/branches/{quote(branch, safe='')}"
        rules = self._client.requester.requestJsonAndCheck("GET", address)[1]
        kinds = tuple(Node(rule).text("type") for rule in cast("list[object]", rules))
        with _if_there():
            if self._repository.get_branch(branch).protected:
                return (*kinds, "protection")
        return kinds

    @call("{name} could not be looked at", "repository")
    def text_of_file(self, path: str, branch: str) -> str | None:
        """Return the text of a file of a branch; None if it is not there."""
        with _if_there():
            file = self._repository.get_contents(path, ref=branch)
            return "" if isinstance(file, list) else file.decoded_content.decode(errors="replace")
        return None

    @call("{name} could not be looked at", "repository")
    def secrets(self) -> tuple[str, ...]:
        """Return the names of the secrets. Raises PermissionMissing."""
        return tuple(secret.name for secret in self._repository.get_secrets())

    @call("the environment {environment} of {name} could not be read", "environment")
    def environment_secrets(self, environment: str) -> tuple[str, ...]:
        """Return the names of the secrets of an environment of jobs. Raises NotOnGitHub and
        PermissionMissing.
        """
        secrets = self._repository.get_environment(environment).complete().get_secrets()
        return tuple(secret.name for secret in secrets)

    def has_commit(self, ref: str) -> bool:
        """Return whether a commit, tag or branch of this name is there and may be seen."""
        try:
            return bool(self._commit(ref))
        except (NotOnGitHub, GitHubRefused):
            return False

    @call("{name}@{ref} could not be looked for", "commit")
    def _commit(self, ref: str) -> str:
        return self._repository.get_commit(ref).complete().sha


@contextmanager
def _if_there() -> Generator[None]:
    """Pass over an answer 404. PyGithub's own class for it goes by the words, and GitHub's say
    `dependabot[bot] is not a user`, or `This repository is empty.`
    """
    from github import GithubException

    try:
        yield
    except GithubException as error:
        if error.status != _NOT_FOUND:
            raise


def connect(name: str, token: str | None, api: str, *, patience: float = 60.0) -> GitHub:
    """Return a client of the repository `name` (owner/name). Where a person waits who can call
    again, `patience` is 0: nothing is waited for.
    """
    return GitHub(name, token, api, patience=patience)


Forge = GitHub
"""The client, by the name under which forge-bot knows it."""
