"""Numbers for people: money, tokens, time, shares; and tables made of cells that are Markdown
already.
"""

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from forge_bot import text_format
from forge_bot.sentences import say
from forge_bot.values import Usage

if TYPE_CHECKING:
    from forge_bot.engine.budget import Budget

_BAR = 10
_MINUTE = 60
_HOUR = 3600
_DAY = 86_400


def money(amount: Decimal | None) -> str:
    """US dollars in Markdown, where a bare `$` begins a formula."""
    return text_format.money(amount).replace("$", r"\$")


def tokens(usage: Usage) -> str:
    """Tokens in and out together."""
    return f"{usage.tokens:,}"


def duration(milliseconds: int) -> str:
    """Return a duration in its two largest units."""
    seconds = round(milliseconds / 1000)
    if seconds >= _HOUR:
        hours, minutes = seconds // _HOUR, seconds % _HOUR // 60
        return say("words.hours_and_minutes", hours=hours, minutes=minutes)
    if seconds >= _MINUTE:
        return say("words.minutes_and_seconds", minutes=seconds // 60, seconds=seconds % 60)
    return say("words.seconds", seconds=milliseconds / 1000)


def spent(usage: Usage, budget: "Budget") -> str:
    """Return the amount spent and the budget; with a cap, a bar of ten fields, the one begun
    counted.
    """
    if budget.token_cap is not None:
        bar = _bar(Decimal(budget.tokens), Decimal(budget.token_cap))
        return f"{bar} {tokens_of_cap(budget)}, {_of(money(usage.cost), budget.cap)}"
    if usage.cost is None:
        return say("words.tokens_at_an_unknown_price", tokens=usage.tokens)
    if budget.cap is None:
        return money(usage.cost)
    return f"{_bar(budget.spent, budget.cap)} {_of(money(usage.cost), budget.cap)}"


def may_be_billed(usage: Usage) -> str:
    """Return a sentence on calls that were sent and never answered; empty if there are none."""
    if not usage.unanswered:
        return ""
    most = text_format.money(usage.may_be_billed)
    return say("words.may_be_billed", count=usage.unanswered, most=most)


def _of(cost: str, cap: Decimal | None) -> str:
    return say("words.cost_of_cap", cost=cost, cap=money(cap)) if cap is not None else cost


def tokens_of_cap(budget: "Budget") -> str:
    """Return the tokens used, and how many a run may use where that is limited."""
    if budget.token_cap is None:
        return say("words.tokens", tokens=budget.tokens)
    return say("words.tokens_of_cap", tokens=budget.tokens, cap=budget.token_cap)


def _bar(used: Decimal, cap: Decimal) -> str:
    filled = min(_BAR, math.ceil(used / cap * _BAR)) if cap else _BAR
    return f"`{'█' * filled}{'░' * (_BAR - filled)}`"


def in_time(seconds: int | None) -> str:
    """Return the time until a limit ends, in words. If it is unknown, it is GitHub's hour."""
    if seconds is None:
        return say("words.within_the_hour")
    minutes = max(1, math.ceil(seconds / _MINUTE))
    if seconds > 2 * _DAY:
        return say("words.in_days", count=math.ceil(seconds / _DAY))
    if seconds > 2 * _HOUR:
        return say("words.in_hours", count=math.ceil(seconds / _HOUR))
    return say("words.in_minutes", count=minutes)


def head(*columns: str, align: str = "") -> str:
    """The first two lines of a table, its columns by the names of their sentences; `align` has one
    letter a column: l, c or r.
    """
    titles = [say(name) if name else "" for name in columns]
    rulers = {"l": "---", "c": ":-:", "r": "--:"}
    marks = [rulers[letter] for letter in align or "l" * len(columns)]
    return f"{row(*titles)}\n| {' | '.join(marks)} |\n"


def row(*cells: str) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"
