"""A program of others in the sample repository, with a home of its own and next to nothing of our
environment.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

from tests.fakes.sample import Sample

_LONGEST = 180


def machine() -> str:
    """This machine as npm's packages call it: linux-x64."""
    kinds = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    return (
        f"{'darwin' if sys.platform == 'darwin' else 'linux'}-{kinds[platform.machine().lower()]}"
    )


class AtHome:
    """A program, called by its words."""

    def __init__(self, sample: Sample, home: Path, *program: Path, **environ: str) -> None:
        self.sample = sample
        self.home = home
        self.program = program
        self.environ = {
            "HOME": str(home),
            # `forge-bot` is what stands beside this Python.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
            **environ,
        }
        home.mkdir()

    def __call__(self, *words: str, **more: str) -> str:
        """What it says; exit codes of such programs say little."""
        done = subprocess.run(
            [*self.program, *words],
            env={**self.environ, **more},
            cwd=self.sample.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
        return f"{done.stdout}\n{done.stderr}"
