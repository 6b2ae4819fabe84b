"""Connections into a sandbox: a listening socket inside it, and the bytes that pass through."""

import selectors
import socket
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager, suppress

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox import listener
from forge_bot.sentences import say

PIECE = 65_536
"""Bytes that are read at a time."""

IDLE_SECONDS = 600.0
"""The longest silence of a connection."""

_CONNECT_SECONDS = 30.0
_MOST_CONNECTIONS = 256
_HELPER_SECONDS = 20


def listen_inside(pid: int, port: int) -> socket.socket:
    """Return a socket that listens on 127.0.0.1 in the network namespace of a process.

    Raises SandboxFailed.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = theirs.fileno()
        words = [sys.executable, "-I", "-S", listener.__file__, str(pid), str(line), str(port)]
        ended = subprocess.run(
            words,
            pass_fds=(line,),
            env={},
            capture_output=True,
            text=True,
            timeout=_HELPER_SECONDS,
            check=False,
        )
        if ended.returncode != 0:
            said = ended.stderr.strip().splitlines()[-1:] or [say("sandbox.connections.no_reason")]
            raise SandboxFailed(
                say("sandbox.connections.port_not_available", port=port, said=said[0])
            )
        _, descriptors, _, _ = socket.recv_fds(ours, 16, 1)
    return socket.socket(fileno=descriptors[0])


class ConnectionServer(ABC):
    """Accepts connections on a listening socket and answers each in a thread."""

    def __init__(self, listening: socket.socket) -> None:
        self.server = listening
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False

    def accept(self) -> None:
        """Start a thread for each connection."""
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            if not self.keep(client):
                client.close()
                continue
            threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def close(self) -> None:
        """End the listening socket and every connection."""
        with self._lock:
            self._closed = True
            for each in (self.server, *self._open):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def keep(self, connection: socket.socket) -> bool:
        """Note an open connection; False when there are too many or the server is closed."""
        with self._lock:
            if self._closed or len(self._open) >= 2 * _MOST_CONNECTIONS:
                return False
            self._open.add(connection)
            return True

    def drop(self, connection: socket.socket) -> None:
        """Close a connection."""
        with self._lock:
            self._open.discard(connection)
        connection.close()

    @contextmanager
    def serving(self) -> Generator[None]:
        """Answer until the block ends; then close every connection."""
        thread = threading.Thread(target=self.accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.close()
            thread.join()

    @abstractmethod
    def answer(self, client: socket.socket) -> None:
        """Serve one connection and drop it."""


def relay(client: socket.socket, server: socket.socket) -> None:
    """Pass on the bytes of both sides until both have ended."""
    others = {client: server, server: client}
    with selectors.DefaultSelector() as waiting:
        for each in others:
            waiting.register(each, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(IDLE_SECONDS)
            if not ready:
                return
            for key, _ in ready:
                source = client if key.fileobj is client else server
                piece = source.recv(PIECE)
                if piece:
                    others[source].sendall(piece)
                    continue
                waiting.unregister(source)
                with suppress(OSError):
                    others[source].shutdown(socket.SHUT_WR)


class ServicePort(ConnectionServer):
    """A port of the sandbox that leads to the same port of this machine's loopback."""

    def __init__(self, listening: socket.socket, port: int) -> None:
        super().__init__(listening)
        self.port = port

    def answer(self, client: socket.socket) -> None:
        """Pass on the bytes of a connection; close it where nothing listens on this machine."""
        try:
            with suppress(OSError):
                server = socket.create_connection(("127.0.0.1", self.port), _CONNECT_SECONDS)
                if not self.keep(server):
                    server.close()
                    return
                try:
                    client.settimeout(IDLE_SECONDS)
                    server.settimeout(IDLE_SECONDS)
                    relay(client, server)
                finally:
                    self.drop(server)
        finally:
            self.drop(client)
