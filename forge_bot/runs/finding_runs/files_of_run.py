"""The files of a run's folder, even if its reports cannot be read."""

from forge_bot.git import Repository
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.store import SPECS, inside


def raw_file(repository: Repository, info: RunInfo, name: str) -> bytes | None:
    """A file of the run's folder: from its work tree if there is one, else from its branch. Raises
    PathEscapes if a link leads out of the folder.
    """
    folder = f"{SPECS}/{info.name}"
    if info.tree is None:
        return repository.read(info.ref, f"{folder}/{name}")
    file = inside(inside(info.tree, folder), name)
    return file.read_bytes() if file.is_file() else None


def artifact_text(repository: Repository, info: RunInfo, name: str) -> str | None:
    """The text of an artifact of the run, or None."""
    if "/" in name or name.startswith("."):
        return None
    raw = raw_file(repository, info, name)
    return raw.decode("utf-8", "replace") if raw is not None else None
