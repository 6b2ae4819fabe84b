"""Branches as a remote has them: fetched, taken over, merged; nothing that is here only is lost."""

from pathlib import Path

from forge_bot.errors import GitFailed
from forge_bot.git.commits import identity
from forge_bot.git.current_head import head
from forge_bot.git.names import HEADS, commit_id, ref_target
from forge_bot.git.process import LONG, git

_SHORT = 15.0
_LOST = "refs/forge-bot/lost/"


def fetch(folder: Path, remote: str) -> None:
    """Learn what the remote's branches are now. Raises GitFailed."""
    refs = f"+{HEADS}*:refs/remotes/{remote}/*"
    git(folder, "fetch", "--quiet", "--prune", "--no-tags", "--no-recurse-submodules", "--", remote, refs, seconds=LONG)


def names(folder: Path, remote: str) -> tuple[str, ...]:
    """Names of the remote's branches as of the last fetch, without its HEAD."""
    start = f"refs/remotes/{remote}/"
    refs = git(folder, "for-each-ref", "--format=%(refname)", start).line
    return tuple(name for ref in refs.split("\n") if ref and (name := ref.removeprefix(start)) != "HEAD")


def unpushed(folder: Path, remote: str) -> bool:
    """Whether the checked out branch has commits that the remote's did not have when it was last heard of."""
    here = head(folder)
    theirs = ref_target(folder, f"refs/remotes/{remote}/{here.branch}")
    if theirs is None or theirs == here.commit:
        return theirs is None
    return git(folder, "merge-base", "--is-ancestor", here.commit, theirs, ok=(0, 1)).code != 0


def contains(folder: Path, commit: str, other: str) -> bool:
    """Whether a commit is the other one or came after it; False also if one of them is not there."""
    return git(folder, "merge-base", "--is-ancestor", other, commit, ok=(0, 1, 128)).code == 0


def at_a_remote(folder: Path, branch: str, commit: str) -> bool:
    """Whether the branch of that name at any remote had the commit when it was last heard of."""
    return git(folder, "for-each-ref", "--count=1", f"--contains={commit}", f"refs/remotes/*/{branch}").line != ""


def take_over(folder: Path, branch: str, remote: str) -> None:
    """Make a local branch of one that only the remote has, or move one that is wholly contained in the remote's; else leave it."""
    theirs = ref_target(folder, f"refs/remotes/{remote}/{branch}")
    ours = ref_target(folder, HEADS + branch)
    if theirs is None or theirs == ours:
        return
    if ours is None or git(folder, "merge-base", "--is-ancestor", ours, theirs, ok=(0, 1)).code == 0:
        git(folder, "update-ref", HEADS + branch, theirs, ours or "0" * len(theirs))


def give_way(folder: Path, remote: str) -> str:
    """Put the checked out branch and its files where the remote's is; the ref under which our own commits are kept.

    For whoever lost a race: what was done here is done again from what won.
    """
    here = head(folder)
    theirs = commit_id(folder, f"refs/remotes/{remote}/{here.branch}")
    kept = f"{_LOST}{here.branch}-{here.commit[:12]}"
    git(folder, "update-ref", kept, here.commit)
    git(folder, "reset", "--quiet", "--hard", theirs, seconds=LONG)
    return kept


def merge_theirs(folder: Path, remote: str) -> None:
    """Merge the remote's branch of the same name into the checked out one. Raises GitFailed, with nothing changed, on a conflict."""
    here = head(folder)
    theirs = commit_id(folder, f"refs/remotes/{remote}/{here.branch}")
    options = ("--quiet", "--no-edit", "--no-verify", "--no-gpg-sign", "--no-stat", "-m", f"Merge {remote}/{here.branch}")
    try:
        git(folder, "merge", *options, theirs, env=identity(folder), seconds=LONG)
    except GitFailed as error:
        git(folder, "merge", "--abort", ok=(0, 128))
        hint = f"Merge {remote}/{here.branch} by hand, push, and say resume."
        raise GitFailed(f"{here.branch} was changed on {remote} where this run changed it too.", hint=hint) from error


def tag_commit(folder: Path, address: str, tag: str) -> str | None:
    """The commit that a tag names in a repository elsewhere; None if there is no such tag, or nobody answers within a few seconds."""
    wanted = f"refs/tags/{tag}"
    try:
        listed = git(folder, "ls-remote", "--quiet", "--", address, wanted, f"{wanted}^{{}}", seconds=_SHORT).line
    except GitFailed:
        return None
    found = {name: commit for commit, _, name in (line.partition("\t") for line in listed.split("\n"))}
    # The tag of an annotated one is an object of its own; what it stands for comes with ^{}.
    return found.get(f"{wanted}^{{}}") or found.get(wanted)
