"""Two versions of a file and the one they both come from, made into one; or the certainty that a person or a new try is needed."""

import tempfile
from pathlib import Path

from forge_bot.git.process import git

# git-merge-file(1): the exit code is the number of conflicts, at most 127; above that it is an error (a binary file).
_CONFLICTS = range(128)
_ERRORS = range(128, 256)


class MergeConflict(Exception):
    """Both sides changed the same lines, or one deleted what the other changed."""


def merge(folder: Path, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    """The file with the changes of both sides, None when it is to go. Raises MergeConflict. None stands for no file."""
    if theirs in {base, ours}:
        return ours
    if ours == base:
        return theirs
    if base is None or ours is None or theirs is None:
        raise MergeConflict
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        places = [Path(name) / side for side in ("ours", "base", "theirs")]
        for place, data in zip(places, (ours, base, theirs), strict=True):
            place.write_bytes(data)
        answer = git(folder, "merge-file", "--stdout", "--quiet", *map(str, places), ok=(*_CONFLICTS, *_ERRORS))
    if answer.code != 0:
        raise MergeConflict
    return answer.out
