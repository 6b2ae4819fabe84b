"""One repository on GitHub, accessed through PyGithub."""

import time
from collections.abc import Callable, Mapping
from typing import Self
from urllib.parse import quote

from forge_bot.errors import GitHubRefused, NotOnGitHub, TextTooLong
from forge_bot.github_api.check_runs import failed_checks
from forge_bot.github_api.repository_facts import facts
from forge_bot.github_api.request_runner import (
    PAGE,
    ApiRequest,
    RepositoryRequests,
    RequestRunner,
)
from forge_bot.github_api.types import (
    Comment,
    FailedCheck,
    FromGitHub,
    Issue,
    NewPullRequest,
    Permission,
    PullRequest,
    PullState,
    Reaction,
    RepositoryFacts,
    RepositoryRole,
)
from forge_bot.sentences import say

LONGEST_BODY = 65_536
_MOST_BYTES = 4 * LONGEST_BODY
LONGEST_TITLE = 256
_PATIENCE = 60.0
_READY = (
    "mutation($input: MarkPullRequestReadyForReviewInput!) { markPullRequestReadyForReview(input:"
    " $input) { clientMutationId } }"
)


class _Created(FromGitHub):
    id: int


class GitHub:
    """The repository `name` (owner/name). Use it in a `with`, in one thread at a time.

    Every method may raise a GitHubError. A method that raises has changed nothing, unless its
    docstring says otherwise.

    `wait` is called with seconds when GitHub asks for a pause. A pause longer than `patience`
    raises RateLimited instead. A renamed repository is followed on the same host; from then on
    `name` is the new name.
    """

    def __init__(
        self,
        name: str,
        token: str | None,
        address: str = "https://api.github.com",
        *,
        wait: Callable[[float], None] = time.sleep,
        patience: float = _PATIENCE,
        timeout: int = 20,
    ) -> None:
        self._place = RepositoryRequests(
            name, RequestRunner(address, token, wait=wait, patience=patience, timeout=timeout)
        )

    @property
    def name(self) -> str:
        """Return owner/name as currently known."""
        return self._place.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._place.caller.close()

    # -- conversations
    # ----------------------------------------------------------------------------------------------

    def issue(self, number: int) -> Issue:
        """Return an issue or pull request by number. Raises NotOnGitHub, MovedElsewhere."""
        errand = self._place.errand("github.requests.issue_not_read", "issue", number=number)
        found = self._place.ask(errand, "GET", f"/issues/{number}").read(Issue)
        self._place.check(errand, found.repository_url, found.url)
        return found

    def issues_of(self, login: str) -> tuple[Issue, ...]:
        """Return the issues that an account opened, closed ones too, without pull requests."""
        errand = self._place.errand("github.requests.issues_not_read", "repository")
        query = {"creator": login, "state": "all", **PAGE}
        # The redirect of a renamed repository drops the query, so the results are filtered again.
        return tuple(
            each
            for each in self._place.every(errand, "/issues", Issue, query)
            if not each.is_pull_request and each.author.login.casefold() == login.casefold()
        )

    def open_issue(self, title: str, body: str) -> Issue:
        """Open an issue. Raises TextTooLong before anything is sent, GitHubRefused."""
        errand = self._place.errand("github.requests.issue_not_opened", "repository")
        sent = {"title": _title(errand, title), "body": _fitting(errand, body)}
        made = self._place.ask(errand, "POST", "/issues", body=sent)
        return made.read(Issue)

    def comments(self, number: int, since_id: int = 0) -> tuple[Comment, ...]:
        """Return the comments with a greater id, in the order of their ids.

        None is missing and none occurs twice.
        """
        errand = self._place.errand("github.requests.comments_not_read", "issue", number=number)
        found = [*self._place.every(errand, f"/issues/{number}/comments", Comment)]
        for first in found[:1]:
            self._place.check(errand, first.issue_url.rpartition("/issues/")[0], first.url)
        return tuple(each for each in sorted(found, key=lambda each: each.id) if each.id > since_id)

    def role(self, login: str) -> RepositoryRole:
        """Return an account's permission here. An account that does not exist has none."""
        errand = self._place.errand("github.requests.role_not_read", "account", login=login)
        try:
            path = f"/collaborators/{quote(login, safe='')}/permission"
            return self._place.ask(errand, "GET", path).read(RepositoryRole)
        except NotOnGitHub:
            return RepositoryRole(role_name="none", permission=Permission.NONE)

    def comment(self, number: int, body: str) -> Comment:
        """Post a comment and return it with GitHub's own time.

        Raises TextTooLong before anything is sent, ConversationLocked.
        """
        errand = self._place.errand("github.requests.comment_not_written", "issue", number=number)
        sent = {"body": _fitting(errand, body)}
        path = f"/issues/{number}/comments"
        return self._place.ask(errand, "POST", path, body=sent).read(Comment)

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace the text of one's own comment. Raises TextTooLong, NotOnGitHub."""
        errand = self._place.errand(
            "github.requests.comment_not_changed", "comment", comment=comment_id
        )
        self._place.ask(
            errand, "PATCH", f"/issues/comments/{comment_id}", body={"body": _fitting(errand, body)}
        ).read(_Created)

    def react(self, number: int, reaction: Reaction) -> None:
        """React to an issue. A second call changes nothing."""
        errand = self._place.errand("github.requests.no_reaction_to_issue", "issue", number=number)
        self._place.ask(
            errand,
            "POST",
            f"/issues/{number}/reactions",
            body={"content": reaction.value},
            same=True,
        ).read(_Created)

    def react_to_comment(self, comment_id: int, reaction: Reaction) -> None:
        """React to a comment. A second call changes nothing."""
        errand = self._place.errand(
            "github.requests.no_reaction_to_comment", "comment", comment=comment_id
        )
        self._place.ask(
            errand,
            "POST",
            f"/issues/comments/{comment_id}/reactions",
            body={"content": reaction.value},
            same=True,
        ).read(_Created)

    # -- labels
    # ----------------------------------------------------------------------------------------------

    def create_label(self, name: str, color: str, description: str) -> bool:
        """Create a label, `color` as six hex digits. Return False if the name exists."""
        errand = self._place.errand("github.requests.label_not_made", "repository", label=name)
        try:
            self._place.ask(
                errand,
                "POST",
                "/labels",
                body={"name": name, "color": color, "description": description},
            ).read(_Created)
        except GitHubRefused as refused:
            if refused.exists_already:
                return False
            raise
        return True

    # -- pull requests
    # ----------------------------------------------------------------------------------------------

    def pull_request_for(self, branch: str) -> PullRequest | None:
        """Return the open pull request of a branch, or the newest closed one.

        Those of forks are ignored.
        """
        errand = self._place.errand(
            "github.requests.pull_request_not_found", "repository", branch=branch
        )
        query = {"head": f"{self.name.partition('/')[0]}:{branch}", "state": "all", **PAGE}
        # The redirect of a renamed repository drops the query, so the results are filtered again.
        found = [
            each
            for each in self._place.every(errand, "/pulls", PullRequest, query)
            if each.own and each.head == branch
        ]
        return max(
            found, key=lambda pull: (pull.state is PullState.OPEN, pull.number), default=None
        )

    def open_pull_request(self, new: NewPullRequest) -> PullRequest:
        """Open a pull request, or return the one already open for the same branches.

        Raises GitHubRefused.
        """
        errand = self._place.errand(
            "github.requests.pull_request_not_opened", "repository", branch=new.head
        )
        body = {
            "title": _title(errand, new.title),
            "body": _fitting(errand, new.body),
            "head": new.head,
            "base": new.base,
            "draft": new.draft,
        }
        try:
            # GitHub refuses a second one for the same branches.
            return self._place.ask(errand, "POST", "/pulls", body=body, same=True).read(PullRequest)
        except GitHubRefused as refused:
            there = self.pull_request_for(new.head) if refused.exists_already else None
            if there is None or there.state is not PullState.OPEN:
                raise
            return there

    def update_pull_request(
        self, number: int, *, title: str | None = None, body: str | None = None
    ) -> PullRequest:
        """Replace the title or the body."""
        errand = self._place.errand(
            "github.requests.pull_request_not_changed", "pull request", number=number
        )
        given = {
            "title": None if title is None else _title(errand, title),
            "body": None if body is None else _fitting(errand, body),
        }
        changed = {name: value for name, value in given.items() if value is not None}
        return self._place.ask(errand, "PATCH", f"/pulls/{number}", body=changed).read(PullRequest)

    def mark_ready(self, pull: PullRequest) -> None:
        """Mark a draft as ready for review."""
        errand = self._place.errand(
            "github.requests.pull_request_not_ready", "pull request", number=pull.number
        )
        self._place.graphql(errand, _READY, {"input": {"pullRequestId": pull.node_id}})

    def failed_checks(self, number: int) -> tuple[FailedCheck, ...]:
        """Return the failed checks at the head of a pull request, with the ends of their logs."""
        return failed_checks(self._place, number)

    # -- the repository
    # ----------------------------------------------------------------------------------------------

    def facts(self, workflow: str) -> RepositoryFacts:
        """Return the facts that doctor checks. `workflow` is the path of the workflow file."""
        return facts(self._place, workflow)

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> None:
        """Start a workflow, named by its file name, on a branch."""
        errand = self._place.errand(
            "github.requests.workflow_not_started", "workflow", workflow=workflow
        )
        self._place.ask(
            errand,
            "POST",
            f"/actions/workflows/{quote(workflow, safe='')}/dispatches",
            body={"ref": ref, "inputs": dict(inputs)},
        )


def _fitting(errand: ApiRequest, body: str) -> str:
    if len(body) > LONGEST_BODY or len(body.encode(errors="surrogatepass")) > _MOST_BYTES:
        raise TextTooLong(
            say(
                "github.pygithub.text_too_long",
                what=errand.what,
                count=len(body),
                longest_body=LONGEST_BODY,
            )
        )
    return body


def _title(errand: ApiRequest, title: str) -> str:
    if len(title) > LONGEST_TITLE:
        raise TextTooLong(
            say(
                "github.pygithub.title_too_long",
                what=errand.what,
                count=len(title),
                longest_title=LONGEST_TITLE,
            )
        )
    return title
