"""A branch sent to its remote, plainly: what is there already is never overwritten."""

from pathlib import Path

from forge_bot.errors import GitFailed
from forge_bot.git.current_head import head
from forge_bot.git.names import HEADS, commit_id
from forge_bot.git.process import LONG, git, without_credentials

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
