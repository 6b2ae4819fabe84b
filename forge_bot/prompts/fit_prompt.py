"""Shorten the inputs of a prompt that is too long: the middles of differences, outputs and files,
then those of documents.
"""

from typing import Literal

from forge_bot.prompts.untrusted import fence
from forge_bot.values import Frozen

Kind = Literal["artifact", "diff", "file", "output"]

_CUT: tuple[tuple[Kind, ...], ...] = (("diff", "output", "file"), ("artifact",))
"""The kinds of inputs that are cut, those to begin with first."""

_HEAD: dict[Kind, float] = {"artifact": 0.7, "file": 0.6, "diff": 0.6, "output": 0.25}
"""The share of the kept text that comes from the beginning. Commands report errors at their end."""

_MARKER = 200
"""The characters reserved for the line that reports omitted text."""


_NEARBY = 300
"""The distance by which a cut moves to fall between two lines."""


class ShownInput(Frozen):
    """An input as the model sees it: whole, or without its middle once `keep` is set."""

    name: str
    kind: Kind
    whole: str
    keep: int | None = None
    shared: bool = True

    @property
    def text(self) -> str:
        """The fenced text, with a line in place of omitted text."""
        if self.keep is None:
            return fence(self.whole, self.name)
        head, gone, tail = _parts(self.whole, self.keep, _HEAD[self.kind])
        gap = (
            f"[… {len(gone):,} characters ({gone.count(chr(10)):,} lines) of {self.name} are left"
            " out here …]"
        )
        return fence(
            "\n".join([*([head.removesuffix("\n")] if head else []), gap, tail]), self.name
        )

    @property
    def missing(self) -> int:
        """The number of characters of the input that are not shown."""
        return 0 if self.keep is None else len(_parts(self.whole, self.keep, _HEAD[self.kind])[1])


def fit(shown: tuple[ShownInput, ...], room: int) -> tuple[ShownInput, ...]:
    """Return as much of the inputs as fits into `room` characters; their shortest version if even
    that does not fit. All else of a prompt is never cut.
    """
    for kinds in _CUT:
        excess = sum(len(entry.text) for entry in shown) - room
        if excess > 0:
            level = _level([len(entry.whole) for entry in shown if entry.kind in kinds], excess)
            keep = max(0, level - _MARKER)
            shown = tuple(
                entry.replace(keep=keep)
                if entry.kind in kinds and len(entry.whole) > level
                else entry
                for entry in shown
            )
    return shown


def _level(sizes: list[int], excess: int) -> int:
    """Return the one length to which the largest must shrink for the sum to shrink by `excess`; 0
    if that is not enough.
    """
    ordered = sorted(sizes, reverse=True)
    for count in range(1, len(ordered) + 1):
        level = (sum(ordered[:count]) - excess) // count
        if count == len(ordered) or level >= ordered[count]:
            return max(0, level)
    return 0


def _parts(whole: str, keep: int, head_share: float) -> tuple[str, str, str]:
    """Return the beginning, the omitted part and the end.

    The cuts fall between lines where a line ends nearby.
    """
    first = int(keep * head_share)
    last = len(whole) - (keep - first)
    first = whole.rfind("\n", max(0, first - _NEARBY), first) + 1 or first
    last = whole.find("\n", last, last + _NEARBY) + 1 or last
    return whole[:first], whole[first:last], whole[last:]
