"""Branches of remotes: pushed to, followed, taken over; commits in a bundle file (git-bundle(1));
and the token of a job, which git gets from this process where it fetches and pushes, and nowhere
else.

A worker of the same user can read environment, arguments and pipes of git, and write the
configuration of the user and of the clone. So the token goes through a socket, which cannot be
opened by a name in /proc, and such a git obeys settings of our own alone.
"""

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import GitFailed, PushRefusal, PushRefused
from forge_bot.git.process import LONG, GitResult, git, without_credentials
from forge_bot.git.revisions import (
    ENDED,
    ENDED_AT_ORIGIN,
    HEADS,
    REMOTES,
    commit_id,
    head,
    is_ancestor,
    own_folders,
    ref_target,
)
from forge_bot.remedies import Remedy

# What git prints for each refusal. The first that is found counts.
_SIGNS = (
    (PushRefusal.BEHIND, ("(fetch first)", "(non-fast-forward)", "stale info", "cannot lock ref")),
    (PushRefusal.ARCHIVED, ("repository was archived",)),
    (PushRefusal.RULES, ("[remote rejected]", "GH006", "GH013")),
    (
        PushRefusal.CREDENTIALS,
        (
            "could not read Username",
            "Authentication failed",
            "Permission denied",
            "Permission to",
            "Write access to repository not granted",
            "error: 403",
        ),
    ),
)
ORIGIN = "origin"
"""The one remote that is fetched from and pushed to."""

_FETCHED = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
_PATIENCE = 20.0
"""Seconds for what a person waits for, and can do without."""

_REFUSED = re.compile(r"rejected\]\s+\S+ -> (?P<branch>\S+) \((?!atomic)")
_REJECTED = re.compile(r"\[remote rejected\][^()]*\((?P<why>.+)\)")
# Git's words for a server that failed or could not be reached.
_UNREACHED = re.compile(
    r"(?:RPC failed; )?HTTP (?:429|5\d\d)|The requested URL returned error: (?:429|5\d\d)"
    r"|Could not resolve host|Failed to connect|Connection (?:refused|reset|timed out)"
    r"|Operation timed out|remote end hung up|Empty reply from server",
    re.IGNORECASE,
)


def remote_url(folder: Path, name: str = ORIGIN) -> str | None:
    """Address of a remote, after url.insteadOf, without credentials; None without such a remote."""
    answer = git(folder, "remote", "get-url", "--", name, ok=(0, 1, 2, 128))
    return without_credentials(answer.line) if answer.code == 0 else None


def push(folder: Path, commit: str = "HEAD") -> None:
    """Push a commit and its ancestors to origin's branch of the name that is checked out, wherever
    the branch is by then. Raises GitFailed as `push_together`.
    """
    push_together(folder, {head(folder).branch: commit})


def push_together(folder: Path, branches: Mapping[str, str]) -> None:
    """Push commits to branches of origin, by the names of the branches: all or none, never by
    force.

    Raises GitFailed with a way out if there is no such remote or it refuses.
    """
    sources = [f"{commit_id(folder, tip)}:{HEADS}{branch}" for branch, tip in branches.items()]
    _push(folder, " and ".join(branches), sources, ("--atomic",))


_RECORDS = f"+{ENDED}*:{ENDED_AT_ORIGIN}*"


def fetch(folder: Path) -> None:
    """Fetch origin's branches and records of ended runs. Raises GitFailed."""
    branches = f"+{HEADS}*:{REMOTES}{ORIGIN}/*"
    ask_remote(folder, "fetch", "--prune", *_FETCHED, "--", ORIGIN, branches, _RECORDS)


def fetch_ended(folder: Path) -> None:
    """Learn which records of ended runs origin has. Raises GitFailed."""
    words = ("fetch", "--prune", *_FETCHED, "--", ORIGIN, _RECORDS)
    ask_remote(folder, *words, seconds=_PATIENCE)


def push_ended(folder: Path, run: str) -> None:
    """Push the record of an ended run. Raises GitFailed with a way out if there is no such remote
    or it refuses.
    """
    ref = f"{ENDED}{run}"
    _push(folder, ref, (f"{ref}:{ref}",))
    git(folder, "update-ref", f"{ENDED_AT_ORIGIN}{run}", ref)


def has_at_origin(folder: Path, ref: str) -> bool:
    """Return whether origin has a ref now. Raises GitFailed."""
    words = ("ls-remote", "--quiet", "--", ORIGIN, ref)
    return bool(ask_remote(folder, *words, seconds=_PATIENCE).line)


def put_at_origin(folder: Path, ref: str, commit: str) -> None:
    """Make a ref of origin name a commit; without one it is deleted. Raises GitFailed."""
    _push(folder, ref, (f"{commit}:{ref}",))


def delete_at_origin(folder: Path, branch: str, commit: str) -> None:
    """Delete a branch of origin that nobody has moved from the commit. Raises GitFailed."""
    ref = f"{HEADS}{branch}"
    _push(folder, branch, (f":{ref}",), (f"--force-with-lease={ref}:{commit}",))


def fetch_branch(folder: Path, branch: str) -> None:
    """Learn where one branch of origin is now, and nothing else. Raises GitFailed."""
    ref = f"+{HEADS}{branch}:{REMOTES}{ORIGIN}/{branch}"
    ask_remote(folder, "fetch", *_FETCHED, "--", ORIGIN, ref)


def _push(folder: Path, branch: str, sources: Sequence[str], more: Sequence[str] = ()) -> None:
    # Without such a remote git takes the word for a folder.
    if remote_url(folder) is None:
        raise GitFailed(
            f"There is no remote {ORIGIN!r}.", hint="Add it: git remote add origin URL."
        )
    # The --no-… undo settings that would push more, sign, or need hooks.
    options = ("--no-verify", "--no-follow-tags", "--no-signed", "--no-recurse-submodules", *more)
    # A remote marked as mirror would push, and force, all that is there.
    words = ("-c", f"remote.{ORIGIN}.mirror=false", "push", "--quiet", *options)
    words = (*words, "--", ORIGIN, *sources)
    try:
        try:
            ask_remote(folder, *words)
        except GitFailed as error:
            # What was pushed after all, the remote has already.
            if not _UNREACHED.search(error.output):
                raise
            ask_remote(folder, *words)
    except GitFailed as error:
        raise _refused(error, branch) from None


def _refused(error: GitFailed, branch: str) -> GitFailed:
    """Return the refusal of a push, read from git's output; the error itself if it is none."""
    words = _words_of_remote(error.output)
    why = next((why for why, signs in _SIGNS if any(sign in error.output for sign in signs)), None)
    if why is not PushRefusal.BEHIND and "workflow" in words:
        why = PushRefusal.WORKFLOWS
    if why is None:
        return error
    remedy = Remedy("resume") if why is PushRefusal.BEHIND else None
    # Of several branches that go out together, the others are refused for the sake of one.
    at_fault = next((refusal["branch"] for refusal in _REFUSED.finditer(error.output)), branch)
    signed = why is PushRefusal.RULES and "signature" in words.lower()
    hint = _SIGNED_ONLY if signed else _HINTS[why].format(branch=at_fault)
    return PushRefused(error, why, words, hint=hint, branch=at_fault, remedy=remedy)


_HINTS = {
    PushRefusal.BEHIND: (
        "The remote branch has commits that are not here; nothing was overwritten. In the work tree"
        f" run `git pull --no-rebase {ORIGIN} {{branch}}` and look at the result."
    ),
    PushRefusal.ARCHIVED: (
        "The repository is archived, so nothing can be pushed. Whoever owns it can unarchive it in"
        " its settings."
    ),
    PushRefusal.WORKFLOWS: (
        "The token may not change workflow files. Push the branch with your own credentials, or"
        " give the token that right."
    ),
    PushRefusal.RULES: (
        "The remote's own rules refuse this branch; its words are above. Ask an owner, or start the"
        " run on another branch."
    ),
    PushRefusal.CREDENTIALS: (
        "The remote does not take your credentials: try `git push` by hand, or `gh auth setup-git`."
    ),
}
_SIGNED_ONLY = (
    "The remote takes only signed commits there. A key signs those for merge (`sign: true` in"
    " .forge/config.yml); ask an owner to leave feature/** and forge-bot/** out of that rule. A"
    " squash merge is signed by GitHub itself."
)


def _words_of_remote(output: str) -> str:
    """Return the remote's message, without git's own words."""
    lines = [
        line.removeprefix("remote:").strip().removeprefix("error:").removeprefix("-").strip(" .")
        for line in output.splitlines()
        if line.startswith("remote:")
    ]
    why = [refusal["why"] for refusal in _REJECTED.finditer(output)]
    said = "; ".join(dict.fromkeys(filter(None, (*lines, *why))))
    return (said or " ".join(output.split())).rstrip(".")


_LOST = "refs/forge-bot/lost/"


def pushed(folder: Path, branch: str, commit: str = "") -> bool:
    """Return whether origin's branch had a commit, by default the newest one of the branch here,
    when it was last heard of.
    """
    ours = commit or ref_target(folder, f"{HEADS}{branch}")
    theirs = ref_target(folder, f"{REMOTES}{ORIGIN}/{branch}")
    return ours is not None and theirs is not None and is_ancestor(folder, ours, theirs)


def unpushed(folder: Path) -> bool:
    """Return whether the checked out branch has commits that origin's did not have."""
    here = head(folder)
    return not pushed(folder, here.branch, here.commit)


def take_over(folder: Path, branch: str) -> None:
    """Make a local branch of one that only the remote has, or move one that is wholly contained in
    the remote's; else leave it.
    """
    theirs = ref_target(folder, f"{REMOTES}{ORIGIN}/{branch}")
    ours = ref_target(folder, HEADS + branch)
    if theirs is None or theirs == ours:
        return
    if ours is None or is_ancestor(folder, ours, theirs):
        git(folder, "update-ref", HEADS + branch, theirs, ours or "0" * len(theirs))


def give_way(folder: Path) -> str:
    """Move the checked-out branch and its files to the remote's commit; return the ref that keeps
    our own commits.

    This is for a process that lost a race: its work is repeated from the winner's commit.
    """
    here = head(folder)
    theirs = commit_id(folder, f"{REMOTES}{ORIGIN}/{here.branch}")
    kept = f"{_LOST}{here.branch}-{here.commit[:12]}"
    git(folder, "update-ref", kept, here.commit)
    git(folder, "reset", "--quiet", "--hard", theirs, seconds=LONG)
    return kept


_CARRIED = "refs/forge-bot/carried"


def make_bundle(root: Path, file: Path, base: str, tip: str) -> None:
    """Write the commits between two into a file. Raises GitFailed, also where there are none."""
    git(root, "update-ref", _CARRIED, commit_id(root, tip))
    what = (f"^{commit_id(root, base)}", _CARRIED)
    git(root, "bundle", "create", "--quiet", str(file.absolute()), *what, seconds=LONG)


def open_bundle(root: Path, file: Path) -> str:
    """Import the commits in a file, with every object checked and no branch moved; return the
    newest. Raises GitFailed for any other file.
    """
    words = ("-c", "fetch.fsckObjects=true", "fetch", *_FETCHED)
    git(root, *words, "--", str(file.absolute()), f"+{_CARRIED}:{_CARRIED}", seconds=LONG)
    return commit_id(root, _CARRIED)


_SHARED = ("objects", "refs", "packed-refs", "shallow")
_SETTINGS = """[core]
\trepositoryFormatVersion = 0
\tbare = true
[remote "origin"]
\turl = {address}
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""
_ANSWER = "import os, sys; sys.argv[1] == 'get' and os.write(1, os.read({descriptor}, 65536))"
_OURS_ALONE = {"HOME": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull}
"""Without a home there is no .netrc either."""


class _Login(NamedTuple):
    server: str
    address: str
    token: str


_logins: list[_Login] = []


def use_token(server: str, address: str, token: str) -> None:
    """Let git have a token for a server from now on; `address` is the repository's."""
    _logins[:] = [_Login(server, address, token)]


def ask_remote(folder: Path, *words: str, seconds: float = LONG) -> GitResult:
    """Run a git that fetches from or pushes to origin. Raises GitFailed."""
    if not _logins:
        return git(folder, *words, seconds=seconds)
    (login,) = _logins
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        own, common = Path(name), own_folders(folder)[1].resolve()
        for shared in _SHARED:
            (own / shared).symlink_to(common / shared)
        (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        (own / "config").write_text(_SETTINGS.format(address=login.address), encoding="utf-8")
        return _with_token(folder, login, words, {"GIT_DIR": name})


def clone_with_token(address: str, folder: Path, *options: str) -> None:
    """Clone a repository into a new folder. Raises GitFailed."""
    words = ("clone", *options, "--", address, str(folder))
    if _logins:
        _with_token(folder.parent, _logins[0], words, {})
    else:
        git(folder.parent, *words, seconds=LONG)


def _with_token(
    folder: Path, login: _Login, words: tuple[str, ...], env: Mapping[str, str]
) -> GitResult:
    with _answered(login.token) as descriptor:
        program = (sys.executable, "-I", "-S", "-c", _ANSWER.format(descriptor=descriptor))
        helper = f"credential.{login.server}.helper=!{shlex.join(program)}"
        settings = ("-c", "credential.helper=", "-c", helper)
        env = {**_OURS_ALONE, **env}
        return git(folder, *settings, *words, env=env, seconds=LONG, descriptors=(descriptor,))


@contextmanager
def _answered(token: str) -> Generator[int]:
    """Yield a descriptor from which the token can be read once, as git-credential(1) has it."""
    # Only a job needs it.
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(f"username=x-access-token\npassword={token}\n".encode())
        ours.shutdown(socket.SHUT_WR)
        yield theirs.fileno()
