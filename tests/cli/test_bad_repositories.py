"""Repositories as they should not be, from the command line: the run is refused with a way out, or
ends as it would anywhere.
"""

import subprocess
from pathlib import Path

import pytest

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
