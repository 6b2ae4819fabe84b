"""The port to one GitHub repository: the interface that hosts use and tests implement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from forge_bot.github_api.types import (
    Comment,
    FailedCheck,
    Issue,
    IssueEvent,
    NewPullRequest,
    PullRequest,
    Reaction,
    RepositoryFacts,
    RepositoryRole,
)


class GitHub(Protocol):
    """One repository on GitHub.

    Every method may raise a GitHubError. A method that raises has changed nothing, unless its
    docstring says otherwise.
    """

    def issue(self, number: int) -> Issue:
        """Return an issue or pull request by number. Raises NotOnGitHub, MovedElsewhere."""
        ...

    def issues_of(self, login: str) -> tuple[Issue, ...]:
        """Return the issues that an account opened, closed ones too, without pull requests."""
        ...

    def open_issue(self, title: str, body: str) -> Issue:
        """Open an issue. Raises TextTooLong before anything is sent, GitHubRefused."""
        ...

    def comments(self, number: int, since_id: int = 0) -> tuple[Comment, ...]:
        """Return the comments with a greater id, in the order of their ids.

        None is missing and none occurs twice.
        """
        ...

    def events(self, number: int) -> tuple[IssueEvent, ...]:
        """Return the events of an issue, oldest first.

        They include added and removed labels and changed titles.
        """
        ...

    def body_edited_at(self, number: int) -> datetime | None:
        """Return the time of the last edit of an issue's body; None for a body without edits."""
        ...

    def reactions_to_comment(self, comment_id: int) -> tuple[tuple[str, str], ...]:
        """Return the reactions to a comment as pairs of login and reaction name."""
        ...

    def role(self, login: str) -> RepositoryRole:
        """Return an account's permission here. An account that does not exist has none."""
        ...

    def comment(self, number: int, body: str) -> Comment:
        """Post a comment and return it with GitHub's own time.

        Raises TextTooLong before anything is sent, ConversationLocked.
        """
        ...

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace the text of one's own comment. Raises TextTooLong, NotOnGitHub."""
        ...

    def react(self, number: int, reaction: Reaction) -> None:
        """React to an issue. A second call changes nothing."""
        ...

    def react_to_comment(self, comment_id: int, reaction: Reaction) -> None:
        """React to a comment. A second call changes nothing."""
        ...

    def create_label(self, name: str, color: str, description: str) -> bool:
        """Create a label, `color` as six hex digits. Return False if the name exists."""
        ...

    def pull_request_for(self, branch: str) -> PullRequest | None:
        """Return the open pull request of a branch, or the newest closed one.

        Those of forks are ignored.
        """
        ...

    def open_pull_request(self, new: NewPullRequest) -> PullRequest:
        """Open a pull request, or return the one already open for the same branches.

        Raises GitHubRefused.
        """
        ...

    def update_pull_request(
        self, number: int, *, title: str | None = None, body: str | None = None
    ) -> PullRequest:
        """Replace the title or the body."""
        ...

    def mark_ready(self, pull: PullRequest) -> None:
        """Mark a draft as ready for review."""
        ...

    def failed_checks(self, number: int) -> tuple[FailedCheck, ...]:
        """Return the failed checks at the head of a pull request, with the ends of their logs."""
        ...

    def facts(self, workflow: str, branches: Sequence[str] = ()) -> RepositoryFacts:
        """Return the facts that doctor checks. `workflow` is the path of the workflow file,
        `branches` may be there or not: which of them take signed commits only is asked too.
        """
        ...

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> None:
        """Start a workflow, named by its file name, on a branch."""
        ...
