"""Branches as a remote has them: pushed, fetched, followed, merged; and commits that travel in a file (git-bundle(1))."""

from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import GitFailed
from forge_bot.git.commits import identity
from forge_bot.git.process import LONG, git, without_credentials
from forge_bot.git.revisions import HEADS, branch_ref, commit_id, head, ref_target

# What git or the remote says, and what a person can do about it. The first that is found counts.
_BEHIND = (
    "The remote branch has commits that are not here; nothing was overwritten. In the work tree run "
    "`git pull --no-rebase {remote} {branch}`, look at the result, then `forge-bot resume`."
)
_WORKFLOWS = "The token may not change workflow files. Push the branch with your own credentials, or give the token that right."
_RULES = "The remote's own rules refuse this branch; its words are above. Ask an owner, or start the run on another branch."
_CREDENTIALS = "The remote does not take your credentials: try `git push` by hand, or `gh auth setup-git`."
_WAYS = (
    ("(fetch first)", _BEHIND),
    ("(non-fast-forward)", _BEHIND),
    ("without `workflow", _WORKFLOWS),
    ("[remote rejected]", _RULES),
    ("could not read Username", _CREDENTIALS),
    ("Authentication failed", _CREDENTIALS),
    ("Permission denied", _CREDENTIALS),
    ("error: 403", _CREDENTIALS),
)


def remote_url(folder: Path, name: str) -> str | None:
    """Address of a remote, after url.insteadOf and without credentials. None when there is no such remote."""
    if not name or name.startswith("-"):
        return None
    answer = git(folder, "remote", "get-url", "--", name, ok=(0, 1, 2, 128))
    return without_credentials(answer.line) if answer.code == 0 else None


def push(folder: Path, remote: str, commit: str | None = None) -> None:
    """Push the checked out branch to the branch of the same name and remember that as its upstream.

    With `commit`, that one and its ancestors go out, whatever the branch names by then; no upstream is set.
    Raises GitFailed with a way out when there is no such remote or it refuses.
    """
    branch = head(folder).branch
    if remote_url(folder, remote) is None:
        raise GitFailed(f"There is no remote {remote!r}.", hint="Add it: git remote add origin URL.")
    ref = HEADS + branch
    # The --no-… undo settings that would push more, sign, or need hooks.
    source = ref if commit is None else commit_id(folder, commit)
    upstream = ("--set-upstream",) if commit is None else ()
    options = ("--no-verify", "--no-follow-tags", "--no-signed", "--no-recurse-submodules", *upstream)
    try:
        # A remote marked as mirror would push, and force, all that is there.
        git(folder, "-c", f"remote.{remote}.mirror=false", "push", "--quiet", *options, "--", remote, f"{source}:{ref}", seconds=LONG)
    except GitFailed as error:
        way = next((way for sign, way in _WAYS if sign in error.message), None)
        hint = way.format(remote=remote, branch=branch) if way else error.advice
        raise GitFailed(error.message, hint=hint, details=error.details) from None


_SHORT = 15.0
_LOST = "refs/forge-bot/lost/"


def fetch(folder: Path, remote: str) -> None:
    """Learn what the remote's branches are now. Raises GitFailed."""
    refs = f"+{HEADS}*:refs/remotes/{remote}/*"
    git(folder, "fetch", "--quiet", "--prune", "--no-tags", "--no-recurse-submodules", "--", remote, refs, seconds=LONG)


def branches(folder: Path, remote: str) -> tuple[str, ...]:
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


REMOTES = "refs/remotes/"


@dataclass(frozen=True, slots=True)
class Tracking:
    """A branch of a remote; `ref` is the full name under which this repository keeps it."""

    remote: str
    branch: str

    @property
    def ref(self) -> str:
        """The remote-tracking branch."""
        return f"{REMOTES}{self.remote}/{self.branch}"


def tracked(folder: Path, most: int) -> tuple[Tracking, ...]:
    """Branches of all remotes, newest commit first, at most so many; the remotes' HEADs are none."""
    remotes = sorted(git(folder, "remote").line.split("\n"), key=len, reverse=True)
    form = "--format=%(symref)%00%(refname)"
    lines = git(folder, "for-each-ref", form, "--sort=-committerdate", f"--count={most}", REMOTES).line.split("\n")
    refs = [ref.removeprefix(REMOTES) for symref, _, ref in (line.partition("\0") for line in lines) if ref and not symref]
    # The name of a remote may have slashes too; the longest that fits is meant.
    owned = ((next((name for name in remotes if name and ref.startswith(f"{name}/")), ""), ref) for ref in refs)
    return tuple(Tracking(remote, ref.removeprefix(f"{remote}/")) for remote, ref in owned if remote)


def take(folder: Path, found: Tracking) -> None:
    """Make the local branch of the same name, which follows the remote's. Raises GitFailed when there is one already."""
    branch_ref(folder, found.branch)
    git(folder, "branch", "--quiet", "--track", found.branch, found.ref)


_CARRIED = "refs/forge-bot/carried"


def make_bundle(root: Path, file: Path, base: str, tip: str) -> None:
    """Write the commits between two into a file. Raises GitFailed, also where there are none."""
    git(root, "update-ref", _CARRIED, commit_id(root, tip))
    git(root, "bundle", "create", "--quiet", str(file.absolute()), f"^{commit_id(root, base)}", _CARRIED, seconds=LONG)


def open_bundle(root: Path, file: Path) -> str:
    """Take the commits of a file in, every object checked, and no branch moved; the newest. Raises GitFailed for what is no such file."""
    options = ("-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    git(root, *options, "--", str(file.absolute()), f"+{_CARRIED}:{_CARRIED}", seconds=LONG)
    return commit_id(root, _CARRIED)


def name_branch(tree: Path, commit: str, before: str) -> None:
    """Let the checked out branch name another commit, its files untouched. Raises GitFailed if it does not name `before` now."""
    git(tree, "update-ref", HEADS + head(tree).branch, commit, before)


def show_branch(tree: Path) -> None:
    """Bring the files of a clean work tree to where its branch is."""
    git(tree, "reset", "--quiet", "--hard", seconds=LONG)
