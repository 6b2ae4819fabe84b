"""An issue on the GitHub of the tests, and jobs that are woken by what happens to it, each on a
machine of its own; and whether thread, summary, output and exit code of a job say the same.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forge_bot.gate.workflow_step import run_gate
from forge_bot.resources import templates
from forge_bot.sentences import say
from tests.fakes import script
from tests.fakes.github import Comment, FakeGitHub, Issue, Repository, Role
from tests.fakes.warm_python import warm_python

TITLE = "`rota who` names somebody for days before the rota starts"
BODY = "Before the first day nobody is on call, so it should say so."
SECRET = "sk-of-the-model-0123456789abcdef"
BOT = "github-actions[bot]"
PERMISSIONS = {
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "read",
    "statuses": "write",
    "actions": "read",
}


@dataclass(frozen=True)
class Job:
    """How one job ended: the gate's word, the exit code of the work, what its log said, and its
    output `outcome`.
    """

    result: str
    code: int
    log: str
    summary: str
    outcome: str = ""


@dataclass
class Stage:
    """One repository with one issue; `maint` may write, `boss` is admin, anybody else is a
    stranger.

    Jobs run in a Python that has imported forge-bot already; `python` may name another one.
    """

    hub: FakeGitHub
    folder: Path
    scripts: Path
    repo: Repository = field(init=False)
    issue: Issue = field(init=False)
    jobs: int = 0
    running: "subprocess.Popen[str] | None" = None
    environ: dict[str, str] = field(default_factory=dict[str, str])
    permissions: dict[str, str] = field(default_factory=lambda: PERMISSIONS)
    python: str = field(default_factory=warm_python)

    def __post_init__(self) -> None:
        root = templates() / "demo" / "repository"
        files: dict[str, str | bytes | None] = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        self.hub.clock.goes_on = True
        self.repo = self.hub.repository(files=files)
        self.repo.actions_may_open_pulls = True
        self.hub.member(self.repo, "maint", Role.WRITE)
        self.hub.member(self.repo, "boss", Role.ADMIN)
        self.issue = self.hub.issue(self.repo, TITLE, BODY, by="stranger")
        self.model()

    def model(self, different: Mapping[tuple[str, str, str], script.Answer] | None = None) -> None:
        """What the model says from now on."""
        self.environ["FORGE_BOT_MODEL"] = script.write(self.scripts, different)

    # -- what people do
    # ----------------------------------------------------------------------------------------------

    def label(
        self, name: str = "forge", by: str = "maint", then: Callable[[], object] = lambda: None
    ) -> Job:
        """Somebody puts a label on the issue; what happens `then` happens before anybody reads the
        issue.
        """
        self.hub.add_label(self.repo, self.issue, name, by=by)
        payload = self.hub.payload("issues.labeled", self.repo, by, issue=self.issue, label=name)
        then()
        return self.job("issues", payload, by)

    def close(self, by: str = "maint", reason: str = "completed") -> Job:
        """Somebody closes the issue."""
        self.hub.close_issue(self.issue, by=by, reason=reason)
        payload = self.hub.payload("issues.closed", self.repo, by, issue=self.issue)
        return self.job("issues", payload, by)

    def reopen(self, by: str = "maint") -> Job:
        """Somebody opens the issue again."""
        self.hub.reopen_issue(self.issue, by=by)
        payload = self.hub.payload("issues.reopened", self.repo, by, issue=self.issue)
        return self.job("issues", payload, by)

    def check(self, name: str, conclusion: str, log: str | None) -> None:
        """A check of the newest commit of the branch for merge has ended."""
        self.repo.checks.clear()
        self.hub.check(self.repo, self.repo.bare.head(self.offered), name, conclusion, log)

    def checks_failed(self, event: str = "check_suite") -> Job:
        """GitHub tells that a check has ended, or the suite or the run of a workflow that it is
        part of.
        """
        check = next(iter(self.repo.checks.values()))
        payload = self.hub.payload(
            f"{event}.completed", self.repo, "github-actions[bot]", check=check
        )
        return self.job(event, payload, "github-actions[bot]")

    def say(
        self, body: str, by: str = "maint", *, lost: bool = False, issue: Issue | None = None
    ) -> Job | None:
        """Somebody writes a comment; with `lost` GitHub forgets to tell."""
        comment = self.comment(body, by, issue=issue)
        return None if lost else self.delivered(comment, by)

    def comment(
        self, body: str, by: str = "maint", issue: Issue | None = None, via_app: str = ""
    ) -> Comment:
        return self.hub.comment(issue or self.issue, body, by=by, via_app=via_app)

    def delivered(
        self, comment: Comment, by: str = "maint", then: Callable[[], object] = lambda: None
    ) -> Job:
        """The event of a comment arrives; what happens `then` happens before anybody looks at
        GitHub.
        """
        payload = self.hub.payload("issue_comment.created", self.repo, by, comment=comment)
        then()
        return self.job("issue_comment", payload, by)

    def begun(self, comment: Comment, by: str = "maint") -> "subprocess.Popen[str]":
        """The work of a job for a comment, let in and running."""
        return self.let_in(
            "issue_comment",
            self.hub.payload("issue_comment.created", self.repo, by, comment=comment),
            by,
        )

    def let_in(self, event: str, payload: Any, by: str) -> "subprocess.Popen[str]":
        """The work of a job for an event, running."""
        environ, folder = self.machine(event, payload, by)
        assert run_gate(environ) == 0
        return self.process(environ, folder)

    # -- what happens then
    # ----------------------------------------------------------------------------------------------

    def job(self, event: str, payload: Any, actor: str) -> Job:
        """A job on a fresh machine: the gate, and the work if it lets in."""
        environ, folder = self.machine(event, payload, actor)
        gate = run_gate(environ)
        found = outputs(folder / "outputs")
        if found["proceed"] != "true":
            return Job(found["result"], gate, "", (folder / "summary").read_text())
        process = self.process(environ, folder)
        log, _ = process.communicate(timeout=300)
        shutil.rmtree(folder / "state", ignore_errors=True)
        outcome = outputs(folder / "outputs").get("outcome", "")
        return Job(
            found["result"], process.returncode, log, (folder / "summary").read_text(), outcome
        )

    def wake(self) -> str:
        """The scheduled job looks at the runs that wait; the log of that."""
        environ, folder = self.machine("schedule", {}, BOT)
        environ["FORGE_BOT_WAKE"] = '{"issue": 0}'
        job = self.process(environ, folder, "--wake")
        log, _ = job.communicate(timeout=100)
        shutil.rmtree(folder / "state", ignore_errors=True)
        assert job.returncode == 0, log
        return log

    def dispatched(self) -> Job:
        """The job of the one workflow that was started since this was asked last."""
        (started,) = self.repo.dispatches
        self.repo.dispatches.clear()
        assert (started.workflow, started.ref) == ("forge-bot.yml", "main")
        login = started.user.login
        sender = {"login": login, "type": "Bot", "id": 1}
        return self.job("workflow_dispatch", {"inputs": started.inputs, "sender": sender}, login)

    def process(
        self, environ: dict[str, str], folder: Path, *options: str
    ) -> "subprocess.Popen[str]":
        """`forge-bot work`, after the gate has let somebody in."""
        wake = outputs(folder / "outputs").get("wake", "")
        self.running = subprocess.Popen(
            [self.python, "-m", "forge_bot", "work", *options],
            env={**environ, **({"FORGE_BOT_WAKE": wake} if wake else {})},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self.running

    def machine(self, event: str, payload: Any, actor: str) -> tuple[dict[str, str], Path]:
        """The environment of a job, and its folder."""
        self.jobs += 1
        folder = self.folder / f"job-{self.jobs}"
        folder.mkdir(parents=True)
        (folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        for name in ("outputs", "summary"):
            (folder / name).touch()
        token = self.hub.actions_token(self.repo, **self.permissions)
        environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_REPOSITORY": self.repo.full_name,
            "GITHUB_ACTOR": actor,
            "GITHUB_TRIGGERING_ACTOR": actor,
            "GITHUB_RUN_ID": str(1000 + self.jobs),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_SERVER_URL": self.hub.url,
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_TOKEN": token,
            "OPENAI_API_KEY": SECRET,
            **self.environ,
        }
        return environ, folder

    # -- what can be seen
    # ----------------------------------------------------------------------------------------------

    def git(self, folder: Path, *words: str) -> str:
        """git, in a folder of a job's machine."""
        given = ("-c", "user.name=forge-bot", "-c", "user.email=forge-bot@users.noreply.github.com")
        return subprocess.run(
            ["git", "-C", str(folder), *given, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    @property
    def branch(self) -> str:
        """The run's branch."""
        return next(name for name in self.branches() if name.startswith("feature"))

    @property
    def offered(self) -> str:
        """The branch for merge."""
        return str(self.state["pullRequestBranch"]) or self.branch

    def branches(self) -> list[str]:
        return self.repo.bare.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def files(self) -> dict[str, str]:
        """Names and texts on the run's branch, the record by the names of its files."""
        return self.repo.bare.texts(self.branch)

    def document(self, name: str) -> str:
        return next(iter(self.repo.bare.texts(self.branch, f".specs/*/{name}").values()))

    @property
    def pull(self) -> Issue:
        """The pull request of the run."""
        return next(issue for issue in self.repo.issues.values() if issue.pull is not None)

    def said(self, mark: str = "", on: Issue | None = None) -> list[str]:
        """The bot's comments on the issue or another page, those with a mark of this kind."""
        own = [
            comment.body
            for comment in (on or self.issue).comments
            if comment.user is not None and comment.user.login == "github-actions[bot]"
        ]
        return [body for body in own if f"forge-bot:{mark}" in body]

    @property
    def state(self) -> dict[str, Any]:
        return json.loads(self.document("state.json"))


def heard(job: Job | None) -> Job:
    """The job of an event that was delivered."""
    assert job is not None
    return job


def outputs(path: Path) -> dict[str, str]:
    """What a step wrote into GITHUB_OUTPUT."""
    found: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    while lines:
        name, delimiter = lines.pop(0).split("<<", 1)
        end = lines.index(delimiter)
        found[name] = "\n".join(lines[:end])
        lines = lines[end + 1 :]
    return found


OUTCOMES = {0: "waiting", 1: "failed", 5: "refused"}


def agree(stage: Stage, job: Job, occasion: str, code: int, *, begun: bool = True) -> str:
    """The comment for this occasion, after tracking comment, summary, output and exit code were
    seen to say the same. Where no run was begun, the tracking comment says that and no more.
    """
    said = stage.said(f"reply occasion={occasion}")
    assert len(said) == 1, stage.said()
    assert "0000000" not in said[0]
    agree_without_comment(stage, job, said[0].splitlines()[0], code, tracked=begun)
    assert stage.said("tracking")[0].startswith(say("gate.not_begun")) == (not begun)
    return said[0]


def agree_without_comment(
    stage: Stage, job: Job, headline: str, code: int, *, tracked: bool = True
) -> None:
    """The same where nobody is called: somebody wanted it so, or the thread cannot be written to;
    then the tracking comment neither.
    """
    assert job.code == code, job.log
    assert job.outcome == OUTCOMES[code]
    assert headline in job.summary
    assert "0000000" not in job.summary
    assert (headline in stage.said("tracking")[0]) == tracked
