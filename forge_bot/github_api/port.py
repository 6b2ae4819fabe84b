"""What the bot needs of GitHub, for one repository: the seam that hosts are given and tests stand behind."""

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
    """One repository on GitHub. Every method may raise a GitHubError; nothing is half done when one does, unless it says so."""

    def issue(self, number: int) -> Issue:
        """An issue or pull request by number. Raises NotOnGitHub, MovedElsewhere."""
        ...

    def comments(self, number: int, since_id: int = 0) -> tuple[Comment, ...]:
        """The comments whose id is greater, in the order of their ids: none is lost and none comes twice."""
        ...

    def events(self, number: int) -> tuple[IssueEvent, ...]:
        """Return what happened to an issue, the oldest first: labels that were added and removed, other titles."""
        ...

    def body_edited_at(self, number: int) -> datetime | None:
        """Return when the body of an issue was last edited; None for a body that stands as it was written."""
        ...

    def reactions_to_comment(self, comment_id: int) -> tuple[tuple[str, str], ...]:
        """Return who reacted to a comment and how, as login and the name of the reaction."""
        ...

    def role(self, login: str) -> RepositoryRole:
        """What somebody may do here. An account that does not exist may do nothing."""
        ...

    def comment(self, number: int, body: str) -> Comment:
        """Say something; the new comment, with GitHub's own time. Raises TextTooLong before anything is sent, ConversationLocked."""
        ...

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Another text for a comment of one's own. Raises TextTooLong, NotOnGitHub."""
        ...

    def react(self, number: int, reaction: Reaction) -> None:
        """React to an issue; a second time changes nothing."""
        ...

    def react_to_comment(self, comment_id: int, reaction: Reaction) -> None:
        """React to a comment; a second time changes nothing."""
        ...

    def label(self, number: int, names: Sequence[str]) -> None:
        """Put labels on an issue; GitHub makes those that do not exist."""
        ...

    def unlabel(self, number: int, name: str) -> bool:
        """Take a label off an issue; False when it was not on it."""
        ...

    def create_label(self, name: str, color: str, description: str) -> bool:
        """Make a label, `color` as six hex digits; False when there is one of that name."""
        ...

    def pull_request_for(self, branch: str) -> PullRequest | None:
        """The open pull request of a branch, or the newest closed one; those of forks do not count."""
        ...

    def open_pull_request(self, new: NewPullRequest) -> PullRequest:
        """Open a pull request; the one that is open already for the same branches when there is one. Raises GitHubRefused."""
        ...

    def update_pull_request(self, number: int, *, title: str | None = None, body: str | None = None) -> PullRequest:
        """Another title or text."""
        ...

    def mark_ready(self, pull: PullRequest) -> None:
        """No draft any more."""
        ...

    def failed_checks(self, number: int) -> tuple[FailedCheck, ...]:
        """What failed at the head of a pull request, with the ends of the logs."""
        ...

    def facts(self, workflow: str) -> RepositoryFacts:
        """What a checkup wants to know; `workflow` is the path of the workflow file."""
        ...

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> None:
        """Start a workflow, named by its file name, at a branch."""
        ...
