"""Pull requests of a repository on GitHub: their text, state, checks and reviews."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from forge_bot.errors import (
    GitHubRefused,
)
from forge_bot.github_api.check_runs import failed_checks
from forge_bot.github_api.connection import Connection, check_length
from forge_bot.github_api.reviews import Reviews, read_reviews
from forge_bot.github_api.types import (
    FailedCheck,
    NewPullRequest,
    PullRequest,
    PullState,
    is_own,
    read_pull,
)

if TYPE_CHECKING:
    pass

T = TypeVar("T")


class PullRequestCalls(Connection):
    """What is asked of GitHub about pull requests."""

    def pull_request(self, number: int) -> PullRequest:
        """Return a pull request by its number. Raises NotOnGitHub."""
        what = f"the pull request {self.name}#{number} could not be read"
        return self._do(
            what, "pull request", lambda: read_pull(self._repository.get_pull(number).complete())
        )

    def set_status(self, commit: str, context: str, state: str, description: str) -> None:
        """Set a status of a commit. Raises PermissionMissing."""
        what = f"the status {context} of {self.name}@{commit[:12]} could not be set"

        def create() -> object:
            place = self._repository.get_commit(commit)
            return place.create_status(state, description=description, context=context)

        self._do(what, "commit", create)

    def pull_request_for(self, branch: str) -> PullRequest | None:
        """Return the open pull request of a branch, or the newest closed one.

        Those of forks are ignored.
        """

        def read() -> list[PullRequest]:
            owner = self.name.partition("/")[0]
            pulls = self._repository.get_pulls(state="all", head=f"{owner}:{branch}")
            return [read_pull(pull) for pull in pulls if is_own(pull) and pull.head.ref == branch]

        what = f"the pull request of {branch} in {self.name} could not be looked for"
        return max(
            self._do(what, "repository", read),
            key=lambda pull: (pull.state is PullState.OPEN, pull.number),
            default=None,
        )

    def pulls(self, numbers: Iterable[int]) -> tuple[PullRequest, ...]:
        """Return the pull requests of these numbers, those of forks too."""
        wanted = set(numbers)

        def read() -> tuple[PullRequest, ...]:
            known = dict[int, PullRequest]()
            for pull in self._repository.get_pulls("all", sort="created", direction="desc"):
                if pull.number in wanted:
                    known[pull.number] = read_pull(pull)
                if len(known) == len(wanted) or pull.number <= min(wanted):
                    break
            return tuple(known.values())

        what = f"the pull requests of {self.name} could not be read"
        return self._do(what, "repository", read) if wanted else ()

    def open_pulls(self) -> dict[str, int]:
        """Return the numbers of the open pull requests from branches of the repository itself, by
        branch.
        """

        def read() -> dict[str, int]:
            pulls = self._repository.get_pulls(state="open")
            return {pull.head.ref: pull.number for pull in pulls if is_own(pull)}

        return self._do(f"the pull requests of {self.name} could not be read", "repository", read)

    def open_pull_request(self, new: NewPullRequest) -> PullRequest:
        """Open a pull request, or return the one already open for the same branches. GitHub refuses
        a second one for them. Raises GitHubRefused.
        """
        what = f"the pull request of {new.head} in {self.name} could not be opened"
        check_length(what, new.body, new.title)

        def create() -> PullRequest:
            pull = self._repository.create_pull(
                new.base, new.head, title=new.title, body=new.body, draft=new.draft
            )
            return read_pull(pull)

        try:
            return self._do(what, "repository", create)
        except GitHubRefused as refused:
            there = self.pull_request_for(new.head) if refused.exists_already else None
            if there is None or there.state is not PullState.OPEN:
                raise
            return there

    def update_pull_request(self, number: int, *, title: str, body: str) -> None:
        """Replace title and body."""
        what = f"the pull request {self.name}#{number} could not be changed"
        check_length(what, body, title)

        def edit() -> None:
            self._repository.get_pull(number).edit(title=title, body=body)

        self._do(what, "pull request", edit)

    def mark_ready(self, pull: PullRequest) -> None:
        """Mark a draft as ready for review."""
        self._do(
            f"the pull request {self.name}#{pull.number} could not be marked as ready",
            "pull request",
            lambda: self._repository.get_pull(pull.number).mark_ready_for_review(),
        )

    def request_review(self, number: int, login: str) -> None:
        """Ask an account for a review. Raises GitHubRefused for one that may not give it."""
        self._do(
            f"{login} could not be asked to review {self.name}#{number}",
            "pull request",
            lambda: self._repository.get_pull(number).create_review_request([login]),
        )

    def failed_checks(self, number: int) -> tuple[FailedCheck, ...]:
        """Return the failed checks at the head of a pull request, with the ends of their logs."""

        def read() -> tuple[FailedCheck, ...]:
            repository = self._repository
            return failed_checks(repository, repository.get_pull(number).head.sha)

        what = f"the checks of {self.name}#{number} could not be read"
        return self._do(what, "pull request", read)

    def reviews(self, number: int) -> Reviews:
        """Return the unresolved threads and requested changes of a pull request."""

        def read() -> Reviews:
            ask = self._client.requester.graphql_query
            return read_reviews(lambda query, given: ask(query, given)[1], self.name, number)

        return self._do(
            f"the reviews of {self.name}#{number} could not be read", "pull request", read
        )

    def reply_in_review(self, number: int, comment: int, body: str) -> None:
        """Answer in a thread of a review, below its first comment. Raises NotOnGitHub."""
        what = f"the thread {comment} of {self.name}#{number} could not be answered"
        check_length(what, body)

        def create() -> object:
            return self._repository.get_pull(number).create_review_comment_reply(comment, body)

        self._do(what, "thread", create, again=False)
