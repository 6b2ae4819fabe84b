"""A line to a server that loses the server's answers from a certain question on."""

import socket
import threading
import zlib
from contextlib import suppress
from types import TracebackType
from typing import Self

_MOST = 65536
_PACKED = b"\x1f\x8b\x08"
"""The first bytes of a message that the client has compressed."""


class LineThatGoesDeaf:
    """Hands on what is asked. Once the word was asked with, no answer comes back."""

    def __init__(self, address: str, word: bytes) -> None:
        host, _, port = address.rpartition(":")
        self._there = (host, int(port))
        self._word = word
        self._deaf = False
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open = [self._door]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._door.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._let_in, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _let_in(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                far = socket.create_connection(self._there)
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    hand_on = threading.Thread(target=self._hand_on, args=(one, other), daemon=True)
                    hand_on.start()

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        answers = one.getpeername() == self._there
        with suppress(OSError):
            while said := one.recv(_MOST):
                self._deaf = self._deaf or (not answers and self._word in unpacked(said))
                if not (answers and self._deaf):
                    other.sendall(said)


def unpacked(said: bytes) -> bytes:
    """The compressed message in some bytes of a connection, readable; none is nothing."""
    _, mark, rest = said.partition(_PACKED)
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(mark + rest) if mark else b""
