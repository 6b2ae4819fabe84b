"""The same words mean the same in a thread, at the terminal and over MCP: the table of what a
person can say.
"""

import json
from decimal import Decimal

import pytest

from forge_bot.errors import AnswerNotOffered
from forge_bot.gate.arguments import Amount
from forge_bot.gate.grammar import (
    Abandon,
    AnswerQuestion,
    Approve,
    Continue,
    MarkDone,
    Mistyped,
    PostSummary,
    Reject,
    Skip,
    Start,
)
from forge_bot.gate.parse_comment import parse_comment, read_answer
from forge_bot.mcp_server.client_runs.person_answers import read_spoken
from tests.fakes.rows import rows
from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, hosting

ROWS = rows(__file__)

NO = ("no answer", "")
ANSWERS = [
    ("approve", ("approve", "")),
    ("Approve", ("approve", "")),
    ("approve a4d7797", ("approve", "a4d7797")),
    ("approve A4D7797", ("approve", "a4d7797")),
    ("approve a4d779", NO),
    ("approve but rename it", NO),
    ("approved", NO),
    ("approve.", NO),
    ("yes", NO),
    ("lgtm", NO),
    ("reject the names are wrong", ("reject", "the names are wrong")),
    ("reject: the names", ("reject", "the names")),
    ("rejected the names", NO),
    ("answer iCalendar", ("answer", "iCalendar")),
    ("done", ("done", "")),
    ("done thanks", NO),
    ("skip", ("skip", "")),
    ("abandon", ("abandon", "")),
    ("abandon too dear", NO),
    ("continue 20000", NO),
    ("continue 5 usd", NO),
]
MONEY = [
    ("5", Decimal(5)),
    ("+$5", Decimal(5)),
    ("$5.50", Decimal("5.50")),
    ("5 usd", Decimal(5)),
    ("+5 USD", Decimal(5)),
    ("9999.99", Decimal("9999.99")),
    ("20000", None),
    ("0", None),
    ("1e9", None),
    ("nan", None),
    ("lots", None),
    ("20000 tokens", 20_000),
    ("+20,000 tokens", 20_000),
    ("20k tokens", 20_000),
    ("1.5m tokens", 1_500_000),
    ("1 token", None),
    ("20.000 tokens", None),
]
FLAGS = ROWS["flags"]


OPTIONS = [
    (("--budget", "5", "fix it"), (False, "5", None)),
    (("fix it", "--budget=20k tokens", "--auto"), (True, None, 20_000)),
    (("fix it", "--budget", "20000"), None),
]


def answer_in_thread(words: str) -> tuple[str, str]:
    return _named(parse_comment(f"/{words}").command)


def answer_at_terminal(words: str) -> tuple[str, str]:
    """What the question at the terminal makes of a line."""
    return _named(read_answer(words))


def answer_over_mcp(words: str) -> tuple[str, str]:
    try:
        return _named(read_spoken(words))
    except AnswerNotOffered:
        return NO


def _named(said: object) -> tuple[str, str]:
    match said:
        case Approve(digest=digest):
            return "approve", digest or ""
        case PostSummary(digest=digest):
            return "post", digest or ""
        case Reject(notes=notes):
            return "reject", notes
        case AnswerQuestion(notes=notes):
            return "answer", notes
        case MarkDone() | Skip() | Abandon():
            return {MarkDone: "done", Skip: "skip", Abandon: "abandon"}[type(said)], ""
        case _:
            return NO


def test_an_answer_means_the_same_on_every_face() -> None:
    for words, means in ANSWERS:
        for face in (answer_in_thread, answer_at_terminal, answer_over_mcp):
            assert face(words) == means, f"{face.__name__}: {words}"


def test_an_amount_is_the_same_in_the_thread_and_at_the_terminal(sample: Sample) -> None:
    for words, amount in MONEY:
        in_thread = parse_comment(f"/continue {words}").command
        if amount is None:
            assert isinstance(in_thread, Mistyped), words
        else:
            assert in_thread == Continue(
                Amount(tokens=amount) if isinstance(amount, int) else Amount(dollars=amount)
            )
        at_terminal = sample.forge("continue", *words.split())
        # Without a run only the amount can be told: a good one leads to the next refusal.
        assert ("how many US dollars more" in at_terminal.err) == (amount is None), words


async def test_flags_are_the_same_in_the_thread_and_over_mcp(sample: Sample) -> None:
    async with hosting(sample) as host:
        for words, means in FLAGS:
            mean_the_same(words, await host.call("pipeline_init", arguments=words), means)


def mean_the_same(
    words: str, over_mcp: Json, means: tuple[str, bool, str | int | None] | None
) -> None:
    in_thread = parse_comment(f"/forge {words}").command
    if means is None:
        assert isinstance(in_thread, Mistyped), words
        assert set(over_mcp) == {"errors"}, words
        assert over_mcp["errors"][0] in in_thread.hint, words
        return
    text, auto, budget = means
    dollars, tokens = (None, budget) if isinstance(budget, int) else (budget, None)
    amount = Amount(Decimal(dollars) if dollars else None, tokens)
    assert in_thread == Start(text, auto=auto, budget=amount), words
    flags = over_mcp["flags"]
    assert (over_mcp["core_text"], flags["auto"]) == (text, auto), words
    assert (flags.get("budget"), flags.get("budget_tokens")) == (dollars, tokens), words


@pytest.mark.parametrize(("words", "means"), OPTIONS, ids=[" ".join(words) for words, _ in OPTIONS])
def test_options_at_the_terminal_mean_what_flags_mean(
    sample: Sample, words: tuple[str, ...], means: tuple[bool, str | None, int | None] | None
) -> None:
    begun = ("--effort", "S", "--yes", "--model", sample.model(), "--until", "phase-1")
    said = sample.forge("run", *words, *begun)
    if means is None:
        assert "is no amount of money" in said.err
        return
    state = json.loads(sample.forge("status", "--json").out)
    assert (state["flags"]["auto"], state["firstCap"], state["firstTokenCap"]) == means


@pytest.mark.parametrize(
    ("given", "key", "amount"),
    [("2.50", "cap", Decimal("2.50")), ("20ktokens", "tokenCap", Decimal(20_000))],
)
async def test_a_budget_that_was_given_over_mcp_is_the_runs_budget(
    sample: Sample, given: str, key: str, amount: Decimal
) -> None:
    async with hosting(sample) as host:
        await host.begin(f"--budget {given} `rota who` names somebody too early", "S")
        state = json.loads((host.path / host.workspace / "state.json").read_text(encoding="utf-8"))
    assert Decimal(state["budget"][key]) == amount
