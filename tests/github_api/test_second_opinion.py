"""The main flow against npm's `emulate`, which other people wrote: what fits two fakes was not bent to fit ours."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_bot.errors import NotOnGitHub
from forge_bot.github_api import NewPullRequest, Permission, PullState, PyGitHub
from tests.github_api.asking import Asking, never

pytestmark = pytest.mark.slow
EMULATE = "emulate@0.12.2"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of emulate, which is installed for the occasion: 0.12.2, since `latest` is another package by now."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are needed")
    folder = tmp_path_factory.mktemp("emulate")
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), EMULATE]
    if subprocess.run(install, capture_output=True, check=False, timeout=180).returncode:
        pytest.skip(f"{EMULATE} could not be installed")
    script = Path(__file__).parent / "emulate.mjs"
    with subprocess.Popen([node, str(script), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
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
def bot(address: str) -> Iterator[PyGitHub]:
    with PyGitHub("maint/widget", "emulate-maint", address, wait=never) as found:
        yield found


def test_an_issue_is_talked_about_and_labelled(ask: Asking, bot: PyGitHub) -> None:
    number = ask("POST", "+/issues", {"title": "Fix the login", "body": "It times out."}).body["number"]
    issue = bot.issue(number)
    assert (issue.title, issue.body, issue.author.login) == ("Fix the login", "It times out.", "maint")
    first, second = bot.comment(number, "On it.").id, bot.comment(number, "ünï 🙂").id
    bot.edit_comment(first, "Done.")
    assert [(comment.id, comment.body) for comment in bot.comments(number)] == [(first, "Done."), (second, "ünï 🙂")]
    assert [comment.id for comment in bot.comments(number, since_id=first)] == [second]
    assert bot.create_label("forge:S", "0e8a16", "small") is True
    bot.label(number, ["forge:S"])
    assert bot.issue(number).labels == ("forge:S",)
    assert bot.unlabel(number, "forge:S") is True
    assert bot.issue(number).labels == ()


def test_more_comments_than_fit_a_page_come_in_order(ask: Asking, bot: PyGitHub) -> None:
    number = ask("POST", "+/issues", {"title": "Long"}).body["number"]
    for each in range(101):
        bot.comment(number, f"{each}")
    assert [comment.body for comment in bot.comments(number)] == [f"{each}" for each in range(101)]


def test_a_pull_request_is_opened_found_and_changed(ask: Asking, bot: PyGitHub) -> None:
    sha = ask("GET", "+/git/ref/heads/main").body["object"]["sha"]
    assert ask("POST", "+/git/refs", {"ref": "refs/heads/fix/login", "sha": sha}).status == 201
    ask("PUT", "+/contents/a.txt", {"message": "a", "content": "YQ==", "branch": "fix/login"})
    assert bot.pull_request_for("fix/login") is None
    made = bot.open_pull_request(NewPullRequest(title="Fix", body="Closes #1", head="fix/login", base="main"))
    found = bot.pull_request_for("fix/login")
    assert found is not None
    assert (found.number, found.head, found.state, found.draft) == (made.number, "fix/login", PullState.OPEN, True)
    assert bot.update_pull_request(made.number, title="Fixed").title == "Fixed"


def test_roles_and_what_is_missing_are_told(bot: PyGitHub) -> None:
    assert bot.role("maint").permission is Permission.ADMIN
    assert bot.role("unheard-of").permission is Permission.NONE
    with pytest.raises(NotOnGitHub):
        bot.issue(999)
