"""Reads the newest past runs of a repository from git."""

from collections.abc import Collection
from functools import lru_cache

from forge_bot.errors import GitFailed
from forge_bot.git import Repository
from forge_bot.git.refs import ENDED, ENDED_AT_ORIGIN
from forge_bot.knowledge.history import History
from forge_bot.knowledge.past_runs import DocumentNames, read_past_run
from forge_bot.store import SPECS

RUNS_READ = 200
"""Past runs that are learned from, the newest by name."""

_Folders = tuple[tuple[str, str], ...]


def history_at(repository: Repository, commit: str, documents: DocumentNames) -> History:
    """Return the history of the runs that have ended, and of those whose records are in a commit,
    given by its full id.
    """
    return _history(repository, past_folders(repository, commit)[-RUNS_READ:], documents)


@lru_cache(maxsize=2)
def _history(repository: Repository, folders: _Folders, documents: DocumentNames) -> History:
    files_by_run = past_files(repository, folders, documents.all()).items()
    runs = (read_past_run(name, files.get, documents) for name, files in files_by_run)
    return History([run for run in runs if run is not None])


def past_folders(repository: Repository, commit: str) -> _Folders:
    """Return the folders of past runs as git names them, by the names of the runs, the newest last:
    those of ended runs, and those in a commit.
    """
    # By their names ours come after those of the remote.
    refs = repository.refs(ENDED_AT_ORIGIN, ENDED)
    tips = {ref.name.rpartition("/")[2]: ref.commit for ref in refs}
    tips |= dict.fromkeys(repository.list_folders(commit, SPECS), commit)
    # A name that cannot be decoded cannot be shown.
    return tuple(
        (name, f"{tip}:{SPECS}/{name}") for name, tip in sorted(tips.items()) if name.isprintable()
    )


def past_files(
    repository: Repository,
    folders: _Folders,
    names: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return the texts of some files of past runs, by run and file; none where a partial clone has
    not fetched all of them.
    """
    wanted = [(run, name, f"{folder}/{name}") for run, folder in folders for name in names]
    try:
        objects = repository.read_objects([place for *_, place in wanted], fetching=False)
    except GitFailed:
        return {}
    texts: dict[str, dict[str, str]] = {run: {} for run, _ in folders}
    for (run, name, _), git_object in zip(wanted, objects, strict=True):
        if git_object is not None and git_object.kind == "blob":
            texts[run][name] = git_object.data.decode("utf-8", "replace")
    return texts
