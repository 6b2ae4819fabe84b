"""The flags of a command that starts a run."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from forge_bot.gate.similar_words import nearest

_DASHES = str.maketrans({"—": "--", "–": "--"})
_AMOUNT = re.compile(r"\+?\$?(\d{1,4}(?:\.\d{1,2})?)")


@dataclass(frozen=True, slots=True)
class StartFlags:
    """What was asked for beside the text."""

    effort: str | None = None
    auto: bool = False
    nopr: bool = False
    debug: bool = False
    discuss: bool = False
    budget: Decimal | None = None


SWITCHES = {
    "auto": "pass a checkpoint if the reviewer approved and nothing is risky",
    "nopr": "prepare no pull request",
    "debug": "add a debug report to the summary",
    "discuss": "ask three questions about the request first",
}
VALUES = {"effort": "S, M or L", "budget": "US dollars the run may cost"}
_KNOWN = (*SWITCHES, *VALUES)


def read_flags(words: str, prefix: str) -> tuple[StartFlags, str, str]:
    """Flags, the text behind them, and what is wrong: one sentence, empty if nothing is. `--` ends the flags."""
    flags, rest = StartFlags(), words
    while rest.startswith(("--", "—", "–")):
        word, _, rest = _split(rest)
        if word == "--":
            return flags, rest, ""
        flags, rest, problem = _flag(flags, word, rest)
        if problem:
            return flags, "", problem
    late = _known(rest.rpartition(" ")[2])
    if late is not None:
        return flags, "", f"flags come before the text: `{prefix} --{late} …`."
    return flags, rest, ""


def _split(text: str) -> tuple[str, str, str]:
    word, *rest = text.split(None, 1)
    return word, " ", rest[0] if rest else ""


def _known(word: str) -> str | None:
    name = word.translate(_DASHES).removeprefix("--").partition("=")[0].casefold()
    return name if word.startswith(("--", "—", "–")) and name in _KNOWN else None


def _flag(flags: StartFlags, word: str, rest: str) -> tuple[StartFlags, str, str]:
    name, given, value = word.removeprefix("--").partition("=")
    name = name.casefold()
    if not word.startswith("--") or name not in _KNOWN:
        meant = _known(word) or nearest(name, _KNOWN)
        hint = f"did you mean `--{meant}`?" if meant else f"the flags are {', '.join(f'`--{known}`' for known in _KNOWN)}."
        return flags, rest, hint
    if name in VALUES:
        if not given:
            value, _, rest = _split(rest) if rest else ("", "", "")
        return _valued(flags, name, value, rest)
    if given:
        return flags, rest, f"`--{name}` takes no value."
    match name:
        case "auto":
            return replace(flags, auto=True), rest, ""
        case "nopr":
            return replace(flags, nopr=True), rest, ""
        case "debug":
            return replace(flags, debug=True), rest, ""
        case _:
            return replace(flags, discuss=True), rest, ""


def _valued(flags: StartFlags, name: str, value: str, rest: str) -> tuple[StartFlags, str, str]:
    if name == "effort":
        size = value.casefold()
        return (replace(flags, effort=size), rest, "") if size in {"s", "m", "l"} else (flags, rest, "`--effort` takes one of S, M and L.")
    amount = _AMOUNT.fullmatch(value)
    if amount is None or not Decimal(amount[1]):
        return flags, rest, "`--budget` takes an amount in US dollars, for example `--budget 5`."
    return replace(flags, budget=Decimal(amount[1])), rest, ""
