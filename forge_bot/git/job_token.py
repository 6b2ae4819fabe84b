"""The token of a job: git gets it from this process where it fetches and pushes, and nowhere else.

A worker of the same user can read environment, arguments and pipes of git, and write the
configuration of the user and of the clone. So the token goes through a socket, which cannot be
opened by a name in /proc, and such a git obeys settings of our own alone.
"""

import os
import shlex
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import LONG, GitResult, git
from forge_bot.git.revisions import own_folders

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
