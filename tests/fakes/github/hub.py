"""A GitHub on loopback: furnished and asked about by tests, spoken to over HTTP by what is
tested.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from tests.fakes.github import front, smart_http
from tests.fakes.github.bare import BareRepository
from tests.fakes.github.exchanges import Exchange
from tests.fakes.github.faults import Faults
from tests.fakes.github.payloads import Payloads
from tests.fakes.github.people import Member, Role, Token, User
from tests.fakes.github.replies import Reply, Thing
from tests.fakes.github.server import Server
from tests.fakes.github.state import (
    Check,
    Comment,
    Issue,
    Label,
    Protection,
    Pull,
    Repository,
    Review,
    ReviewComment,
    ReviewThread,
    Status,
)
from tests.fakes.github.world import World

README = {"README.md": "# A repository\n"}


class FakeGitHub(World):
    """Repositories lie under `folder`. Use it in a `with`: the server runs inside."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.faults, self.closing = Faults(), threading.Event()
        self.exchanges: list[Exchange] = []
        self.findings: list[str] = []
        self.largest_file = smart_http.LARGEST
        self.attached: dict[str, bytes] = {}
        self.attached_privately: set[str] = set()
        self.attached_elsewhere: dict[str, str] = {}
        self._server = Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(
        self, method: str, path: str, query: str, body: bytes, headers: dict[str, str]
    ) -> Reply | None:
        """What the server asks for each request."""
        return front.handle(self, method, path, query, body, headers)

    def log(self, exchange: Exchange) -> None:
        """Remember an exchange."""
        self.exchanges.append(exchange)

    # -- what there is to act with
    # ----------------------------------------------------------------------------------------------

    def user(self, login: str, kind: str = "") -> User:
        """The account of that name, made if it is not there."""
        if (found := self.account(login)) is None:
            bot = login.endswith("[bot]")
            found = User(
                self.next_id(),
                login,
                "Organization" if kind == "Organization" else "Bot" if bot else "User",
            )
            self.users[login.lower()] = found
        return found

    def token(
        self, login: str, *, scopes: Sequence[str] = ("repo", "workflow"), limit: int = 5000
    ) -> str:
        """A person's token: it may what the person may."""
        text = f"ghp_{login.replace('[', '').replace(']', '')}{len(self.tokens)}"
        self.tokens[text] = Token(text, self.user(login), limit=limit, scopes=tuple(scopes))
        return text

    def actions_token(self, repo: Repository, login: str = "", **permissions: str) -> str:
        """The token of a workflow's job, `contents="write"`, `pull_requests="write"`; with `login`
        that of another App's bot.

        The metadata of a repository can be read by every App.
        """
        text = f"ghs_{len(self.tokens)}"
        user = self.user(login) if login else self.actions
        self.tokens[text] = Token(
            text, user, {"metadata": "read", **permissions}, repo.id, limit=1000
        )
        return text

    # -- what there is to act on
    # ----------------------------------------------------------------------------------------------

    def repository(
        self,
        full_name: str = "acme/widget",
        files: Mapping[str, str | bytes | None] = README,
        *,
        private: bool = False,
    ) -> Repository:
        """A repository with one commit on main that holds `files`; without files it is empty."""
        login, name = full_name.split("/")
        owner, number = self.user(login), self.next_id()
        bare = BareRepository(self.folder / f"{number}.git")
        smart_http.install(bare)
        repo = Repository(number, owner, name, bare, private=private, created=self.clock.tick())
        self.repositories[number] = repo
        if files:
            self.commit(repo, "main", files)
        return repo

    def fork(self, repo: Repository, login: str) -> Repository:
        """A fork of a repository, with its branch main."""
        fork = self.repository(f"{login}/{repo.name}", {})
        fork.bare.git("fetch", "-q", str(repo.bare.path), "main:main")
        return fork

    def commit(
        self,
        repo: Repository,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str = "Change",
    ) -> str:
        """A commit on a branch, made without asking any rule; a new branch begins at the default
        branch.
        """
        start = repo.bare.head(repo.bare.default_branch)
        return repo.bare.commit(
            branch, files, message, self.signature(repo.owner), self.clock.tick(), start=start
        )

    def member(self, repo: Repository, login: str, role: Role, custom: str | None = None) -> User:
        """Give somebody a role; `custom` names an organisation's own role on that base."""
        user = self.user(login)
        repo.members[login.lower()] = Member(role, custom)
        return user

    def attach(self, raw: bytes, *, name: str = "", private: bool = False, moved: str = "") -> str:
        """The address of a file that somebody dropped into a text: an image's, or with a `name`
        that of a file. A private image opens only by the address in the rendered text; `moved` is
        where a foreign server would have it lie.
        """
        asset = f"00000000-0000-4000-8000-{len(self.attached):012d}"
        place = f"files/{len(self.attached)}/{name}" if name else f"assets/{asset}"
        self.attached[place.removeprefix("assets/")] = raw
        self.attached_privately |= {place} if private else set[str]()
        self.attached_elsewhere |= {place: moved} if moved else {}
        return f"{self.url}/user-attachments/{place}"

    def label(self, repo: Repository, name: str) -> Label:
        """A label of the repository."""
        found = repo.label(name)
        if found is None:
            found = Label(self.next_id(), name)
            repo.labels.append(found)
        return found

    def issue(
        self,
        repo: Repository,
        title: str = "A bug",
        body: str | None = "",
        *,
        by: str = "ann",
        labels: Sequence[str] = (),
        number: int = 0,
    ) -> Issue:
        """An issue."""
        at = self.clock.tick()
        user = self.user(by) if by else None
        issue = Issue(self.next_id(), number or repo.next_number(), title, body, user, at, at)
        repo.issues[issue.number] = issue
        for name in labels:
            self.add_label(repo, issue, name, by=by)
        return issue

    def add_label(
        self, repo: Repository, issue: Issue, name: str, *, by: str, via_app: str = ""
    ) -> None:
        """Somebody adds a label to an issue; one that is on it stays, and there is no event."""
        label = self.label(repo, name)
        if label not in issue.labels:
            issue.labels.append(label)
            self.happened(
                issue, "labeled", self.user(by) if by else None, label=label
            ).via_app = via_app

    def close_issue(self, issue: Issue, *, by: str, reason: str = "completed") -> None:
        """Somebody closes an issue, for one of GitHub's reasons."""
        event = self.happened(issue, "closed", self.user(by))
        issue.state, issue.state_reason, issue.closed = "closed", reason, event.at

    def reopen_issue(self, issue: Issue, *, by: str) -> None:
        """Somebody opens a closed issue again."""
        self.happened(issue, "reopened", self.user(by))
        issue.state, issue.state_reason, issue.closed = "open", "reopened", None

    def pull(
        self,
        repo: Repository,
        head: str,
        *,
        base: str = "main",
        title: str = "A change",
        by: str = "ann",
        draft: bool = False,
        fork: Repository | None = None,
    ) -> Issue:
        """A pull request of a branch that is there, or that a fork has."""
        issue = self.issue(repo, title, "", by=by)
        sha = (fork or repo).bare.head(head)
        issue.pull = Pull(head, base, draft=draft, last_head=sha, fork=fork)
        if fork is not None:
            repo.bare.git(
                "fetch", "-q", str(fork.bare.path), f"{sha}:refs/pull/{issue.number}/head"
            )
        return issue

    def comment(self, issue: Issue, body: str, *, by: str = "ann", via_app: str = "") -> Comment:
        """A comment; nobody as author is an account that is gone."""
        at = self.clock.tick()
        comment = Comment(
            self.next_id(), issue, self.user(by) if by else None, body, at, at, via_app=via_app
        )
        issue.comments.append(comment)
        return comment

    def review_comment(
        self,
        pull: Issue,
        body: str,
        *,
        by: str = "ann",
        path: str = "README.md",
        line: int = 1,
        thread: ReviewThread | None = None,
    ) -> ReviewThread:
        """A comment of a review at a line, in a thread of its own or in one that is there."""
        assert pull.pull is not None
        comment = ReviewComment(
            self.next_id(), self.user(by) if by else None, body, self.clock.tick()
        )
        if thread is None:
            thread = ReviewThread(path, line, [])
            pull.pull.threads.append(thread)
        thread.comments.append(comment)
        return thread

    def review(self, pull: Issue, state: str, body: str, *, by: str = "ann") -> None:
        """A review with its verdict: APPROVED, CHANGES_REQUESTED or COMMENTED."""
        assert pull.pull is not None
        review = Review(self.next_id(), self.user(by), state, body, self.clock.tick())
        pull.pull.reviews.append(review)

    def check(
        self,
        repo: Repository,
        sha: str,
        name: str,
        conclusion: str | None = "success",
        log: str | None = None,
        **words: str,
    ) -> Check:
        """A job of Actions at a commit; without a conclusion it is still running."""
        suite = (
            next((found.suite for found in repo.checks.values() if found.sha == sha), 0)
            or self.next_id()
        )
        status = "completed" if conclusion else "in_progress"
        check = Check(
            self.next_id(),
            suite,
            name,
            sha,
            status,
            conclusion,
            log=log,
            at=self.clock.tick(),
            **words,
        )
        repo.checks[check.id] = check
        return check

    def status(
        self,
        repo: Repository,
        sha: str,
        context: str,
        state: str = "success",
        description: str | None = None,
    ) -> Status:
        """A commit status."""
        status = Status(
            self.next_id(), sha, state, context, description, None, repo.owner, self.clock.tick()
        )
        repo.statuses.append(status)
        return status

    def protect(
        self,
        repo: Repository,
        branch: str = "main",
        *,
        ruleset: bool = False,
        signatures: bool = False,
    ) -> None:
        """Guard a branch, by branch protection or by a rule set, or demand signed commits."""
        repo.protections[branch] = Protection(ruleset or signatures, signatures)

    def transfer(self, repo: Repository, issue: Issue, to: Repository) -> Issue:
        """Move an issue to another repository; the old address leads to the new one."""
        new = replace(issue, id=self.next_id(), number=to.next_number())
        new.comments = [replace(comment, issue=new) for comment in issue.comments]
        to.issues[new.number] = new
        issue.moved = (to, new.number)
        return new

    # -- what is asked afterwards
    # ----------------------------------------------------------------------------------------------

    def asked(self, *, since: int = 0) -> list[str]:
        """The requests so far, `GET /repos/…`, without git's."""
        return [exchange.words for exchange in self.exchanges[since:]]

    def payload(self, event: str, repo: Repository, sender: str, **parts: Any) -> Thing:
        """The payload of a webhook, `issues.labeled`, made from what is there now and held against
        the description.
        """
        return Payloads(self, repo, self.user(sender)).made(event, **parts)
