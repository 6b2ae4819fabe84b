"""The place of an error in a run."""

from collections.abc import Sequence


class AtNode(Exception):
    """A place in a run: the phase or artifact that is outstanding, and what it reads. The error is
    the cause of this one.
    """

    def __init__(self, node: str, reads: Sequence[str] = ()) -> None:
        super().__init__(node)
        self.node = node
        self.reads = tuple(reads)
