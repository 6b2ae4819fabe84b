"""One call of git: an argument list, a closed environment, a time limit, and git's own words when
it fails.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MethodType
from typing import IO, Concatenate, Generic, ParamSpec, TypeVar, cast

from forge_bot.errors import ForgeError, GitFailed, GitMissing, NotARepository
from forge_bot.remedies import Remedy
from forge_bot.sentences import say

Given = ParamSpec("Given")
Result = TypeVar("Result")
QUICK = 60.0
LONG = 900.0
SIGNING_KEY = "FORGE_BOT_SIGNING_KEY"
"""The variable with the private key that commits are signed with."""


# Options given with -c win over every configuration file and over GIT_CONFIG_COUNT.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgsign=false",
    "protocol.ext.allow=never",
    # With submodule.recurse a reset would reach into submodules, whose work nothing here saves.
    "submodule.recurse=false",
    # safecrlf=true makes `git add` die over line ends; what is stored stays as autocrlf and the
    # attributes say.
    "core.safecrlf=false",
    "core.quotePath=false",
    # What a command changed is seen by the time that no program can set back.
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "diff.suppressBlankEmpty=false",
    # An order file that is missing here makes even `git status` fail.
    "diff.orderFile=/dev/null",
    # An automatic gc goes on in the background after the call and holds locks.
    "gc.auto=0",
    "maintenance.auto=false",
    # Objects reach the disk before the refs that name them, so that a power cut leaves no ref
    # without its commit.
    "core.fsync=committed,reference",
    "core.fsyncMethod=batch",
)
# What a user or a CI job sets on purpose: identity, transport, and where the configuration lies.
# All other GIT_* (GIT_DIR, GIT_INDEX_FILE, GIT_TRACE, …) come from a hook or an alias that happens
# to run us and speak of another call.
_KEPT = frozenset(
    {
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_ASKPASS",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_EXEC_PATH",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_COUNT",
    }
)
_KEPT_STARTS = ("GIT_SSL_", "GIT_HTTP_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_CREDENTIALS = re.compile(r"\b(https?://)[^/\s']+@", re.IGNORECASE)
_WORDS_SHOWN = 4_000
_GRACE = 3.0
# What git says of work trees that another process is making or removing (setup.c, abspath.c,
# builtin/worktree.c).
_HALF_MADE = re.compile(r"(failed to read|Invalid path|create directory of) .*\bworktrees\b")
_MORE_TRIES, _PAUSE = 20, 0.05

_NO_ROOM = "git.process.make_room"
# What git says, and what a person can do about it. The first that is found counts.
_ADVICE = {
    # The second are git's words when a file it checks as it writes, such as the index, finds no
    # room (csum-file.c).
    "No space left": _NO_ROOM,
    "Out of diskspace": _NO_ROOM,
    "index.lock": "git.process.index_is_locked",
    "from promisor remote": "git.process.partial_clone_without_its_remote",
    "dubious ownership": "git.process.folder_of_somebody_else",
    "could not create leading directories": "git.process.state_home_not_writable",
    "reference broken": "git.process.reference_broken",
    "is corrupt": "git.process.object_is_damaged",
}


@dataclass(frozen=True, slots=True)
class GitResult:
    """The result of a git call."""

    code: int
    out: bytes

    @property
    def line(self) -> str:
        """The output as one line, without git's line end. Other bytes than UTF-8 survive."""
        return os.fsdecode(self.out.removesuffix(b"\n"))

    @property
    def names(self) -> tuple[str, ...]:
        """The parts of an output made with -z."""
        return tuple(os.fsdecode(part) for part in self.out.split(b"\0") if part)


def git(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float = QUICK,
    ok: Collection[int] = (0,),
    into: IO[bytes] | None = None,
    upwards: bool = False,
    descriptors: tuple[int, ...] = (),
) -> GitResult:
    """Run git in `folder`, the top of a work tree (or any folder inside one, with `upwards`).

    `env` adds to the environment, `ok` lists the exit codes that are an answer, `into` takes the
    output instead of memory, `descriptors` stay open in git. Raises GitFailed (also after
    `seconds`), GitMissing, and NotARepository when the folder is not there.
    """
    if not folder.is_dir():
        raise NotARepository(f"There is no folder {folder}.")
    fence = {} if upwards else {"GIT_CEILING_DIRECTORIES": str(folder.absolute().parent)}
    environment = {**_environment(), **fence, **(env or {})}
    start = partial(_start, folder, args, environment, into, descriptors)
    for _ in range(_MORE_TRIES):
        try:
            return _ended(start(), args, stdin, seconds, ok)
        except GitFailed as error:
            if not _HALF_MADE.search(error.output):
                raise
        time.sleep(_PAUSE)
    return _ended(start(), args, stdin, seconds, ok)


def _ended(
    process: "subprocess.Popen[bytes]",
    args: tuple[str, ...],
    stdin: bytes,
    seconds: float,
    ok: Collection[int],
) -> GitResult:
    try:
        out, words = process.communicate(stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise GitFailed(
            f"{_shown(args)} was stopped: it had not ended after {seconds:g} seconds.",
            hint=(
                "Run the command by hand to see what it waits for: a slow disk, the network, a "
                "question."
            ),
        ) from None
    except BaseException:
        _end(process)
        raise
    if process.returncode not in ok:
        raise _failure(args, process.returncode, words)
    return GitResult(process.returncode, out or b"")


FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")
"""Options for a git that reads paths as `listing` gives them, more than a command line takes."""


def listing(names: Iterable[str]) -> bytes:
    """Return names for a git that reads them from its input, each with a zero byte behind it."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def without_credentials(text: str) -> str:
    """The text with user names, passwords and tokens struck out of its web addresses."""
    return _CREDENTIALS.sub(r"\1", text)


def plain_environment() -> dict[str, str]:
    """Return this process's environment for a child, without the keys that no child gets."""
    return {name: value for name, value in os.environ.items() if name != SIGNING_KEY}


def _environment() -> dict[str, str]:
    kept = {
        k: v
        for k, v in plain_environment().items()
        if not k.startswith("GIT_") or k in _KEPT or k.startswith(_KEPT_STARTS)
    }
    # Literal pathspecs: a file may be called `*` or `:(top)`. No optional locks: looking at a tree
    # must not disturb its user. No replaced objects and no grafts: a push sends the objects
    # themselves, so nothing else may be looked at.
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
    }


def _start(
    folder: Path,
    args: tuple[str, ...],
    env: dict[str, str],
    into: IO[bytes] | None,
    descriptors: tuple[int, ...],
) -> "subprocess.Popen[bytes]":
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        return subprocess.Popen(
            ["git", *settings, *args],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=into or subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=descriptors,
            # A session of its own: ssh and filters end with git, and nothing asks questions on the
            # user's terminal.
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == str(folder):
            raise NotARepository(f"{folder} cannot be entered: {error.strerror}.") from None
        raise GitMissing(f"git could not be started: {error.strerror}.") from None
    except (OSError, ValueError) as error:
        # ValueError: a NUL byte or a lone surrogate, which no name in git can have.
        raise GitFailed(f"{_shown(args)} could not be started: {error}.") from None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop git and its children: politely, so that its lock files go away, then for certain."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        # A time limit here too: a child that left the session may hold the pipes open.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
            return
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


def _shown(args: tuple[str, ...]) -> str:
    return f"`{without_credentials(shlex.join(('git', *args)))[:300]}`"


def _failure(args: tuple[str, ...], code: int, words: bytes) -> ForgeError:
    plain = without_credentials(words.decode(errors="replace"))
    lines = [line.rstrip() for line in plain.splitlines() if not line.startswith("hint:")]
    text = "\n".join(filter(None, lines))[-_WORDS_SHOWN:]
    advice = next((advice for sign, advice in _ADVICE.items() if sign in text), None)
    return GitFailed(
        "{command} failed: {words}".format(
            command=_shown(args), words=text or say("words.exit_code", code=code)
        ),
        output=text,
        hint=say(advice) if advice is not None else None,
        remedy=Remedy("resume") if advice == _NO_ROOM else None,
    )


class OfFolder(Generic[Given, Result]):
    """A method that is a function, bound to the folder of its object. A subclass knows where an
    object has its folder.
    """

    def __init__(self, function: Callable[Concatenate[Path, Given], Result]) -> None:
        """Make a method of a function that takes the folder first."""
        self._function = function

    def bound(self, folder: Path) -> Callable[Given, Result]:
        """Return the function for one folder."""
        return cast("Callable[Given, Result]", MethodType(self._function, folder))
