"""One repository on GitHub, accessed through PyGithub."""

import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self, TypeVar, cast
from urllib.parse import quote

from forge_bot.errors import (
    GitHubRefused,
    MovedElsewhere,
    NotOnGitHub,
    PermissionMissing,
    TextTooLong,
)
from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import Membership, Role, read_membership
from forge_bot.github_api.check_runs import failed_checks
from forge_bot.github_api.github_calls import call, checked_address, checked_token, make_client
from forge_bot.github_api.reviews import Reviews, read_reviews
from forge_bot.github_api.types import (
    Comment,
    FailedCheck,
    Issue,
    NewPullRequest,
    PullRequest,
    PullState,
    RepositoryFacts,
    is_own,
    read_comment,
    read_issue,
    read_pull,
)

if TYPE_CHECKING:
    from github import Github
    from github.IssueComment import IssueComment
    from github.Repository import Repository

T = TypeVar("T")
Reaction = Literal["eyes", "rocket", "confused", "+1"]
"""The receipt on a comment that is answered: seen, done, not done, taken."""

LONGEST_BODY = 65_536
_MOST_BYTES = 4 * LONGEST_BODY
LONGEST_TITLE = 256
_MAY_OPEN = "can_approve_pull_request_reviews"


class GitHub:
    """The repository `name` (owner/name). Use it in a `with`, in one thread at a time.

    Every method may raise a GitHubError. A method that raises has changed nothing, unless its
    docstring says otherwise.

    `wait` is called with seconds when GitHub asks for a pause. A pause longer than `patience`
    raises RateLimited instead.
    """

    def __init__(
        self,
        name: str,
        token: str | None,
        address: str = "https://api.github.com",
        *,
        wait: Callable[[float], None] = time.sleep,
        patience: float = 60.0,
        timeout: int = 20,
    ) -> None:
        self.name = name
        self._token, self._address = checked_token(token), checked_address(address)
        self._wait, self._patience, self._timeout = wait, patience, timeout

    @cached_property
    def _client(self) -> "Github":
        """The client, created at the first request because its library loads slowly."""
        from github import Auth

        auth = Auth.Token(self._token) if self._token else None
        return make_client(self._address, auth, self._timeout)

    @property
    def _repository(self) -> "Repository":
        return self._client.get_repo(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if "_client" in vars(self):
            self._client.close()

    def _do(self, what: str, thing: str, ask: Callable[[], T], *, again: bool = True) -> T:
        """Return what PyGithub answers; only what is the same when it is done twice may be done
        `again`.
        """
        return call(what, thing, ask, again=again, wait=self._wait, patience=self._patience)

    # -- conversations
    # ----------------------------------------------------------------------------------------------

    def issue(self, number: int) -> Issue:
        """Return an issue or pull request by number. A read is redirected silently: `name` is the
        new name of a renamed repository from then on. Raises NotOnGitHub, and MovedElsewhere for an
        issue that belongs to another repository now.
        """
        what = f"{self.name}#{number} could not be read"

        def read() -> Issue:
            issue = self._repository.get_issue(number).complete()
            there = issue.repository_url.partition("/repos/")[2].lower()
            if there != self.name.lower():
                self.name = self._repository.complete().full_name
            if there != self.name.lower():
                raise MovedElsewhere(
                    f"{what}: it was moved to {issue.html_url}.", to=issue.html_url
                )
            return read_issue(issue, whole=True)

        return self._do(what, "issue", read)

    def rendered(self, number: int) -> str:
        """Return the text of an issue and its first comments as HTML, in which images of a private
        repository have addresses that open for some minutes.
        """

        def read() -> str:
            pages = (f"issues/{number}", f"issues/{number}/comments?per_page=100")
            asked = {"Accept": "application/vnd.github.full+json"}
            ask, base = self._client.requester.requestJsonAndCheck, self._repository.url
            parts = [Node(ask("GET", f"{base}/{page}", headers=asked)[1]) for page in pages]
            return "\n".join(item.text("body_html") for item in (parts[0], *parts[1].items()))

        return self._do(f"{self.name}#{number} could not be read", "issue", read)

    def issues_of(self, login: str) -> tuple[Issue, ...]:
        """Return the issues that an account opened, closed ones too, without pull requests."""

        def read() -> list[Issue]:
            from github.NamedUser import NamedUser

            creator = NamedUser(self._client.requester, {}, {"login": login})
            issues = self._repository.get_issues(state="all", creator=creator)
            return [read_issue(issue) for issue in issues]

        issues = self._do(f"the issues of {self.name} could not be read", "repository", read)
        return tuple(issue for issue in issues if not issue.is_pull_request)

    def open_issue(self, title: str, body: str) -> Issue:
        """Open an issue. Raises TextTooLong before anything is sent, GitHubRefused."""
        what = f"an issue in {self.name} could not be opened"
        _check_length(what, body, title)

        def create() -> Issue:
            return read_issue(self._repository.create_issue(title, body))

        return self._do(what, "repository", create, again=False)

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Return all comments in the order of their ids."""

        def read() -> list[Comment]:
            return [read_comment(one) for one in self._repository.get_issue(number).get_comments()]

        comments = self._do(
            f"the comments of {self.name}#{number} could not be read", "issue", read
        )
        return tuple(sorted(comments, key=lambda comment: comment.id))

    def membership(self, login: str) -> Membership:
        """Return an account's role here. An account that does not exist has none."""
        path = f"/repos/{self.name}/collaborators/{quote(login, safe='')}/permission"

        def read() -> object:
            return self._client.requester.requestJsonAndCheck("GET", path)[1]

        try:
            answer = self._do(
                f"the role of {login} in {self.name} could not be read", "account", read
            )
        except NotOnGitHub:
            return Role.NONE
        return read_membership(login, 200, Node(answer))

    def team_members(self, team: str) -> frozenset[str] | None:
        """Return the logins of a team, named as `org/team`, and of the teams below it, in small
        letters; None for a team that the token may not read, and for another organization's.
        """
        organization, _, slug = team.partition("/")
        if organization.casefold() != self.name.partition("/")[0].casefold():
            return None

        def read() -> frozenset[str]:
            from github.NamedUser import NamedUser
            from github.PaginatedList import PaginatedList

            path = f"/orgs/{quote(organization, safe='')}/teams/{quote(slug, safe='')}/members"
            people = PaginatedList(NamedUser, self._client.requester, path, {})
            return frozenset(person.login.casefold() for person in people)

        try:
            return self._do(f"the team {team} could not be read", "team", read)
        except (NotOnGitHub, PermissionMissing, GitHubRefused):
            return None

    def comment(self, number: int, body: str) -> Comment:
        """Post a comment and return it with GitHub's own time.

        Raises TextTooLong before anything is sent, ConversationLocked.
        """
        what = f"the comment on {self.name}#{number} could not be written"
        _check_length(what, body)

        def create() -> Comment:
            return read_comment(self._repository.get_issue(number).create_comment(body))

        return self._do(what, "issue", create, again=False)

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace the text of one's own comment. Raises TextTooLong, NotOnGitHub."""
        what = f"comment {comment_id} of {self.name} could not be changed"
        _check_length(what, body)
        self._do(what, "comment", lambda: self._comment(comment_id).edit(body))

    def react_to_comment(self, comment_id: int, reaction: Reaction) -> None:
        """React to a comment. A second call changes nothing."""
        what = f"comment {comment_id} of {self.name} could not be reacted to"
        self._do(what, "comment", lambda: self._comment(comment_id).create_reaction(reaction))

    def _comment(self, comment_id: int) -> "IssueComment":
        # A comment's address has no number of an issue in it.
        return self._repository.get_issue(1).get_comment(comment_id)

    def create_label(self, name: str, color: str, description: str) -> bool:
        """Create a label, `color` as six hex digits. Return False if the name exists."""
        try:
            self._do(
                f"the label {name!r} could not be made in {self.name}",
                "repository",
                lambda: self._repository.create_label(name, color, description),
                again=False,
            )
        except GitHubRefused as refused:
            if refused.exists_already:
                return False
            raise
        return True

    def add_label(self, number: int, label: str) -> None:
        """Put a label on an issue. One that is there stays, one that does not exist is made."""
        what = f"the label {label!r} could not be put on {self.name}#{number}"
        path, given = f"/repos/{self.name}/issues/{number}/labels", {"labels": [label]}

        def add() -> object:
            return self._client.requester.requestJsonAndCheck("POST", path, input=given)

        self._do(what, "issue", add)

    def remove_label(self, number: int, label: str) -> None:
        """Take a label off an issue. Raises NotOnGitHub if it is not on it."""
        what = f"the label {label!r} could not be taken off {self.name}#{number}"
        self._do(
            what, "label", lambda: self._repository.get_issue(number).remove_from_labels(label)
        )

    def issues_labelled(self, label: str) -> tuple[int, ...]:
        """Return the numbers of the open issues that have a label."""

        def read() -> tuple[int, ...]:
            issues = self._repository.get_issues(state="open", labels=[label])
            return tuple(issue.number for issue in issues)

        what = f"the issues of {self.name} with the label {label!r} could not be read"
        return self._do(what, "repository", read)

    def dispatch(self, workflow: str, branch: str, inputs: dict[str, str]) -> None:
        """Start a workflow of a branch, by the name of its file. Raises NotOnGitHub."""
        what = f"the workflow {workflow} of {self.name} could not be started"

        def start() -> object:
            given = self._repository.get_workflow(workflow)
            # The library says no more than `dict`.
            return given.create_dispatch(branch, inputs, throw=True)  # pyright: ignore[reportUnknownMemberType]

        self._do(what, "workflow", start, again=False)

    # -- pull requests
    # ----------------------------------------------------------------------------------------------

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
        _check_length(what, new.body, new.title)

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
        _check_length(what, body, title)

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
        _check_length(what, body)

        def create() -> object:
            return self._repository.get_pull(number).create_review_comment_reply(comment, body)

        self._do(what, "thread", create, again=False)

    # -- the repository
    # ----------------------------------------------------------------------------------------------

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


def _check_length(what: str, body: str, title: str = "") -> None:
    """Raise TextTooLong for what GitHub would not take."""
    if len(body) > LONGEST_BODY or len(body.encode(errors="surrogatepass")) > _MOST_BYTES:
        raise TextTooLong(
            f"{what}: it has {len(body):,} characters; GitHub takes {LONGEST_BODY:,}."
        )
    if len(title) > LONGEST_TITLE:
        raise TextTooLong(
            f"{what}: its title has {len(title):,} characters; GitHub takes {LONGEST_TITLE}."
        )
