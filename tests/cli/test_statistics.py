"""What became of sixty runs, told from their records and GitHub, and from the records alone."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github import FakeGitHub
from tests.fakes.many_pulls import MadeRun, furnish, made_runs
from tests.fakes.warm_python import warm_python

RUNS = made_runs()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeGitHub]:
    with FakeGitHub(tmp_path_factory.mktemp("github")) as hub:
        furnish(hub, hub.repository(), RUNS)
        yield hub


@pytest.fixture(scope="module")
def clone(hub: FakeGitHub, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    subprocess.run(["git", "clone", "-q", f"{hub.url}/acme/widget.git", str(folder)], check=True)
    return folder


def stats(clone: Path, hub: FakeGitHub, *words: str, token: str = "") -> str:
    environ = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "GITHUB_SERVER_URL": hub.url,
        "GITHUB_API_URL": hub.url,
        "GITHUB_TOKEN": token or hub.token("maint"),
        "COLUMNS": "200",
    }
    command = [warm_python(), "-m", "forge_bot", "stats", *words]
    done = subprocess.run(
        command, cwd=clone, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def touched(run: MadeRun, days: int) -> int:
    return run.touched if run.days_later < days else 0


@pytest.mark.slow
@pytest.mark.parametrize("days", [1, 14])
def test_each_run_is_told_with_what_github_and_git_know_of_it(
    clone: Path, hub: FakeGitHub, days: int
) -> None:
    told = json.loads(stats(clone, hub, "--json", "--days", str(days)))
    assert told["unknown"] == []
    assert [run["run"] for run in told["runs"]] == [run.name for run in reversed(RUNS)]
    for made, run in zip(reversed(RUNS), told["runs"], strict=True):
        merged = made.outcome == "merged"
        assert run["outcome"] == made.outcome
        assert run["minutes"] == (made.minutes if merged else None)
        assert run["lines_added"] == (made.lines if merged else None)
        assert run["lines_touched"] == (touched(made, days) if merged else None)
        assert run["dollars"] == str(made.dollars)
        assert (run["rounds"], run["questions"]) == (made.rejections, made.rejections + 1)
        assert run["minutes_waited"] == 5 * (made.rejections + 1)
        rejected = {"reject": made.rejections} if made.rejections else {}
        assert run["answers"] == {made.by: {**rejected, "approve": 1}}


@pytest.mark.slow
def test_without_github_the_records_tell_what_they_know_and_that_is_said(
    clone: Path, hub: FakeGitHub
) -> None:
    printed = stats(clone, hub, token="ghp_wrong")
    assert "60 runs, 60 pull requests." in printed
    assert "What became of pull requests is not known: " in printed
    assert "Set GITHUB_TOKEN to a token that may read it." in printed
    assert "Reworked" not in printed
