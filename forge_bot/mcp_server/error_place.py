"""The place of an error in a run."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue


class AtNode(Exception):
    """A place in a run: the phase or artifact that is outstanding, and what it reads; with the
    question to a person, where it is theirs. The error is the cause of this one.
    """

    def __init__(
        self, node: str, reads: Sequence[str] = (), ui: Mapping[str, JsonValue] | None = None
    ) -> None:
        super().__init__(node)
        self.ui = dict(ui or {})
        self.node = node
        self.reads = tuple(reads)
