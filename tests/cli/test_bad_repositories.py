"""Repositories as they should not be, from the command line: the run is refused with a way out, or
ends as it would anywhere.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sandbox.bubblewrap import binaries
from tests.fakes.sample import Said, Sample

TASK = "`rota who` names somebody for days before the rota starts"


@pytest.fixture(autouse=True)
def quick(sample: Sample) -> None:
    """The project's tests are beside the point here."""
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(
        "commands: {setup: [], test: [[python3, -c, pass]], lint: [], build: []}\n"
    )


def told(said: Said, code: str) -> str:
    assert said.code == 5, said
    assert code in said.err
    assert "→" in said.err
    return said.err


def write(path: str, new: str) -> dict[str, str]:
    return {"path": path, "operation": "write", "old": "", "new": new}


# -- other repositories
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("command", [["run", TASK], ["run", TASK, "--in", "rota"], ["init"]])
def test_a_repository_without_a_commit_says_what_to_do_first(
    sample: Sample, tmp_path: Path, command: list[str]
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "new")], check=True)
    assert "git commit" in told(sample.forge(*command, "--repo", str(tmp_path / "new")), "GIT-003")


_can_be_read_only = pytest.mark.skipif(
    failure_reason(BackendName.BUBBLEWRAP) != "",
    reason="bubblewrap makes the folder read-only here",
)


def read_only(sample: Sample, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command in a repository that cannot be written."""
    place = str(sample.path)
    around = [next(binaries()), "--dev-bind", "/", "/", "--ro-bind", place, place, "--chdir", place]
    return subprocess.run(
        [*around, sys.executable, "-m", "forge_bot", *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.slow
@_can_be_read_only
def test_a_repository_that_cannot_be_written_is_told_and_left_as_it_was(sample: Sample) -> None:
    done = read_only(sample, "run", TASK, "--effort", "S", "--model", sample.model())
    assert done.returncode == 5, done
    assert "PREFLIGHT-001" in done.stderr
    assert f"{sample.path / '.git'} cannot be written" in done.stderr
    assert "resume" not in done.stderr, "there is no run to go on with"
    assert "cannot be written" in read_only(sample, "doctor").stdout
    assert sample.git("branch", "--format=%(refname:short)") == "main"
