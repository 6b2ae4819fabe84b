"""The place of an error in a run."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue


class AtNode(Exception):
    """The place of an error in a run: the outstanding phase or artifact, and its inputs. The
    question to a person is included if they have to decide.

    The error is the cause of this one.
    """

    def __init__(
        self, node: str, reads: Sequence[str] = (), ui: Mapping[str, JsonValue] | None = None
    ) -> None:
        super().__init__(node)
        self.ui = dict(ui or {})
        self.node = node
        self.reads = tuple(reads)
