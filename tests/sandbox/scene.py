"""A project, and the world around it that must stay out of reach: files, servers of every kind, a
process with a secret.
"""

import atexit
import ctypes
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_bot.sandbox.box import CommandOutcome

SECRET = "hunter2"

Attempt = Callable[..., CommandOutcome]

_LIBC = ctypes.CDLL(None, use_errno=True)
# Source: bits/ipc.h: IPC_CREAT | 0600, IPC_RMID.
_NEW, _REMOVE = 0o1600, 0


def project(root: Path) -> Path:
    """A repository with one commit, a source folder, a workflow and a spec."""
    return Path(shutil.copytree(_pattern(), root))


@cache
def _pattern() -> Path:
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    root = Path(folder.name)
    for name, text in {
        "src/app.py": "x = 1\n",
        ".github/workflows/ci.yml": "on: push\n",
        ".specs/spec.md": "# Spec\n",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    git(root, "init", "-q", "--template=")
    (root / ".git" / "hooks").mkdir()
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


def git(folder: Path, *words: str) -> str:
    """Run git with a name and nothing of the machine's configuration."""
    nobody = {
        f"GIT_{who}_{what}": "a@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **nobody,
    }
    return subprocess.run(
        ["git", *words], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout


class World:
    """What lies around a box: a file with a secret, servers of every kind, and a process with a
    secret.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / ".netrc").write_text(SECRET, encoding="utf-8")
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.unix = _listening(str(folder / "s"))
        self.abstract = _listening(f"\0{folder.name}-{os.getpid()}")
        self.datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagram.bind(str(folder / "d"))
        self.sequenced = _listening(str(folder / "q"), socket.SOCK_SEQPACKET)
        for each in self._servers():
            each.setblocking(False)
        self.witness = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={"SECRET": SECRET}
        )
        # A System V queue, segment and semaphore, and a POSIX queue, of the user's other programs.
        self.queue = _LIBC.msgget(0, _NEW)
        self.segment = _LIBC.shmget(0, 4096, _NEW)
        self.semaphore = _LIBC.semget(0, 1, _NEW)
        self.posix_queue = f"/forge-{folder.parent.name}-{os.getpid()}"
        self._posix_descriptor = _LIBC.mq_open(
            self.posix_queue.encode(), os.O_CREAT | os.O_RDWR, 0o600, None
        )

    def variables(self) -> dict[str, str]:
        """Where everything is, for the attacks."""
        return {
            "OUTSIDE": str(self.folder),
            "TCP": str(self.tcp.getsockname()[1]),
            "UDP": str(self.udp.getsockname()[1]),
            "ABSTRACT": self.abstract.getsockname()[1:].decode(),
            "WITNESS": str(self.witness.pid),
            "PARENT": str(os.getpid()),
            "QUEUE": str(self.queue),
            "SEGMENT": str(self.segment),
            "SEMAPHORE": str(self.semaphore),
            "POSIX_QUEUE": self.posix_queue,
        }

    def reached(self) -> list[str]:
        """Which of the servers has heard something."""
        return [
            name
            for name in ("tcp", "udp", "unix", "abstract", "datagram", "sequenced")
            if _heard(getattr(self, name))
        ]

    def _servers(self) -> tuple[socket.socket, ...]:
        return (self.tcp, self.udp, self.unix, self.abstract, self.datagram, self.sequenced)

    def close(self) -> None:
        """End what was started."""
        self.witness.communicate()
        for each in self._servers():
            each.close()
        _LIBC.msgctl(self.queue, _REMOVE, None)
        _LIBC.shmctl(self.segment, _REMOVE, None)
        _LIBC.semctl(self.semaphore, 0, _REMOVE)
        _LIBC.mq_unlink(self.posix_queue.encode())
        os.close(self._posix_descriptor)


def _listening(address: str, kind: int = socket.SOCK_STREAM) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(address)
    server.listen()
    return server


def _heard(server: socket.socket) -> bool:
    try:
        if server.type == socket.SOCK_DGRAM:
            return bool(server.recv(10))
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True
