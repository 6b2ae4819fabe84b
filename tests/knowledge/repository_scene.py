"""Repositories to look at: some written down in the test, some copied from the fixtures and run for
real.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from forge_bot.project.detected_commands import ENV, Command
from forge_bot.runs.project_commands.commit_profile import Profile, read_profile

REPOSITORIES = Path(__file__).parents[1] / "fixtures" / "repositories"


def profile_of(
    files: Mapping[str, str], overrides: Mapping[str, Sequence[Sequence[str]]] | None = None
) -> Profile:
    """The profile of a repository that is given as paths and texts."""
    return read_profile(tuple(files), files.get, overrides)


def profile_at(root: Path) -> Profile:
    """The profile of a repository on disk."""
    files = [
        path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()
    ]
    return read_profile(files, lambda path: (root / path).read_text("utf-8"))


def copied(name: str, to: Path) -> Path:
    """A copy of a fixture repository, without what a run in the original may have left behind."""
    return shutil.copytree(
        REPOSITORIES / name,
        to / name,
        ignore=shutil.ignore_patterns("__pycache__", "node_modules", "target", "run-tests"),
    )


def lines(commands: Sequence[Command]) -> list[str]:
    """The commands as one would type them."""
    return [" ".join(each.argv) for each in commands]


def run(
    commands: Sequence[Command], root: Path, env: Path
) -> list[subprocess.CompletedProcess[str]]:
    """What the commands do when they are run in the repository, one after the other, without pytest
    plugins from elsewhere.
    """
    plain = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return [
        subprocess.run(
            [part.replace(ENV, str(env)) for part in each.argv],
            cwd=root,
            env=plain,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        for each in commands
    ]


def said(results: Sequence[subprocess.CompletedProcess[str]]) -> str:
    """All that the commands wrote."""
    return "\n".join(result.stdout + result.stderr for result in results)
