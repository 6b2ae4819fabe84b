"""No model is asked while its provider's limit, a cap of the team or the switch forbids it."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.agent.models.base import ModelCall
from forge_bot.engine.reports import PauseReason
from forge_bot.errors import ModelUnavailable
from forge_bot.git import Repository
from forge_bot.remedies import ModelTrouble
from forge_bot.runs.find_runs import run_standing, runs
from forge_bot.runs.model_access import (
    SWITCH,
    Payment,
    cap_windows,
    is_switched_off,
    paid_since,
    payments,
    spending_now,
)
from forge_bot.runs.open_run import look_at_run
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import Outcome, now
from forge_bot.settings.config import CapSettings, Config
from tests.runs.wave_scene import Answer, Planned, Stage, Talker, done, task_of, wrote

FOUR = tuple(Planned(number, (f"{number}.txt",)) for number in "1234")
LIMIT = ModelTrouble("rate-limited", 7_200, "fake:talker")


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)


@pytest.fixture
def here(tmp_path: Path) -> Stage:
    made = Stage.made(tmp_path / "repo", {"README.md": "# A poem\n"})
    made.start()
    return made


async def works(call: ModelCall) -> Answer:
    return done(wrote(f"{task_of(call)}.txt", "x"))


def recorded(stage: Stage) -> Run:
    """The run as its branch has it."""
    repository = Repository.find(stage.path)
    return look_at_run(repository, runs(repository)[-1], Config())


@pytest.mark.slow
def test_after_the_first_word_of_a_limit_no_task_of_the_wave_and_no_other_run_asks(
    here: Stage,
) -> None:
    limited = asyncio.Event()

    async def implement(call: ModelCall) -> Answer:
        if task_of(call) == "1":
            limited.set()
            raise ModelUnavailable("Enough.", trouble=LIMIT)
        await limited.wait()
        return {"no answer": "so that the model would be asked once more"}

    first = runs(Repository.find(here.path))[0].name
    talker = Talker(FOUR, implement)
    with pytest.raises(ModelUnavailable, match="Enough"):
        here.go_on(talker)
    assert max(len(talker.asked(task)) for task in "1234") == 1
    pause = recorded(here).state.pause
    assert pause is not None
    assert (pause.why, pause.model) == (PauseReason.LIMIT, "fake:talker")
    assert pause.until is not None
    assert timedelta(hours=1) < pause.until - now() <= timedelta(hours=2)

    other = here.start().name
    asked = len(talker.calls)
    with pytest.raises(ModelUnavailable, match="was told"):
        here.go_on(talker, run=other)
    assert len(talker.calls) == asked, "nobody asked for the other run"
    # Who goes on with the run that was told tries, and what it finds out holds for the other.
    assert here.go_on(Talker(FOUR, works), run=first)[0] is Outcome.DONE
    assert here.go_on(Talker(FOUR, works), run=other)[0] is Outcome.DONE


def test_a_cap_stops_a_run_with_its_amounts_and_a_higher_one_lets_it_go_on(here: Stage) -> None:
    dear = Talker(FOUR, works, cost=Decimal("0.60"))
    capped = Config(caps=CapSettings(day=Decimal(1)))
    with pytest.raises(ModelUnavailable, match=r"caps\.day is reached: \$\d\.\d\d of \$1\.00"):
        here.go_on(dear, config=capped)
    run = recorded(here)
    assert run.state.pause is not None
    assert run.state.pause.why is PauseReason.CAP
    asked = len(dear.calls)
    with pytest.raises(ModelUnavailable):
        here.go_on(dear, config=capped)
    assert len(dear.calls) == asked
    higher = Config(caps=CapSettings(day=Decimal(9)))
    outcome, run = here.go_on(dear, config=higher)
    assert (outcome, run.state.pause) == (Outcome.DONE, None)
    spent = spending_now(Repository.find(here.path), higher.caps, "", now())[0].spent
    assert spent == run.state.usage.cost


@pytest.mark.parametrize(
    ("value", "off"),
    [("", False), ("  \t ", False), ("False", False), ("0", False), ("yes", True), ("night", True)],
)
def test_any_word_but_no_is_the_switch(value: str, off: bool) -> None:
    assert is_switched_off({SWITCH: value}) is off


def test_the_switch_stops_a_run_and_without_it_the_run_goes_on(
    here: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SWITCH, "over Christmas")
    talker = Talker(FOUR, works)
    with pytest.raises(ModelUnavailable, match=SWITCH):
        here.go_on(talker)
    assert talker.calls == []
    pause = recorded(here).state.pause
    assert pause is not None
    assert (pause.why, pause.until) == (PauseReason.SWITCH, None)
    repository = Repository.find(here.path)
    assert "of a switch" in run_standing(repository, runs(repository)[0]).in_words
    monkeypatch.setenv(SWITCH, " ")
    assert here.go_on(talker)[0] is Outcome.DONE


AT = datetime(2026, 11, 1, 0, 30, tzinfo=UTC)
PAID = (
    Payment(AT - timedelta(hours=1), "ann", Decimal(100), ""),
    Payment(AT, "Ann", Decimal(2), ""),
    Payment(AT + timedelta(days=3), "bob", Decimal(3), ""),
)


@pytest.mark.parametrize(
    ("at", "by", "spent"),
    [
        (AT, "ann", (5, 5, 2)),
        (AT + timedelta(days=3), "bob", (3, 5, 3)),
        (AT + timedelta(days=3), "", (3, 5, 0)),
        # By the clock of Auckland it is November; the windows are those of UTC.
        (AT - timedelta(hours=1), "ann", (105, 105, 102)),
        (AT + timedelta(days=40), "ann", (0, 0, 0)),
    ],
)
def test_windows_are_those_of_utc_and_people_are_known_by_name(
    at: datetime, by: str, spent: tuple[int, ...]
) -> None:
    caps = CapSettings(day=Decimal(9), month=Decimal(9), person=Decimal(9))
    windows = cap_windows(caps, PAID, by, at)
    assert tuple(window.spent for window in windows) == spent
    assert all(at < window.ends for window in windows)


def test_lines_that_cannot_be_read_cost_nothing_and_calls_that_may_be_billed_count() -> None:
    lines = (
        b'{"type":"run_started","at":"2026-11-01T00:00:00Z","by":"ann"}',
        b'{"at":"2026-11-01T00:00:01Z","usage":{"cost":"0.5","mayBeBilled":"0.25","model":"m"}}',
        b'{"at":"2026-11-01T00:00:02Z","usage":{"cost":null,"calls":1}}',
        b"{broken",
    )
    paid = payments(b"\n".join(lines))
    assert [(one.by, one.dollars) for one in paid] == [("ann", Decimal("0.75")), ("ann", 0)]


def test_of_a_thousand_runs_that_ended_before_none_is_read(here: Stage) -> None:
    made = "committer a <a@b.c> 1700000000 +0000\ndata 0\n"
    # That time is a lie which shows whether they are read.
    paid = '{"at":"2999-01-01T00:00:00Z","usage":{"cost":"5"}}\n'
    data = f"data {len(paid)}\n{paid}\n"
    stream = "".join(
        f"commit refs/forge-bot/runs/old-{number}\n{made}M 100644 inline .specs/old-{number}/reports.jsonl\n{data}"
        for number in range(1000)
    )
    here.git("fast-import", "--quiet", given=stream)
    repository = Repository.find(here.path)
    assert len(repository.refs("refs/forge-bot/runs/")) == 1000
    assert paid_since(repository, now()) == ()
    assert len(paid_since(repository, datetime(2020, 1, 1, tzinfo=UTC))) == 1000
