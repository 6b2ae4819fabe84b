"""Names from outside, checked before git sees them: branches become full refs, revisions become object ids."""

import re
from functools import lru_cache
from pathlib import Path

from forge_bot.checkout.git import git
from forge_bot.errors import BadOption, GitFailed

HEADS = "refs/heads/"

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def branch_ref(folder: Path, name: str) -> str:
    """Full ref of a branch name. Raises BadOption for what git does not take as one (git-check-ref-format(1))."""
    if not is_branch_name(folder, name):
        raise BadOption(f"{name!r} cannot be the name of a branch.", hint="Use letters, digits, `-`, `_`, `.` and `/`.")
    return HEADS + name


def is_branch_name(folder: Path, name: str) -> bool:
    """Whether git takes this as the name of a branch. `HEAD` and a leading dash are refused, as `git branch` does."""
    return name != "HEAD" and not name.startswith("-") and is_ref(folder, HEADS + name)


def is_ref(folder: Path, ref: str) -> bool:
    """Whether the full ref (it begins with refs/) is well formed."""
    return "\0" not in ref and git(folder, "check-ref-format", ref, ok=(0, 1)).code == 0


def ref_target(folder: Path, ref: str) -> str | None:
    """Object id a full ref points at, or None when there is no such ref. The ref has to be well formed."""
    answer = git(folder, "show-ref", "--verify", "--hash", "--", ref, ok=(0, 1, 128))
    return answer.line if answer.code == 0 else None


def commit_id(folder: Path, revision: str) -> str:
    """Id of the commit that a branch, tag, id or expression names. Raises GitFailed when it names none."""
    return _of_id(folder, revision, "commit") if _FULL_ID.fullmatch(revision) else _resolved(folder, revision, "commit")


def tree_id(folder: Path, revision: str) -> str:
    """Id of the folder tree behind a revision. Raises GitFailed when it names none."""
    return _of_id(folder, revision, "tree") if _FULL_ID.fullmatch(revision) else _resolved(folder, revision, "tree")


@lru_cache(maxsize=256)
def _of_id(folder: Path, oid: str, kind: str) -> str:
    """What a full id names never changes, so git is asked once."""
    return _resolved(folder, oid, kind)


def _resolved(folder: Path, revision: str, kind: str) -> str:
    answer = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}", ok=(0, 1, 128))
    if answer.code != 0:
        raise GitFailed(
            f"{revision!r} names no {kind} in {folder}.",
            hint="Check the name; a branch that exists only on the remote is called origin/NAME, after `git fetch`.",
        )
    return answer.line
