"""The state of a run when the processes of this clone released it: the commit of its branch, and
the length of its record.

A client's agents work in the same tree, beside the run's branch and record. When the run is taken
up again, its present state is compared with the noted one, because nobody else may commit on the
branch or add to the record while an agent works.
"""

from pathlib import Path

from forge_bot.runs.run_paths import read_kept
from forge_bot.store import Content, write_whole
from forge_bot.values import Frozen


class KnownState(Frozen):
    """The last known state. While a process works, or after it was killed, there may be more."""

    head: str
    size: int
    digest: str
    at_work: bool = False


class LastKnownHead:
    """The note of one run, in git's folder, where all processes of the clone find it. Only the
    process that holds the run writes it.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._begun = False
        self.left = read_kept(place, KnownState)

    @property
    def at_rest(self) -> KnownState | None:
        """Return the state left by a process that ended; None if nothing is known, or if one may
        have left more.
        """
        return self.left if self.left is not None and not self.left.at_work else None

    @property
    def begun(self) -> bool:
        """Return whether something was recorded or committed since the run was taken up."""
        return self._begun

    def begin(self) -> None:
        """Note on disk, before the first addition, that this process may add to the run."""
        if not self._begun:
            known = self.left or KnownState(head="", size=0, digest="")
            self._write(known.replace(at_work=True))
            self._begun = True

    def leave(self, head: str, record: Content) -> None:
        """Note where the branch stands, and the content of the record as far as this process has
        read and written it.
        """
        now = KnownState(head=head, size=record.size, digest=record.digest)
        if now != self.left:
            self._write(now)
        self._begun = False

    def _write(self, left: KnownState) -> None:
        write_whole(self._place, left.model_dump_json())
        self.left = left


def own_record(left: KnownState, there: bytes, committed: bytes) -> bytes:
    """Return the part of the record on disk that our processes wrote: the noted one or the
    committed one, whichever is longer.
    """
    known = there[: left.size]
    own = [known] if Content.of(known) == (left.size, left.digest) else []
    return max((*own, committed), key=len)
