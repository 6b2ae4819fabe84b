"""Jobs that the real Python runs from its start: whole ways through the thread, and jobs that are
killed or cancelled in the middle.

Everywhere else in these tests a job runs in a Python that has imported forge-bot already
(`tests/fakes/warm_python.py`).
"""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.bot.parted import Parted
from tests.bot.stage import Stage, heard
from tests.bot.test_troubles import finishes
from tests.fakes.github import FakeGitHub
from tests.fakes.warm_python import warm_python

# -- whole ways
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("real", [True, False])
def test_a_run_reaches_its_pull_request_with_the_model_on_a_machine_that_only_reads(
    github: FakeGitHub, tmp_path: Path, *, real: bool
) -> None:
    python = sys.executable if real else warm_python()
    stage = Parted(github, tmp_path / "jobs", tmp_path / "script.jsonl", python=python)
    began = stage.label()
    assert began.code == 0, began.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    done = heard(stage.say("/approve"))
    assert done.code == 0, done.log
    assert stage.state["currentPhaseStatus"] == "completed", done.log
    assert stage.state["decisions"][0]["by"] == "maint"
    assert [issue.pull.head for issue in stage.repo.issues.values() if issue.pull] == [
        stage.offered
    ]


@pytest.mark.slow
def test_files_that_are_called_like_our_libraries_are_not_imported(stage: Stage) -> None:
    stage.python = sys.executable
    stop = "raise SystemExit('imported')\n"
    stage.hub.commit(
        stage.repo,
        "main",
        {"yaml.py": stop, "pydantic/__init__.py": stop, "forge_bot/__init__.py": stop},
    )
    job = stage.label()
    assert job.code == 0, job.log
    assert stage.state["currentPhaseStatus"] == "awaiting_human"


# -- jobs that end in the middle
# --------------------------------------------------------------------------------------------------


POINTS = {
    "after the question, before its record": r"POST .*/issues/\d+/comments$",
    "after a push, before the tracking comment": r"PATCH .*/issues/comments/\d+$",
    "while it pushes": r"POST .*/git-receive-pack$",
    "while it opens the pull request": r"POST .*/pulls$",
}


@pytest.mark.slow
@pytest.mark.parametrize("pattern", POINTS.values(), ids=POINTS)
def test_a_job_that_is_killed_leaves_what_the_next_one_needs(stage: Stage, pattern: str) -> None:
    stage.python = sys.executable
    stage.label(then=lambda: killed_at(stage, pattern, skip=1 if "comments$" in pattern else 0))
    stage.python = warm_python()
    stage.hub.faults.waiting.clear()
    heard(stage.say("/forge status"))
    killed_at(stage, pattern)
    heard(stage.say("/approve"))
    stage.hub.faults.waiting.clear()
    finishes(stage)


def killed_at(stage: Stage, pattern: str, skip: int = 0) -> None:
    """The next job dies at the first such request of its own; the request itself is carried out."""

    def kill() -> None:
        if stage.running is not None:
            stage.running.kill()

    stage.hub.faults.meanwhile(pattern, kill, skip=skip)


@pytest.mark.slow
def test_a_cancelled_job_is_over_in_seven_seconds_says_so_and_the_next_goes_on(
    waiting: Stage, tmp_path: Path
) -> None:
    with hanging(waiting, tmp_path) as job:
        began = time.monotonic()
        job.send_signal(signal.SIGINT)
        code = job.wait(20)
        took = time.monotonic() - began
    assert code == 1
    assert took < 7 * slow()
    assert "The workflow run was ended before I was done." in waiting.said("tracking")[0]
    assert waiting.said("reply") == []
    waiting.model()
    finishes(waiting)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_said_and_the_next_job_goes_on(
    waiting: Stage, tmp_path: Path
) -> None:
    with hanging(waiting, tmp_path) as job:
        os.kill(children(job.pid)[0], signal.SIGKILL)
        code = job.wait(60)
    assert code == 1
    assert "signal 9" in "".join(waiting.said("reply"))
    waiting.model()
    finishes(waiting)


def slow() -> float:
    """How much longer things take here than on a machine that has nothing else to do."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class hanging:  # noqa: N801 - used like a function, in a `with`
    """A job for `/approve` whose worker waits for ever: its model's answers come out of a pipe that
    says nothing.
    """

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.pipe = folder / "never.jsonl"

    def __enter__(self) -> "subprocess.Popen[str]":
        os.mkfifo(self.pipe)
        self.stage.environ["FORGE_BOT_MODEL"] = f"scripted:{self.pipe}"
        self.stage.python = sys.executable
        self.job = self.stage.begun(self.stage.comment("/approve"))
        # Opened as soon as the worker reads; if it never does, the thread is left behind and the
        # test fails.
        self.writer = ThreadPoolExecutor(1).submit(os.open, self.pipe, os.O_WRONLY).result(120)
        return self.job

    def __exit__(self, *error: object) -> None:
        if self.job.poll() is None:
            self.job.kill()
        self.job.communicate(timeout=20)
        os.close(self.writer)
        self.stage.python = warm_python()


def children(pid: int) -> list[int]:
    """Workers of a supervisor: its children that run Python."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(child) for child in found if b"python" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
