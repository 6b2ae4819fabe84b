"""What a shell is told at <Tab>, asked as a shell asks: through the console script and its
environment.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.sample import Sample

PROGRAM = Path(sys.executable).parent / "forge-bot"


def complete(line: str, folder: Path) -> list[str]:
    """The words that a shell is told at <Tab>, with the cursor at the end of the line."""
    environ = {
        "_FORGE_BOT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    done = subprocess.run(
        [str(PROGRAM)],
        env=os.environ | environ,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_runs_are_offered_by_name(asked_sample: Sample, tmp_path: Path) -> None:
    folder, run = asked_sample.path, asked_sample.workspace.name
    assert complete("forge-bot approve --run ", folder) == [run]
    assert complete("forge-bot approve --run ", tmp_path) == []
