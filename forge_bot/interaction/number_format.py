"""Numbers for people: money, tokens, time, shares; and tables made of cells that are Markdown
already.
"""

import math
from decimal import Decimal

from forge_bot import wording
from forge_bot.engine.budget import Budget
from forge_bot.values import Usage
from forge_bot.wording import several

_BAR = 10
_MINUTE = 60
_HOUR = 3600
_DAY = 86_400


def money(amount: Decimal | None) -> str:
    """US dollars in Markdown, where a bare `$` begins a formula."""
    return wording.money(amount).replace("$", r"\$")


def tokens(usage: Usage) -> str:
    """Tokens in and out together."""
    return f"{usage.tokens:,}"


def duration(milliseconds: int) -> str:
    """Return a duration in its two largest units."""
    seconds = round(milliseconds / 1000)
    if seconds >= _HOUR:
        return f"{seconds // _HOUR} h {seconds % _HOUR // 60} min"
    if seconds >= _MINUTE:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{milliseconds / 1000:.1f} s"


def spent(usage: Usage, budget: Budget) -> str:
    """Return the amount spent and the budget; with a cap, a bar of ten fields, the one begun
    counted.
    """
    if budget.token_cap is not None:
        bar = _bar(Decimal(budget.tokens), Decimal(budget.token_cap))
        cap = f" of {money(budget.cap)}" if budget.cap is not None else ""
        return f"{bar} {tokens_of_cap(budget)}, {money(usage.cost)}{cap}"
    if usage.cost is None:
        return f"{tokens(usage)} tokens, at an unknown price"
    if budget.cap is None:
        return money(usage.cost)
    return f"{_bar(budget.spent, budget.cap)} {money(usage.cost)} of {money(budget.cap)}"


def tokens_of_cap(budget: Budget) -> str:
    """Return the tokens used, and how many a run may use where that is limited."""
    cap = f" of {budget.token_cap:,}" if budget.token_cap is not None else ""
    return f"{budget.tokens:,}{cap} tokens"


def _bar(used: Decimal, cap: Decimal) -> str:
    filled = min(_BAR, math.ceil(used / cap * _BAR)) if cap else _BAR
    return f"`{'█' * filled}{'░' * (_BAR - filled)}`"


def in_time(seconds: int | None) -> str:
    """Return the time until a limit ends, in words. Where nobody tells, it is GitHub's hour."""
    if seconds is None:
        return "within the hour"
    minutes = max(1, math.ceil(seconds / _MINUTE))
    if seconds > 2 * _DAY:
        return f"in {several(math.ceil(seconds / _DAY), 'day')}"
    return (
        f"in {several(minutes, 'minute')}"
        if seconds <= 2 * _HOUR
        else f"in {several(math.ceil(seconds / _HOUR), 'hour')}"
    )


def head(*columns: str, align: str = "") -> str:
    """The first two lines of a table; `align` has one letter a column: l, c or r."""
    rulers = {"l": "---", "c": ":-:", "r": "--:"}
    marks = [rulers[letter] for letter in align or "l" * len(columns)]
    return f"{row(*columns)}\n| {' | '.join(marks)} |\n"


def row(*cells: str) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"
