"""Events that come twice, late, in another order or at once, and runs that move between the bot and
a person's machine.
"""

import itertools
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.bot.stage import Stage, heard
from tests.fakes.sample import by_script


def settled(stage: Stage) -> None:
    """The run is over: one decision, one question, one tracking comment, one pull request."""
    state = stage.state
    assert state["currentPhaseStatus"] == "completed"
    assert [decision["answer"] for decision in state["decisions"]] == ["approve"]
    assert len(stage.said("checkpoint")) == len(stage.said("tracking")) == 1
    assert len([issue for issue in stage.repo.issues.values() if issue.pull]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("order", list(itertools.permutations(range(3)))[::2], ids=str)
def test_deliveries_in_any_order_and_twice_end_in_the_same_state(
    waiting: Stage, order: tuple[int, ...]
) -> None:
    comments = [
        waiting.comment("/forge status"),
        waiting.comment("/approve"),
        waiting.comment("Nice work so far."),
    ]
    for number in (*order, order[0]):
        assert waiting.delivered(comments[number]).code == 0
    settled(waiting)
    assert len(waiting.said("reply occasion=status")) == 1


def read_to_end(job: "subprocess.Popen[str]") -> str:
    return job.communicate(timeout=300)[0]


@pytest.mark.slow
def test_two_jobs_at_once_are_one_run(waiting: Stage) -> None:
    jobs = [waiting.begun(waiting.comment(words)) for words in ("/approve", "/forge status")]
    with ThreadPoolExecutor(len(jobs)) as pool:
        logs = list(pool.map(read_to_end, jobs))
    assert [job.returncode for job in jobs] == [0, 0], logs
    settled(waiting)
    # Words that change nothing may be said by both, as docs/github.md says.
    assert 1 <= len(waiting.said("reply occasion=status")) <= len(jobs)
    lines = waiting.document("reports.jsonl").splitlines()
    assert len(lines) == len(set(lines))


# -- moved
# --------------------------------------------------------------------------------------------------


class Laptop:
    """A person's clone, with the command line."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.path = folder / "laptop"
        address = f"{stage.hub.url}/{stage.repo.full_name}.git".replace(
            "://", f"://x-access-token:{stage.hub.token('maint')}@"
        )
        self.environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "laptop-state"),
            "GIT_AUTHOR_NAME": "Ann",
            "GIT_AUTHOR_EMAIL": "ann@example.org",
            "GIT_COMMITTER_NAME": "Ann",
            "GIT_COMMITTER_EMAIL": "ann@example.org",
            **stage.environ,
        }
        subprocess.run(["git", "clone", "-q", address, str(self.path)], check=True)
        self.git("switch", "-q", stage.branch)
        self.git("switch", "-q", "main")

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", str(self.path), *words], check=True, env=self.environ)

    def forge(self, *words: str) -> int:
        return subprocess.run(
            [self.stage.python, "-m", "forge_bot", *words, *by_script(words)],
            cwd=self.path,
            env=self.environ,
            check=False,
        ).returncode

    def push(self) -> None:
        self.git("push", "-q", "origin", self.stage.branch)
        shutil.rmtree(self.path)


@pytest.mark.slow
def test_a_run_goes_from_the_bot_to_a_laptop_and_back_and_its_approval_is_asked_about_again(
    waiting: Stage, tmp_path: Path
) -> None:
    laptop = Laptop(waiting, tmp_path)
    assert laptop.forge("approve", "--until", "final-verification") in {0, 3}
    laptop.push()
    assert waiting.state["decisions"][0]["via"] == "script"

    woken = heard(waiting.say("/forge status"))
    assert woken.code == 0, woken.log
    assert waiting.state["gate"]["reason"] == "unverified_approval"
    assert [issue for issue in waiting.repo.issues.values() if issue.pull] == []
    assert "Approved by a script that " in waiting.said("checkpoint")[-1]

    assert heard(waiting.say("/approve")).code == 0
    assert waiting.state["currentPhaseStatus"] == "completed"
    assert waiting.pull.pull is not None


@pytest.mark.slow
def test_where_local_approvals_are_trusted_nobody_is_asked_again(
    waiting: Stage, tmp_path: Path
) -> None:
    waiting.environ["FORGE_BOT_TRUST_LOCAL"] = "true"
    laptop = Laptop(waiting, tmp_path)
    assert laptop.forge("approve", "--until", "final-verification") in {0, 3}
    laptop.push()
    assert heard(waiting.say("/forge status")).code == 0
    assert waiting.state["currentPhaseStatus"] == "completed"
