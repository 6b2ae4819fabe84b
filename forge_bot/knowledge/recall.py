"""What earlier runs teach about one task, as plain data."""

from forge_bot.knowledge.patterns import Pattern
from forge_bot.values import Frozen


class Similar(Frozen):
    """An earlier run whose request was like this one. The score ranks within one answer; it is no percentage."""

    name: str
    title: str
    summary: str
    score: float


class Recall(Frozen):
    """Everything for one task, each part with what matters most first; a part without data is empty."""

    similar: tuple[Similar, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    friction: tuple[str, ...] = ()
