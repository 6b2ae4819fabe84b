"""Uncommitted work put aside under a ref of its own before a work tree is made clean."""

from pathlib import Path

from forge_bot.errors import BadOption, NotARepository
from forge_bot.git.commits import identity
from forge_bot.git.names import commit_id, is_ref, ref_target, tree_id
from forge_bot.git.process import LONG, GitResult, git
from forge_bot.git.snapshot import add_by_force, scratch, work_tree
from forge_bot.git.status import changes

RESCUED = "refs/forge-bot/rescued/"


def rescue(folder: Path, name: str) -> str | None:
    """Save everything uncommitted as a commit under a new ref, then make the tree clean; the ref, or None if it was clean.

    The saved commit comes after HEAD; when the index held something else than the files, a second parent holds that.
    Ignored files and the insides of submodules and nested repositories are neither saved nor touched; a nested repository
    stays there as untracked. A name that is taken gets a number. Get the work back with `git checkout REF -- .`.
    """
    if not is_ref(folder, RESCUED + name):
        raise BadOption(f"{name!r} cannot be part of a ref.", hint="Use letters, digits, `-`, `_`, `.` and `/`.")
    _is_top(folder)
    if not changes(folder):
        return None
    ref = _free(folder, RESCUED + name)
    # An empty old value makes git refuse when the ref has come into being meanwhile.
    git(folder, "update-ref", "--create-reflog", "-m", "forge-bot: rescue", ref, _saved(folder), "")
    git(folder, "reset", "--hard", "--quiet", "HEAD", "--", seconds=LONG)
    _clean(folder, ref)
    return ref


def _is_top(folder: Path) -> None:
    """A hard reset must not reach a repository further up."""
    top = git(folder, "rev-parse", "--show-toplevel").line
    if not Path(top).samefile(folder):
        raise NotARepository(f"{folder} is not the top of a work tree; {top} is.")


def _saved(folder: Path) -> str:
    head = commit_id(folder, "HEAD")
    known = {tree_id(folder, "HEAD")}
    with scratch(folder, keep=True) as copy:
        # Exit 128: an index with conflicts is no tree; its sides are in the commits that were merged.
        staged = git(folder, "write-tree", env=copy.env, ok=(0, 128))
        tree = work_tree(copy)
    parents = [head]
    if staged.code == 0 and staged.line not in known | {tree}:
        parents.append(_commit(folder, staged.line, [head], "forge-bot: the index of the work tree").line)
    return _commit(folder, tree, parents, "forge-bot: uncommitted work, put aside").line


def _clean(folder: Path, ref: str) -> None:
    """Remove what is untracked; what only an uncommitted .gitignore kept out of sight is added to the saved commit first."""
    before: tuple[str, ...] = ()
    while (left := git(folder, "ls-files", "--others", "--exclude-standard", "-z").names) != before:
        _save_late(folder, ref, left)
        git(folder, "clean", "--quiet", "--force", "-d", seconds=LONG)
        before = left


def _save_late(folder: Path, ref: str, untracked: tuple[str, ...]) -> None:
    saved = frozenset(git(folder, "ls-tree", "-r", "-z", "--name-only", "--full-tree", ref).names)
    late = [name for name in untracked if name not in saved and not name.endswith("/")]
    if not late:
        return
    old = commit_id(folder, ref)
    with scratch(folder, keep=True) as copy:
        git(folder, "read-tree", old, env=copy.env)
        add_by_force(copy, late)
        tree = git(folder, "write-tree", env=copy.env).line
    new = _commit(folder, tree, [old], "forge-bot: files that became untracked").line
    git(folder, "update-ref", "-m", "forge-bot: rescue", ref, new, old)


def _commit(folder: Path, tree: str, parents: list[str], message: str) -> GitResult:
    options = [part for parent in parents for part in ("-p", parent)]
    return git(folder, "commit-tree", "--no-gpg-sign", *options, "-F", "-", tree, stdin=message.encode(), env=identity(folder))


def _free(folder: Path, ref: str) -> str:
    number, candidate = 1, ref
    while ref_target(folder, candidate) is not None:
        number += 1
        candidate = f"{ref}-{number}"
    return candidate
