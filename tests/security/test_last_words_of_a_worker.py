"""How a worker says that it stopped: its words lead nowhere, and it makes no job green."""

import json
from pathlib import Path

import pytest

from forge_bot.bot.comments.command_replies import reply_to_error
from forge_bot.bot.worker_messages import WorkerStopped, as_error
from forge_bot.errors import registry
from forge_bot.interaction.command_names import CommandNames
from forge_bot.remedies import ModelTrouble, Remedy
from tests.bot.catalogue import LINKS
from tests.bot.parted import Parted
from tests.bot.reading import acts, elements
from tests.fakes.github import FakeGitHub

EVIL = "https://evil.example/x"
HOSTILE = (
    f"[Approve here]({EVIL}) <a href='{EVIL}'>x</a> ![p]({EVIL}) <{EVIL}> {EVIL} www.evil.example"
    f" [x][1] **`[`**[`c`]({EVIL}) @ann fixes #1\n\n[1]: {EVIL}"
)
OTHER_ENDS = (("ERR-001", 6), ("RUN-006", 4), ("MODEL-009", 3))
REMEDIES = (None, Remedy("set-key", HOSTILE))


def _comment(code: str, remedy: Remedy | None) -> str:
    trouble = ModelTrouble(cause="down")
    stopped = WorkerStopped(
        code=code, message=HOSTILE, hint=HOSTILE, remedy=remedy, trouble=trouble
    )
    return reply_to_error(as_error(stopped), LINKS, CommandNames()).comment()


def test_a_workers_words_are_no_links() -> None:
    comments = {
        (code, remedy): _comment(code, remedy)
        for code in (*registry(), "NO-SUCH-CODE")
        for remedy in REMEDIES
    }
    addresses = {
        (key, address): comment
        for key, comment in comments.items()
        for address in (each.get("href", "") for each in elements(comment, "a"))
    }
    assert [key for key in addresses if "evil" in key[1]] == []
    assert [key for key, comment in comments.items() if acts(comment)] == []


@pytest.fixture
def parted(github: FakeGitHub, tmp_path: Path) -> Parted:
    return Parted(github, tmp_path / "jobs", tmp_path / "script.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(("code", "exit_code"), [("ERR-001", 0), *OTHER_ENDS])
def test_a_workers_exit_code_makes_no_job_green(parted: Parted, code: str, exit_code: int) -> None:
    def forged(folder: Path) -> None:
        told = json.loads((folder / "delivered.json").read_text())
        told["stopped"] = {"code": code, "message": "All is well.", "exit_code": exit_code}
        (folder / "delivered.json").write_text(json.dumps(told))

    parted.on_the_way = forged
    assert parted.label().code == 1
