"""One repository on GitHub, asked through PyGithub."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar
from urllib.parse import quote

from forge_bot.errors import GitHubRefused, MovedElsewhere, NotOnGitHub, PermissionMissing, TextTooLong
from forge_bot.github_api.caller import Answer, Caller, Errand, Verb
from forge_bot.github_api.logs import end_of_log
from forge_bot.github_api.types import (
    Comment,
    FailedCheck,
    Issue,
    NewPullRequest,
    Permission,
    PullRequest,
    PullState,
    Reaction,
    RepositoryFacts,
    Role,
)
from forge_bot.github_api.wire import (
    ActionsWire,
    BranchWire,
    ChecksWire,
    CombinedWire,
    CommentWire,
    CreatedWire,
    FileWire,
    GraphWire,
    IssueWire,
    LabelWire,
    PullWire,
    RepositoryWire,
    RoleWire,
    RuleWire,
    SecretsWire,
)

T = TypeVar("T")
LONGEST_BODY = 65_536
_MOST_BYTES = 4 * LONGEST_BODY
LONGEST_TITLE = 256
_PATIENCE = 60.0
_PAGE = {"per_page": "100"}
_SUCCEEDED = frozenset({"success", "neutral", "skipped"})
_MOST_LOGS = 5
_READY = "mutation($input: MarkPullRequestReadyForReviewInput!) { markPullRequestReadyForReview(input: $input) { clientMutationId } }"


class PyGitHub:
    """`GitHub` for the repository `name` (owner/name). Use it in a `with`; not in two threads at once.

    `wait` is called with seconds where GitHub asks for a pause; what would take longer than `patience` raises RateLimited instead.
    A renamed repository is followed on the same host, and `name` is the new one from then on.
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
        self.name = name
        self._caller = Caller(address, token, wait=wait, patience=patience, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._caller.close()

    # -- conversations ----------------------------------------------------------------------------------------------

    def issue(self, number: int) -> Issue:
        errand = Errand(f"{self.name}#{number} could not be read", "issue")
        found = self._ask(errand, "GET", f"/issues/{number}").read(IssueWire)
        self._same_place(errand, found.repository_url, found.html_url)
        return found.issue()

    def _same_place(self, errand: Errand, repository: str, page: str) -> None:
        """A read is redirected without a word, for a renamed repository as for an issue that went to another one."""
        there = "/".join(repository.split("/")[-2:])
        if repository and there.lower() != self.name.lower() and self._current_name(errand).lower() != there.lower():
            raise MovedElsewhere(f"{errand.what}: it was moved to {page}.")

    def comments(self, number: int, since_id: int = 0) -> tuple[Comment, ...]:
        errand = Errand(f"the comments of {self.name}#{number} could not be read", "issue")
        found = [each for page in self._pages(errand, f"/issues/{number}/comments") for each in page.read(list[CommentWire])]
        for first in found[:1]:
            self._same_place(errand, first.issue_url.rpartition("/issues/")[0], first.html_url)
        return tuple(each.comment() for each in sorted(found, key=lambda each: each.id) if each.id > since_id)

    def role(self, login: str) -> Role:
        errand = Errand(f"the role of {login} in {self.name} could not be read", "account")
        try:
            return self._ask(errand, "GET", f"/collaborators/{quote(login, safe='')}/permission").read(RoleWire).role()
        except NotOnGitHub:
            return Role(role_name="none", permission=Permission.NONE)

    def comment(self, number: int, body: str) -> Comment:
        errand = Errand(f"the comment on {self.name}#{number} could not be written", "issue")
        return self._ask(errand, "POST", f"/issues/{number}/comments", body={"body": _fitting(errand, body)}).read(CommentWire).comment()

    def edit_comment(self, comment_id: int, body: str) -> None:
        errand = Errand(f"comment {comment_id} of {self.name} could not be changed", "comment")
        self._ask(errand, "PATCH", f"/issues/comments/{comment_id}", body={"body": _fitting(errand, body)}).read(CreatedWire)

    def react(self, number: int, reaction: Reaction) -> None:
        errand = Errand(f"{self.name}#{number} could not be reacted to", "issue")
        self._ask(errand, "POST", f"/issues/{number}/reactions", body={"content": reaction.value}).read(CreatedWire)

    def react_to_comment(self, comment_id: int, reaction: Reaction) -> None:
        errand = Errand(f"comment {comment_id} of {self.name} could not be reacted to", "comment")
        self._ask(errand, "POST", f"/issues/comments/{comment_id}/reactions", body={"content": reaction.value}).read(CreatedWire)

    # -- labels -----------------------------------------------------------------------------------------------------

    def label(self, number: int, names: Sequence[str]) -> None:
        errand = Errand(f"{self.name}#{number} could not be labelled", "issue")
        self._ask(errand, "POST", f"/issues/{number}/labels", body={"labels": list(names)}).read(list[LabelWire])

    def unlabel(self, number: int, name: str) -> bool:
        errand = Errand(f"the label {name!r} could not be taken off {self.name}#{number}", "label on that issue")
        try:
            self._ask(errand, "DELETE", f"/issues/{number}/labels/{quote(name, safe='')}").read(list[LabelWire])
        except NotOnGitHub:
            return False
        return True

    def create_label(self, name: str, color: str, description: str) -> bool:
        errand = Errand(f"the label {name!r} could not be made in {self.name}", "repository")
        try:
            self._ask(errand, "POST", "/labels", body={"name": name, "color": color, "description": description}).read(CreatedWire)
        except GitHubRefused as refused:
            if any("already exists" in each for each in refused.details):
                return False
            raise
        return True

    # -- pull requests ----------------------------------------------------------------------------------------------

    def pull_request_for(self, branch: str) -> PullRequest | None:
        errand = Errand(f"the pull request of {branch} in {self.name} could not be looked for", "repository")
        query = {"head": f"{self.name.partition('/')[0]}:{branch}", "state": "all", **_PAGE}
        # The redirect of a renamed repository drops the query, so the answer is looked through again.
        found = [
            each.pull_request()
            for page in self._pages(errand, "/pulls", query)
            for each in page.read(list[PullWire])
            if each.own and each.head.ref == branch
        ]
        return max(found, key=lambda pull: (pull.state is PullState.OPEN, pull.number), default=None)

    def open_pull_request(self, new: NewPullRequest) -> PullRequest:
        errand = Errand(f"the pull request of {new.head} in {self.name} could not be opened", "repository")
        body = {
            "title": _title(errand, new.title),
            "body": _fitting(errand, new.body),
            "head": new.head,
            "base": new.base,
            "draft": new.draft,
        }
        try:
            return self._ask(errand, "POST", "/pulls", body=body).read(PullWire).pull_request()
        except GitHubRefused as refused:
            there = self.pull_request_for(new.head) if any("already exists" in each for each in refused.details) else None
            if there is None or there.state is not PullState.OPEN:
                raise
            return there

    def update_pull_request(self, number: int, *, title: str | None = None, body: str | None = None) -> PullRequest:
        errand = Errand(f"the pull request {self.name}#{number} could not be changed", "pull request")
        given = {"title": None if title is None else _title(errand, title), "body": None if body is None else _fitting(errand, body)}
        changed = {name: value for name, value in given.items() if value is not None}
        return self._ask(errand, "PATCH", f"/pulls/{number}", body=changed).read(PullWire).pull_request()

    def mark_ready(self, pull: PullRequest) -> None:
        errand = Errand(f"the pull request {self.name}#{pull.number} could not be marked as ready", "pull request")
        body = {"query": _READY, "variables": {"input": {"pullRequestId": pull.node_id}}}
        for error in self._caller.ask(errand, "POST", "/graphql", body=body).read(GraphWire).errors:
            match error.type:
                case "NOT_FOUND":
                    raise NotOnGitHub(f"{errand.what}: there is no such pull request, or the token may not see it.")
                case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
                    raise PermissionMissing(f"{errand.what}: access is forbidden (GitHub says: {error.message}).")
                case _:
                    raise GitHubRefused(f"{errand.what}: GitHub does not take it: {error.message}.")

    def failed_checks(self, number: int) -> tuple[FailedCheck, ...]:
        errand = Errand(f"the checks of {self.name}#{number} could not be read", "pull request")
        sha = self._ask(errand, "GET", f"/pulls/{number}").read(PullWire).head.sha
        query = {"filter": "latest", "status": "completed", **_PAGE}
        runs = [each for page in self._pages(errand, f"/commits/{sha}/check-runs", query) for each in page.read(ChecksWire).check_runs]
        failed = [run for run in runs if run.conclusion not in _SUCCEEDED]
        logged = {run.id for run in [run for run in failed if run.job][:_MOST_LOGS]}
        statuses = self._ask(errand, "GET", f"/commits/{sha}/status", query=_PAGE).read(CombinedWire).statuses
        return (
            *(run.failed(self._log(run.id) if run.id in logged else "") for run in failed),
            *(status.failed() for status in statuses if status.state in {"error", "failure"}),
        )

    def _log(self, job: int) -> str:
        errand = Errand(f"the log of job {job} of {self.name} could not be read", "job")
        try:
            return end_of_log(self._ask(errand, "GET", f"/actions/jobs/{job}/logs").headers.get("location", ""))
        except (NotOnGitHub, PermissionMissing):
            return ""

    # -- the repository ---------------------------------------------------------------------------------------------

    def facts(self, workflow: str) -> RepositoryFacts:
        errand = Errand(f"{self.name} could not be looked at", "repository")
        about = self._ask(errand, "GET", "").read(RepositoryWire)
        branch = quote(about.default_branch)
        hidden: list[str] = []

        def seen(what: str, path: str, kind: type[T]) -> T | None:
            try:
                return self._ask(errand, "GET", path).read(kind)
            except (PermissionMissing, NotOnGitHub):
                hidden.append(what)
                return None

        rules = seen("rules", f"/rules/branches/{branch}", list[RuleWire]) or []
        guarded = seen("branch", f"/branches/{branch}", BranchWire)
        actions = seen("what Actions may do", "/actions/permissions/workflow", ActionsWire)
        secrets = seen("names of secrets", "/actions/secrets?per_page=100", SecretsWire)
        return RepositoryFacts(
            full_name=about.full_name,
            default_branch=about.default_branch,
            private=about.private,
            archived=about.archived,
            has_issues=about.has_issues,
            labels=tuple(each.name or "" for page in self._pages(errand, "/labels") for each in page.read(list[LabelWire])),
            protected=bool(rules) or (guarded is not None and guarded.protected),
            rules=tuple(dict.fromkeys(rule.type for rule in rules)),
            workflow=self._file(errand, workflow, about.default_branch),
            workflow_permissions=actions and actions.default_workflow_permissions,
            actions_may_open_pulls=actions and actions.can_approve_pull_request_reviews,
            secrets=secrets and tuple(secret.name for secret in secrets.secrets),
            hidden=tuple(hidden),
        )

    def _file(self, errand: Errand, path: str, branch: str) -> str | None:
        try:
            return self._ask(errand, "GET", f"/contents/{quote(path)}", query={"ref": branch}).read(FileWire).text()
        except NotOnGitHub:
            return None

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> None:
        errand = Errand(f"the workflow {workflow} of {self.name} could not be started", "workflow")
        self._ask(errand, "POST", f"/actions/workflows/{quote(workflow, safe='')}/dispatches", body={"ref": ref, "inputs": dict(inputs)})

    # -- how it is asked --------------------------------------------------------------------------------------------

    def _ask(self, errand: Errand, verb: Verb, path: str, *, query: Mapping[str, str] | None = None, body: Any = None) -> Answer:
        """A request in the repository; one that writes is sent once more when the repository has another name now."""
        try:
            return self._caller.ask(errand, verb, f"/repos/{self.name}{path}", query=query, body=body)
        except MovedElsewhere:
            name = self._current_name(errand)
            if name == self.name:
                raise
            self.name = name
            return self._caller.ask(errand, verb, f"/repos/{name}{path}", query=query, body=body)

    def _current_name(self, errand: Errand) -> str:
        return self._caller.ask(errand, "GET", f"/repos/{self.name}").read(RepositoryWire).full_name

    def _pages(self, errand: Errand, path: str, query: Mapping[str, str] = _PAGE) -> Iterator[Answer]:
        page = self._ask(errand, "GET", path, query=query)
        yield page
        while page.following:
            # The address is GitHub's own; PyGithub takes its path alone, so that the token stays at its host.
            page = self._caller.ask(errand, "GET", page.following)
            yield page


def _fitting(errand: Errand, body: str) -> str:
    if len(body) > LONGEST_BODY or len(body.encode(errors="surrogatepass")) > _MOST_BYTES:
        raise TextTooLong(f"{errand.what}: it has {len(body):,} characters; GitHub takes {LONGEST_BODY:,}.")
    return body


def _title(errand: Errand, title: str) -> str:
    if len(title) > LONGEST_TITLE:
        raise TextTooLong(f"{errand.what}: its title has {len(title):,} characters; GitHub takes {LONGEST_TITLE}.")
    return title
