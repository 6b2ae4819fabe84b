"""The knowledge of past runs about one task, as plain data."""

from forge_bot.knowledge.patterns import Pattern
from forge_bot.values import Frozen


class Similar(Frozen):
    """A past run with a similar request. The score ranks within one result; it is no percentage."""

    name: str
    title: str
    summary: str
    score: float


class Recall(Frozen):
    """Everything for one task, each part in order of importance; a part without data is empty."""

    similar: tuple[Similar, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    friction: tuple[str, ...] = ()
