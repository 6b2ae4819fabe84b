"""The beginning and the end of a stream, never more of it than was agreed."""


class BoundedOutput:
    """Takes a stream in pieces and keeps its head and its tail: never more than `limit` bytes and the piece at hand."""

    def __init__(self, limit: int) -> None:
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    @property
    def truncated(self) -> bool:
        """Whether something between head and tail is gone."""
        return self._left_out > 0

    def add(self, piece: bytes) -> None:
        """The next piece of the stream, as it came."""
        room = self._head_room - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        surplus = max(0, len(self._tail) - self._tail_room)
        del self._tail[:surplus]
        self._left_out += surplus

    def text(self) -> str:
        """Head and tail as text; bytes that are no UTF-8 become U+FFFD, a cut is said in a line of its own."""
        if not self.truncated:
            return bytes(self._head + self._tail).decode(errors="replace")
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        return f"{head}\n[… {self._left_out} bytes left out …]\n{tail}"
