"""What was found before a run: each finding with its weight, a sentence, and the way out."""

from typing import Literal

from forge_bot.errors import NotReady
from forge_bot.values import Frozen

Weight = Literal["refuse", "warn", "note"]


class PreflightFinding(Frozen):
    """One thing a person should know before money is spent. `what` names the subject in a word or two."""

    what: str
    weight: Weight
    sentence: str
    way_out: str = ""


class Preflight(Frozen):
    """Everything that was found; nothing means that nothing stands in the way."""

    findings: tuple[PreflightFinding, ...] = ()

    @property
    def refusals(self) -> tuple[PreflightFinding, ...]:
        """What a run must not begin with."""
        return tuple(finding for finding in self.findings if finding.weight == "refuse")

    @property
    def advice(self) -> tuple[PreflightFinding, ...]:
        """Warnings, then notes."""
        return tuple(sorted((each for each in self.findings if each.weight != "refuse"), key=lambda each: each.weight == "note"))

    def check(self) -> None:
        """Raise NotReady with all refusals, the first as its sentence and hint; return if there is none."""
        if not self.refusals:
            return
        first, *others = self.refusals
        raise NotReady(first.sentence, hint=first.way_out or None, details=tuple(f"{each.sentence} → {each.way_out}" for each in others))


def counted(number: int, thing: str) -> str:
    """A number and its noun: `1 file`, `3 files`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def listed(names: tuple[str, ...], most: int = 3) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
