"""Pull requests of a repository on GitHub: their text and state, their failed checks, each with the
end of its log, and their reviews. Only GraphQL tells whether a thread of a review is resolved.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forge_bot.errors import GitHubRefused
from forge_bot.forge.github.connection import Connection, call
from forge_bot.forge.github.gate_client import read_account
from forge_bot.forge.json_values import Node
from forge_bot.forge.types import (
    GHOST,
    Account,
    FailedCheck,
    NewPullRequest,
    PullRequest,
    PullState,
    ReviewComment,
    Reviews,
    ReviewThread,
    account_named,
)

if TYPE_CHECKING:
    import github.PullRequest
    from github.CheckRun import CheckRun
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from github.Repository import Repository


_SUCCEEDED = frozenset({"success", "neutral", "skipped"})
_MOST_LOGS = 5
_TIMEOUT = 20
_MOST_BYTES = 50_000_000
_LINES = 60
# Every line of a log begins with a timestamp; colours are ANSI sequences.
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _check(run: "CheckRun", log: str) -> FailedCheck:
    report = [run.output.title, run.output.summary] if run.output else []
    return FailedCheck(
        name=run.name,
        conclusion=run.conclusion or "",
        url=run.html_url or "",
        summary="\n".join(filter(None, report)),
        log=log,
    )


def _log(repository: "Repository", job: int, known: list[int]) -> str:
    """Return the last lines of a job's log; empty if it cannot be read, since it is optional."""
    from github import GithubException

    try:
        return _end_of_log(repository.get_workflow_job(job).logs_url()) if job in known else ""
    except GithubException:
        return ""


def _end_of_log(address: str) -> str:
    """Return the last lines of the log at a URL that GitHub gave; it is read without the token."""
    from urllib.request import Request, urlopen

    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        return ""
    try:
        # The scheme was checked above, and no token is sent.
        with urlopen(Request(address), timeout=_TIMEOUT) as answer:  # noqa: S310
            data = answer.read(_MOST_BYTES)
    except (OSError, ValueError):
        return ""
    text = _COLOUR.sub("", _STAMP.sub("", data.decode(errors="replace")))
    return "\n".join(text.splitlines()[-_LINES:])


MOST_PAGES = 10
"""Pages of a hundred threads each."""

_QUERY = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes {
        isResolved isOutdated path line originalLine
        first: comments(first: 1) { nodes { fullDatabaseId diffHunk } }
        comments(last: 50) { nodes { ...words createdAt isMinimized } }
      }
    }
    latestOpinionatedReviews(first: 100) {
      nodes { fullDatabaseId body author { __typename login } state submittedAt lastEditedAt url }
    }
  } }
}
fragment words on PullRequestReviewComment {
  fullDatabaseId body author { __typename login } lastEditedAt
}
"""


def _thread(node: Node) -> ReviewThread:
    first = next(iter(node.items("first", "nodes")), Node())
    return ReviewThread(
        resolved=node.true("isResolved"),
        first=int(first.text("fullDatabaseId") or 0),
        path=node.text("path"),
        line=node.number("line") or node.number("originalLine"),
        outdated=node.true("isOutdated"),
        hunk=first.text("diffHunk"),
        comments=tuple(
            _comment(comment, "createdAt")
            for comment in node.items("comments", "nodes")
            if not comment.true("isMinimized")
        ),
    )


def _comment(node: Node, written: str) -> ReviewComment:
    login, bot = node.text("author", "login"), node.text("author", "__typename") == "Bot"
    return ReviewComment(
        id=node.text("fullDatabaseId"),
        # GraphQL names the account of an app without `[bot]`.
        author=account_named(f"{login}[bot]" if bot else login) or GHOST,
        body=node.text("body"),
        url=node.text("url"),
        at=datetime.fromisoformat(node.text("lastEditedAt") or node.text(written)),
    )


def account_of(user: "NamedUser | Organization | None") -> Account:
    """Return the account as the gate reads it, or the ghost that GitHub shows for a deleted one."""
    if user is None:
        return GHOST
    return read_account(Node({"login": user.login, "type": user.type})) or GHOST


def is_own(pull: "github.PullRequest.PullRequest") -> bool:
    """Return whether its branch belongs to the repository itself, not to a fork."""
    head = pull.head.repo
    return bool(head) and head.full_name == pull.base.repo.full_name


def read_pull(pull: "github.PullRequest.PullRequest") -> PullRequest:
    """Return a pull request as PyGithub read it."""
    state = PullState.OPEN if pull.state == "open" else PullState.CLOSED
    return PullRequest(
        number=pull.number,
        title=pull.title,
        body=pull.body or "",
        author=account_of(pull.user),
        state=PullState.MERGED if pull.merged_at else state,
        draft=pull.draft,
        head=pull.head.ref,
        head_sha=pull.head.sha,
        base=pull.base.ref,
        url=pull.html_url,
        merged_at=pull.merged_at,
        merge_commit=(pull.merge_commit_sha or "") if pull.merged_at else "",
    )


class PullRequestCalls(Connection):
    """The calls of GitHub about pull requests."""

    @call("the pull request {name}#{number} could not be read", "pull request")
    def pull_request(self, number: int) -> PullRequest:
        """Return a pull request by its number. Raises NotOnGitHub."""
        return read_pull(self._repository.get_pull(number).complete())

    @call("the status {context} of {name}@{commit:.12} could not be set", "commit")
    def set_status(self, commit: str, context: str, state: str, description: str) -> None:
        """Set a status of a commit. Raises PermissionMissing."""
        place = self._repository.get_commit(commit)
        place.create_status(state, description=description, context=context)

    @call("the pull request of {branch} in {name} could not be looked for", "repository")
    def pull_request_for(self, branch: str) -> PullRequest | None:
        """Return the open pull request of a branch, or the newest closed one.

        Those of forks are ignored.
        """
        owner = self.name.partition("/")[0]
        pulls = self._repository.get_pulls(state="all", head=f"{owner}:{branch}")
        return max(
            (read_pull(pull) for pull in pulls if is_own(pull) and pull.head.ref == branch),
            key=lambda pull: (pull.state is PullState.OPEN, pull.number),
            default=None,
        )

    @call("the pull requests of {name} could not be read", "repository")
    def open_pulls(self) -> dict[str, int]:
        """Return the numbers of the open pull requests from branches of the repository itself, by
        branch.
        """
        pulls = self._repository.get_pulls(state="open")
        return {pull.head.ref: pull.number for pull in pulls if is_own(pull)}

    def open_pull_request(self, new: NewPullRequest) -> PullRequest:
        """Open a pull request, or return the one already open for the same branches. GitHub refuses
        a second one for them. Raises GitHubRefused.
        """
        try:
            return self._open(new)
        except GitHubRefused as refused:
            there = self.pull_request_for(new.head) if refused.exists_already else None
            if there is None or there.state is not PullState.OPEN:
                raise
            return there

    @call("the pull request of {new.head} in {name} could not be opened", "repository")
    def _open(self, new: NewPullRequest) -> PullRequest:
        pull = self._repository.create_pull(
            new.base, new.head, title=new.title, body=new.body, draft=new.draft
        )
        return read_pull(pull)

    @call("the pull request {name}#{number} could not be changed", "pull request")
    def update_pull_request(self, number: int, *, title: str, body: str) -> None:
        """Replace title and body."""
        self._repository.get_pull(number).edit(title=title, body=body)

    @call("the pull request {name}#{pull.number} could not be marked as ready", "pull request")
    def mark_ready(self, pull: PullRequest) -> None:
        """Mark a draft as ready for review."""
        self._repository.get_pull(pull.number).mark_ready_for_review()

    @call("{login} could not be asked to review {name}#{number}", "pull request")
    def request_review(self, number: int, login: str) -> None:
        """Ask an account for a review. Raises GitHubRefused for one that may not give it."""
        self._repository.get_pull(number).create_review_request([login])

    @call("the checks of {name}#{number} could not be read", "pull request")
    def failed_checks(self, number: int) -> tuple[FailedCheck, ...]:
        """Return the checks at the head of a pull request that did not succeed: check runs with the
        ends of their logs, and statuses.
        """
        repository = self._repository
        place = repository.get_commit(repository.get_pull(number).head.sha)
        runs = place.get_check_runs(filter="latest", status="completed")
        failed = [run for run in runs if run.conclusion not in _SUCCEEDED]
        # Jobs of Actions have a log with the same id.
        jobs = [run.id for run in failed if run.app and run.app.slug == "github-actions"]
        statuses = [
            FailedCheck(
                name=status.context,
                conclusion=status.state,
                url=status.target_url or "",
                summary=status.description or "",
            )
            for status in place.get_combined_status().statuses
            if status.state in {"error", "failure"}
        ]
        logged = jobs[:_MOST_LOGS]
        return (*(_check(run, _log(repository, run.id, logged)) for run in failed), *statuses)

    @call("the reviews of {name}#{number} could not be read", "pull request")
    def reviews(self, number: int) -> Reviews:
        """Return the unresolved threads and requested changes of a pull request."""
        owner, _, short = self.name.partition("/")
        threads, pull, after = list[Node](), Node(), ""
        for _page in range(MOST_PAGES):
            place = {"owner": owner, "name": short, "number": number, "after": after or None}
            answer = Node(self._client.requester.graphql_query(_QUERY, place)[1])
            pull = answer.at("data", "repository", "pullRequest")
            threads += pull.items("reviewThreads", "nodes")
            after = pull.text("reviewThreads", "pageInfo", "endCursor")
            if not pull.true("reviewThreads", "pageInfo", "hasNextPage"):
                break
        read = map(_thread, threads)
        return Reviews(
            threads=tuple(thread for thread in read if thread.comments),
            requests=tuple(
                _comment(node, "submittedAt")
                for node in pull.items("latestOpinionatedReviews", "nodes")
                if node.text("state") == "CHANGES_REQUESTED"
            ),
            unread=max((pull.number("reviewThreads", "totalCount") or 0) - len(threads), 0),
        )

    @call("the thread {comment} of {name}#{number} could not be answered", "thread", again=False)
    def reply_in_review(self, number: int, comment: int, body: str) -> None:
        """Answer in a thread of a review, below its first comment. Raises NotOnGitHub."""
        self._repository.get_pull(number).create_review_comment_reply(comment, body)
