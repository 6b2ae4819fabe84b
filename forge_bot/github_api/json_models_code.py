"""GitHub's JSON about code: pull requests, checks, branches, files, permissions of Actions."""

import base64
import binascii

from forge_bot.github_api.json_models import (
    AppWire,
    JsonModel,
    RepositoryWire,
    UserWire,
    account_of,
)
from forge_bot.github_api.types import FailedCheck, PullRequest, PullState


class EndWire(JsonModel):
    """Head or base of a pull request; the repository of a deleted fork is null."""

    ref: str
    sha: str
    repo: RepositoryWire | None = None


class PullWire(JsonModel):
    """A pull request."""

    number: int
    node_id: str
    title: str
    body: str | None = None
    user: UserWire | None = None
    state: str
    draft: bool = False
    merged_at: str | None = None
    html_url: str
    head: EndWire
    base: EndWire

    @property
    def own(self) -> bool:
        """Return whether its branch belongs to the repository itself."""
        return (
            self.head.repo is not None
            and self.base.repo is not None
            and self.head.repo.full_name == self.base.repo.full_name
        )

    def pull_request(self) -> PullRequest:
        """Convert to a PullRequest."""
        return PullRequest(
            number=self.number,
            node_id=self.node_id,
            title=self.title,
            body=self.body or "",
            author=account_of(self.user),
            state=(
                PullState.MERGED
                if self.merged_at
                else PullState.OPEN
                if self.state == "open"
                else PullState.CLOSED
            ),
            draft=self.draft,
            head=self.head.ref,
            head_sha=self.head.sha,
            base=self.base.ref,
            url=self.html_url,
        )


class OutputWire(JsonModel):
    """The report of a check."""

    title: str | None = None
    summary: str | None = None


class CheckWire(JsonModel):
    """A check run."""

    id: int
    name: str
    conclusion: str | None = None
    html_url: str | None = None
    output: OutputWire = OutputWire()
    app: AppWire | None = None

    @property
    def job(self) -> bool:
        """Return whether it is a job of Actions. Jobs have a log with the same id."""
        return self.app is not None and self.app.slug == "github-actions"

    def failed(self, log: str) -> FailedCheck:
        """Convert to a FailedCheck."""
        summary = "\n".join(words for words in (self.output.title, self.output.summary) if words)
        return FailedCheck(
            name=self.name,
            conclusion=self.conclusion or "",
            url=self.html_url or "",
            summary=summary,
            log=log,
        )


class ChecksWire(JsonModel):
    """The check runs of a commit."""

    check_runs: list[CheckWire]


class StatusWire(JsonModel):
    """A commit status, the older kind of check."""

    state: str
    context: str
    description: str | None = None
    target_url: str | None = None

    def failed(self) -> FailedCheck:
        """Convert to a FailedCheck."""
        return FailedCheck(
            name=self.context,
            conclusion=self.state,
            url=self.target_url or "",
            summary=self.description or "",
        )


class CombinedWire(JsonModel):
    """The statuses of a commit."""

    statuses: list[StatusWire]


class RuleWire(JsonModel):
    """A rule that applies to a branch."""

    type: str


class BranchWire(JsonModel):
    """A branch."""

    protected: bool = False


class ActionsWire(JsonModel):
    """The permissions of the token of Actions."""

    default_workflow_permissions: str
    can_approve_pull_request_reviews: bool


class SecretWire(JsonModel):
    """The name of a secret."""

    name: str


class SecretsWire(JsonModel):
    """The secrets of a repository."""

    secrets: list[SecretWire]


class FileWire(JsonModel):
    """A file with its content."""

    encoding: str
    content: str

    def text(self) -> str:
        """The content of the file as text."""
        try:
            return (
                base64.b64decode(self.content).decode(errors="replace")
                if self.encoding == "base64"
                else self.content
            )
        except binascii.Error:
            return ""
