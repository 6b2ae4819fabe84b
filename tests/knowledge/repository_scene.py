"""Repositories to look at: some written down in the test, some among the fixtures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from forge_bot.project.detected_commands import Command
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


def lines(commands: Sequence[Command]) -> list[str]:
    """The commands as one would type them."""
    return [" ".join(each.argv) for each in commands]
