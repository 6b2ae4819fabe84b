"""Rank the text files of a commit by the words of a task."""

import re
from functools import lru_cache

from forge_bot.git import Repository
from forge_bot.git.commit_history import changed_together, holding
from forge_bot.knowledge.likely_files import LikelyFiles
from forge_bot.project.search_words import words
from forge_bot.store import SPECS

_RANKED_WHOLE = 1_500
_RANKED_OF_MANY = 400
_LARGEST_RANKED = 1_000_000
_WORDS_SEARCHED = 10
NO_TEXT = re.compile(
    r"\.(?:lock|svg|png|jpe?g|gif|ico|pdf|zip|gz|whl|woff2?|ttf|mo|po|map|snap|pyc|so|dll|exe|jar"
    r"|bin"
    r"|parquet|sum|min\.js)$",
    re.IGNORECASE,
)
"""Endings of files that no task speaks of."""


@lru_cache(maxsize=8)
def listed(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return the files of a commit, without the records of runs."""
    files = repository.list_files(commit)
    return tuple(name for name in files if not name.startswith(f"{SPECS}/"))


def likely_files(repository: Repository, commit: str, about: tuple[str, ...]) -> LikelyFiles | None:
    """Return the ranked text files of a commit.

    Of a large repository only those that hold words of the task are read.
    """
    files = [path for path in listed(repository, commit) if not NO_TEXT.search(path)]
    many = len(files) > _RANKED_WHOLE
    return _ranked(
        repository, repository.commit_id(commit), tuple(sorted(set(about))) if many else ()
    )


def _words_in_path(path: str, wanted: frozenset[str]) -> int:
    """Return how many of the words a path has."""
    folder, _, name = path.rpartition("/")
    return len(wanted & (_words_of_folder(folder) | {*words(name)}))


@lru_cache(maxsize=1_000)
def _words_of_folder(folder: str) -> frozenset[str]:
    return frozenset(words(folder))


@lru_cache(maxsize=4)
def _ranked(repository: Repository, commit: str, about: tuple[str, ...]) -> LikelyFiles | None:
    files = [path for path in listed(repository, commit) if not NO_TEXT.search(path)]
    if about:
        asked = sorted(about, key=lambda word: (-len(word), word))[:_WORDS_SEARCHED]
        counts = holding(repository.root, commit, asked)
        wanted = frozenset(about)
        own = {path: counts.get(path, 0) + _words_in_path(path, wanted) for path in files}
        files = sorted((path for path in files if own[path]), key=lambda path: (-own[path], path))
        files = files[:_RANKED_OF_MANY]
    sizes = repository.sizes(commit, files)
    small = [path for path in files if 0 < sizes.get(path, 0) <= _LARGEST_RANKED]
    texts = {
        path: raw.decode("utf-8", "replace")
        for path, raw in sorted(repository.read_many(commit, small).items())
        if b"\0" not in raw
    }
    return LikelyFiles(texts, changed_together(repository.root, commit)) if texts else None
