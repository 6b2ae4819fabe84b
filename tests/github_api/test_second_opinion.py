"""The main flow against npm's `emulate`, which other people wrote: what fits two fakes was not bent
to fit ours.
"""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from forge_bot.errors import NotOnGitHub
from forge_bot.gate.roles import KnownRole, Role
from forge_bot.github_api.pygithub import GitHub
from forge_bot.github_api.types import NewPullRequest, PullState
from tests.bot.stage import BODY, TITLE, Job, Stage
from tests.fakes.github import FakeGitHub
from tests.github_api.asking import Asking, never

pytestmark = pytest.mark.slow
EMULATE = "emulate@0.12.2"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of emulate, which is installed for the occasion: 0.12.2, since `latest` is
    another package by now.
    """
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are needed")
    folder = tmp_path_factory.mktemp("emulate")
    install = [
        npm,
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(folder),
        EMULATE,
    ]
    if subprocess.run(install, capture_output=True, check=False, timeout=180).returncode:
        pytest.skip(f"{EMULATE} could not be installed")
    script = Path(__file__).parent / "emulate.mjs"
    with subprocess.Popen(
        [node, str(script), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert address, "emulate did not start"
        yield address
        running.stdin.close()
        running.wait(timeout=20)


@pytest.fixture
def ask(address: str) -> Asking:
    return Asking(address, "emulate-maint", "/repos/maint/widget")


@pytest.fixture
def bot(address: str) -> Iterator[GitHub]:
    with GitHub("maint/widget", "emulate-maint", address, wait=never) as found:
        yield found


def test_an_issue_is_talked_about_and_its_labels_are_read(ask: Asking, bot: GitHub) -> None:
    number = ask("POST", "+/issues", {"title": "Fix the login", "body": "It times out."}).body[
        "number"
    ]
    issue = bot.issue(number)
    assert (issue.title, issue.body, issue.author.login) == (
        "Fix the login",
        "It times out.",
        "maint",
    )
    first, second = bot.comment(number, "On it.").id, bot.comment(number, "ünï 🙂").id
    bot.edit_comment(first, "Done.")
    assert [(comment.id, comment.body) for comment in bot.comments(number)] == [
        (first, "Done."),
        (second, "ünï 🙂"),
    ]
    assert bot.create_label("forge:S", "0e8a16", "small") is True
    assert ask("POST", f"+/issues/{number}/labels", {"labels": ["forge:S"]}).status == 200
    assert bot.issue(number).labels == ("forge:S",)


def test_more_comments_than_fit_a_page_come_in_order(ask: Asking, bot: GitHub) -> None:
    number = ask("POST", "+/issues", {"title": "Long"}).body["number"]
    for each in range(101):
        bot.comment(number, f"{each}")
    assert [comment.body for comment in bot.comments(number)] == [f"{each}" for each in range(101)]


def test_a_pull_request_is_opened_found_and_changed(ask: Asking, bot: GitHub) -> None:
    sha = ask("GET", "+/git/ref/heads/main").body["object"]["sha"]
    assert ask("POST", "+/git/refs", {"ref": "refs/heads/fix/login", "sha": sha}).status == 201
    ask("PUT", "+/contents/a.txt", {"message": "a", "content": "YQ==", "branch": "fix/login"})
    assert bot.pull_request_for("fix/login") is None
    made = bot.open_pull_request(
        NewPullRequest(title="Fix", body="Closes #1", head="fix/login", base="main")
    )
    found = bot.pull_request_for("fix/login")
    assert found is not None
    assert (found.number, found.head, found.state, found.draft) == (
        made.number,
        "fix/login",
        PullState.OPEN,
        True,
    )
    bot.update_pull_request(made.number, title="Fixed", body="")
    assert (found := bot.pull_request_for("fix/login")) is not None
    assert found.title == "Fixed"


def test_roles_and_what_is_missing_are_told(bot: GitHub) -> None:
    assert bot.membership("maint") == KnownRole(Role.ADMIN)
    assert bot.membership("unheard-of") == KnownRole(Role.NONE)
    with pytest.raises(NotOnGitHub):
        bot.issue(999)


# -- the bot, from label to pull request
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def hooks() -> Iterator[tuple[str, "Queue[tuple[str, Any]]"]]:
    """An address for webhooks, and the events that came."""
    came: Queue[tuple[str, Any]] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.put(
                (
                    self.headers["X-GitHub-Event"],
                    json.loads(self.rfile.read(int(self.headers["Content-Length"]))),
                )
            )
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            del format, args

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        running.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", came
        server.shutdown()
        running.join()


def woken(stage: Stage, came: "Queue[tuple[str, Any]]", event: str, action: str) -> Job:
    """The job of the next such event, with the payload as emulate sends it."""
    while True:
        name, payload = came.get(timeout=20)
        if (name, payload["action"]) == (event, action) and payload["sender"]["login"] == "maint":
            return stage.job(name, payload, "maint")


def test_the_bot_goes_from_a_label_over_an_approval_to_a_pull_request(
    address: str, hooks: tuple[str, "Queue[tuple[str, Any]]"], tmp_path: Path
) -> None:
    """It serves no git, so the run's branch lies with our own GitHub; and no reactions, without
    which a run goes on.
    """
    url, came = hooks
    maint = Asking(address, "emulate-maint")
    assert (
        maint(
            "POST",
            "+/hooks",
            {"name": "web", "events": ["*"], "config": {"url": url, "content_type": "json"}},
        ).status
        == 201
    )
    number = maint("POST", "+/issues", {"title": TITLE, "body": BODY}).body["number"]
    maint("POST", "+/labels", {"name": "forge", "color": "5319e7"})

    with FakeGitHub(tmp_path / "git") as git:
        stage = Stage(git, tmp_path / "jobs", tmp_path / "script.jsonl")
        stage.environ |= {"GITHUB_API_URL": address, "FORGE_BOT_LOGIN": "robot"}
        maint("POST", f"+/issues/{number}/labels", {"labels": ["forge"]})
        began = woken(stage, came, "issues", "labeled")
        assert (began.result, began.code) == ("proceed", 0), began.log
        maint("POST", f"+/issues/{number}/comments", {"body": "/approve"})
        done = woken(stage, came, "issue_comment", "created")
        assert done.code == 0, done.log
        assert stage.state["currentPhaseStatus"] == "completed"
        assert git.asked() == [], "all but git was asked of emulate"
        branch = stage.offered

    said = [
        each["body"]
        for each in maint("GET", f"+/issues/{number}/comments").body
        if each["user"]["login"] == "robot"
    ]
    assert [
        sum(f"forge-bot:{mark}" in body for body in said) for mark in ("tracking", "checkpoint")
    ] == [1, 1]
    [pull] = maint("GET", "+/pulls").body
    assert (pull["head"]["ref"], pull["draft"]) == (branch, False)
    assert f"Closes #{number}" in pull["body"]
