"""A server on loopback that misbehaves on the wire: each connection gets its request read, then one
act, then it is closed.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Act = Callable[["BrokenServer", socket.socket], None]

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"

_TLS_HANDSHAKE = b"\x16"


def replies(
    status: int, body: bytes = b'{"error": {"message": "no", "type": "x"}}', *headers: str
) -> Act:
    """A whole reply."""
    lines = "".join(
        f"{line}\r\n" for line in (*headers, f"content-length: {len(body)}", "connection: close")
    )
    raw = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{lines}\r\n".encode() + body
    return lambda _, connection: connection.sendall(raw)


def hangs(server: "BrokenServer", connection: socket.socket) -> None:
    """Nothing at all, until the server is closed."""
    server.ended.wait(30)


def trickles(server: "BrokenServer", connection: socket.socket) -> None:
    """A byte now and then, and no end."""
    connection.sendall(_HEAD + b"content-length: 1000000\r\n\r\n")
    while not server.ended.wait(0.05):
        connection.sendall(b" ")


def leaves(server: "BrokenServer", connection: socket.socket) -> None:
    """Closes without a word."""


def resets(server: "BrokenServer", connection: socket.socket) -> None:
    """Breaks off in the middle of the body, rudely."""
    connection.sendall(_HEAD + b'content-length: 1000\r\n\r\n{"id":')
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cuts(server: "BrokenServer", connection: socket.socket) -> None:
    """Ends before the length that it announced."""
    connection.sendall(_HEAD + b'content-length: 1000\r\n\r\n{"id":')


def cuts_a_chunk(server: "BrokenServer", connection: socket.socket) -> None:
    """Ends in the middle of a chunk."""
    connection.sendall(_HEAD + b'transfer-encoding: chunked\r\n\r\nff\r\n{"id"')


@dataclass
class BrokenServer:
    """Performs `acts` in order, the last one for ever after; `count` says how many requests
    came.
    """

    acts: list[Act] = field(default_factory=list[Act])
    count: int = 0

    def __enter__(self) -> Self:
        self.ended = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        # A closed socket does not wake the thread that waits at it; a last visitor does.
        with contextlib.suppress(OSError), socket.create_connection(self._socket.getsockname()):
            pass
        for thread in self._threads:
            thread.join()
        self._socket.close()

    @property
    def url(self) -> str:
        """Base URL for OpenAI's clients."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            if self.ended.is_set():
                connection.close()
                return
            act = self.acts[min(self.count, len(self.acts) - 1)]
            self.count += 1
            self._threads.append(
                threading.Thread(target=self._act, args=(connection, act), daemon=True)
            )
            self._threads[-1].start()

    def _act(self, connection: socket.socket, act: Act) -> None:
        with contextlib.suppress(OSError), connection:
            _read_request(connection)
            act(self, connection)


def _read_request(connection: socket.socket) -> None:
    data = b""
    connection.settimeout(10)
    while b"\r\n\r\n" not in data and (more := connection.recv(65536)):
        data += more
        if data.startswith(_TLS_HANDSHAKE):
            return
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = (
        line.partition(b":")[2]
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    missing = int(next(lengths, b"0")) - len(body)
    while missing > 0 and (more := connection.recv(65536)):
        missing -= len(more)
