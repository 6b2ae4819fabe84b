"""Make commits without a work tree, move branches to them, and merge two commits into one tree."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from forge_bot.errors import GitFailed, GitMissing
from forge_bot.forge import OWN_ADDRESS
from forge_bot.git import files_at
from forge_bot.git.commit_history import Signature
from forge_bot.git.commits import SigningKey, index_of, message_text, store
from forge_bot.git.files_at import GONE, FileVersion, differences
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import HEADS, ref_target, tree_id, unlock_ref
from forge_bot.git.uncommitted_work import APPLY
from forge_bot.git.worktree import is_checked_out

_PLAIN, _LINK = "100644", "120000"

_TRIED = "Edits to be tried"
_WILD = re.compile(r"[\\*?\[\]]")
_NOBODY = ("forge-bot", OWN_ADDRESS, "@0 +0000")
OURS = Signature(_NOBODY, _NOBODY)


def tree_with(root: Path, tree: str, files: Sequence[FileVersion]) -> str:
    """Return the id of a tree with some files in another version; those that are gone are left
    out. Nothing but objects is written.
    """
    # What goes away makes room for what comes: a file may have become a folder.
    ordered = sorted(files, key=lambda file: file.mode != GONE)
    text = "".join(
        f"0 {'0' * len(tree)}\t{file.path}\0"
        if file.mode == GONE
        else f"{file.mode} {file.oid}\t{file.path}\0"
        for file in ordered
    )
    with index_of(root, tree) as env:
        stdin = text.encode(errors="surrogateescape")
        options = ("-z", "--replace", "--add", "--index-info")
        git(root, "update-index", *options, stdin=stdin, env=env, seconds=LONG)
        return git(root, "write-tree", env=env, seconds=LONG).line


def tree_without(root: Path, commit: str, under: str) -> str:
    """Return the id of the tree of a commit without one folder."""
    tree = tree_id(root, commit)
    names = files_at.list_files(root, commit, under)
    return tree_with(root, tree, [FileVersion(name, GONE, "") for name in names])


def make_commit(
    root: Path,
    tree: str,
    parents: Sequence[str],
    message: str,
    trailers: Sequence[tuple[str, str]],
    signature: Signature,
    key: SigningKey | None = None,
) -> str:
    """Return the id of a commit from these parts alone, so every machine makes the same one; with a
    key, every machine that has the key. No branch moves.
    """
    options = [word for parent in parents for word in ("-p", parent)]
    settings = ("-c", "i18n.commitEncoding=UTF-8")
    text = message_text(message, trailers).encode(errors="replace")
    words, env = ("commit-tree", tree, *options), signature.environment
    if key is None:
        return git(root, *settings, *words, stdin=text, env=env).line
    with key.for_git() as signing:
        env |= key.environment
        return git(root, *settings, *signing, *words, "-S", stdin=text, env=env).line


def commit_on(
    root: Path,
    base: str,
    files: Sequence[tuple[str, bytes | None]],
    modes: Mapping[str, str] | None = None,
) -> str:
    """Return the id of a commit after `base` that has these files; None removes a file. It is on no
    branch. A file keeps its mode unless `modes` names another one.
    """
    before = files_at.objects(root, base, [path for path, _ in files])
    known = {path: mode for path, (mode, _) in before.items()} | dict(modes or {})
    versions = list[FileVersion]()
    for path, data in files:
        mode = GONE if data is None else known.get(path, _PLAIN)
        oid = "" if data is None else store(root, data, "" if mode == _LINK else path)
        versions.append(FileVersion(path, mode, oid))
    tree = tree_with(root, tree_id(root, base), versions)
    return make_commit(root, tree, (base,), _TRIED, (), OURS)


def commit_of_patch(
    root: Path, base: str, patch: bytes, without: Sequence[str] = (), only: Sequence[str] = ()
) -> str:
    """Return the id of a commit after `base` with a patch applied, but for the files that `without`
    names by wildcards, or to the files `only`. It is on no branch. Raises GitFailed when the patch
    does not fit.
    """
    options = [f"--exclude={pattern}" for pattern in without]
    options += ["--include=" + _WILD.sub(r"\\\g<0>", path) for path in only]
    with index_of(root, tree_id(root, base)) as env:
        git(root, "apply", "--cached", *APPLY, *options, "-", stdin=patch, env=env)
        tree = git(root, "write-tree", env=env, seconds=LONG).line
    return make_commit(root, tree, (base,), _TRIED, (), OURS)


def patched(
    root: Path, base: str, patch: bytes | None, paths: Sequence[str]
) -> dict[str, tuple[str, str]] | None:
    """Return mode and object id of each of the paths as that part of a patch makes it at a commit;
    None if it does not fit there, or without a patch.
    """
    try:
        made = commit_of_patch(root, base, patch, only=paths) if patch is not None else ""
    except GitFailed:
        return None
    return files_at.objects(root, made, paths) if made else None


def point(root: Path, ref: str, commit: str) -> None:
    """Set one of our own refs, or a branch that is not there yet, to a commit."""
    if ref_target(root, ref) != commit:
        unlock_ref(root, ref)
        git(root, "update-ref", ref, commit)


def delete_branch(root: Path, branch: str, commit: str) -> None:
    """Delete a branch that nobody has moved from the commit or checked out."""
    unlock_ref(root, f"{HEADS}{branch}")
    if ref_target(root, f"{HEADS}{branch}") == commit and not is_checked_out(root, branch):
        with suppress(GitFailed):
            git(root, "update-ref", "-d", f"{HEADS}{branch}", commit)


_CONFLICTS, _USAGE = 1, 129
_MOVED = re.compile(r"~[0-9a-f]{40,64}$")


def changed_files(root: Path, base: str, tip: str) -> dict[str, FileVersion]:
    """Return the files in which two commits or trees differ, as the second one has them."""
    files = differences(root, tree_id(root, base), tree_id(root, tip))
    return {file.path: file for file in files}


def merge_trees(root: Path, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Merge what two commits did since the newest one that both have. Return a tree with the
    changes of both sides, and the paths that cannot have both. Raises GitFailed, GitMissing before
    git 2.38.
    """
    words = ("merge-tree", "--write-tree", "--no-messages", "-z", ours, theirs)
    answer = git(root, *words, ok=(0, _CONFLICTS, _USAGE), seconds=LONG)
    if answer.code == _USAGE:
        raise GitMissing("Merging other people's commits into a run needs git 2.38 or newer.")
    # Of each file in conflict one row a version: `<mode> <oid> <stage>\t<path>`. A file where the
    # other side has a folder stands under another name.
    tree, *rows = answer.names
    paths = dict.fromkeys(_MOVED.sub("", row.partition("\t")[2]) for row in rows)
    return tree, tuple(paths)
