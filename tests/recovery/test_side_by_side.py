"""Ten runs in one clone at the same time."""

import subprocess
import sys

import pytest

from tests.fakes.sample import Sample

pytestmark = pytest.mark.slow


def test_ten_runs_that_begin_together_all_end_and_refuse_nothing(sample: Sample) -> None:
    words = [sys.executable, "-m", "forge_bot", "run", "--effort", "S", "--auto"]
    words += ["--model", sample.model()]
    for turn in range(3):
        running = [
            subprocess.Popen(
                [*words, f"Case {turn}-{number}, nobody on call"],
                cwd=sample.path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
            )
            for number in range(10)
        ]
        said = [process.communicate()[0] for process in running]
        assert [process.returncode for process in running] == [0] * 10, said
    assert len(sample.git("for-each-ref", "refs/forge-bot/runs").splitlines()) == 30
    assert len(sample.git("worktree", "list").splitlines()) == 1
