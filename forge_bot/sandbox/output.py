"""Keep the beginning and the end of a stream within a fixed size."""


class BoundedOutput:
    """Receives a stream in pieces and keeps its head and its tail.

    It never holds more than `limit` bytes and the current piece.
    """

    def __init__(self, limit: int) -> None:
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    @property
    def truncated(self) -> bool:
        """Return whether bytes between head and tail were dropped."""
        return self._left_out > 0

    def add(self, piece: bytes) -> None:
        """Add the next piece of the stream."""
        room = self._head_room - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        surplus = max(0, len(self._tail) - self._tail_room)
        del self._tail[:surplus]
        self._left_out += surplus

    def text(self) -> str:
        """Return head and tail as text.

        Bytes that are no UTF-8 become U+FFFD. A cut is reported on its own line.
        """
        if not self.truncated:
            return bytes(self._head + self._tail).decode(errors="replace")
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        return f"{head}\n[… {self._left_out} bytes left out …]\n{tail}"
