"""Names from outside, checked before git sees them: branches become full refs, revisions become object ids."""

import re
from functools import lru_cache
from pathlib import Path

from forge_bot.errors import BadOption, GitFailed
from forge_bot.git.process import git

HEADS = "refs/heads/"

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_KNOWN = 4_096

_known: dict[tuple[Path, str], tuple[str, str]] = {}
"""Commit and tree behind full ids, by folder; no commit behind the id of a tree."""


def branch_ref(folder: Path, name: str) -> str:
    """Full ref of a branch name. Raises BadOption for what git does not take as one (git-check-ref-format(1))."""
    if not is_branch_name(folder, name):
        raise BadOption(f"{name!r} cannot be the name of a branch.", hint="Use letters, digits, `-`, `_`, `.` and `/`.")
    return HEADS + name


def is_branch_name(folder: Path, name: str) -> bool:
    """Whether git takes this as the name of a branch. `HEAD` and a leading dash are refused, as `git branch` does."""
    return name != "HEAD" and not name.startswith("-") and is_ref(folder, HEADS + name)


@lru_cache(maxsize=256)
def is_ref(folder: Path, ref: str) -> bool:
    """Whether the full ref (it begins with refs/) is well formed; nothing but its letters decides that."""
    return "\0" not in ref and git(folder, "check-ref-format", ref, ok=(0, 1)).code == 0


def ref_target(folder: Path, ref: str) -> str | None:
    """Object id a full ref points at, or None when there is no such ref. The ref has to be well formed."""
    answer = git(folder, "show-ref", "--verify", "--hash", "--", ref, ok=(0, 1, 128))
    return answer.line if answer.code == 0 else None


def commit_id(folder: Path, revision: str) -> str:
    """Id of the commit that a branch, tag, id or expression names. Raises GitFailed when it names none."""
    found = _behind(folder, revision)
    return (found is not None and found[0]) or _resolved(folder, revision, "commit")


def tree_id(folder: Path, revision: str) -> str:
    """Id of the folder tree behind a revision. Raises GitFailed when it names none."""
    found = _behind(folder, revision)
    if found is None:
        found = ("", _resolved(folder, revision, "tree"))
        _remember(folder, revision, found)
    return found[1]


def is_full_id(text: str) -> bool:
    """Whether this is written like the whole id of an object."""
    return _FULL_ID.fullmatch(text) is not None


def _behind(folder: Path, revision: str) -> tuple[str, str] | None:
    """Commit and tree behind a full id; None for any other revision, and for an id that leads to no commit.

    What an id names never changes, so git is asked once, and for both: whoever asks for the one will ask for the other.
    """
    known = _known.get((folder, revision))
    if known is None and is_full_id(revision):
        match git(folder, "rev-parse", f"{revision}^{{commit}}", f"{revision}^{{tree}}", ok=(0, 128)).line.split("\n"):
            case [commit, tree] if is_full_id(commit) and is_full_id(tree):
                known = (commit, tree)
                _remember(folder, revision, known)
            case _:
                pass
    return known


def _remember(folder: Path, revision: str, found: tuple[str, str]) -> None:
    """Keep what a full id names; what any other name stands for may change."""
    if is_full_id(revision):
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[folder, revision] = found


def _resolved(folder: Path, revision: str, kind: str) -> str:
    answer = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}", ok=(0, 1, 128))
    if answer.code != 0:
        raise GitFailed(
            f"{revision!r} names no {kind} in {folder}.",
            hint="Check the name; a branch that exists only on the remote is called origin/NAME, after `git fetch`.",
        )
    return answer.line
