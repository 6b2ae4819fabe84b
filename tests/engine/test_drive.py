"""The loop of every host: who is asked for what, when it ends, and what is recorded on the way."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest

from forge_bot.engine import (
    Action,
    Checkpoint,
    Done,
    Exec,
    PersonAction,
    SpawnAgent,
    State,
    WorkAction,
    drive,
)
from forge_bot.engine.reports import GateShown, Report
from forge_bot.errors import WrongReport
from tests.fakes.bench import Bench


@dataclass
class Scripted:
    """A host that does well what the engine asks for, except what it is told to leave."""

    bench: Bench
    leaves: str = ""
    answers: bool = True
    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    recorded: list[Report] = field(default_factory=list[Report])

    async def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        self.turns.append(("perform", action.phase))
        if action.phase != self.leaves:
            yield self._done(state)

    async def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        name = action.name if isinstance(action, Checkpoint) else action.phase
        self.turns.append(("ask", name))
        reports = self._said(state)
        yield reports[0]
        if self.answers:
            yield reports[-1]

    async def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        self.turns.append(("publish", action.operation))
        if action.operation != self.leaves:
            yield self._done(state)

    async def record(self, report: Report, state: State) -> None:
        assert report.key in state.seen
        self.recorded.append(report)

    def _done(self, state: State) -> Report:
        return self._said(state)[-1]

    def _said(self, state: State) -> list[Report]:
        self.bench.state, before = state, len(self.bench.reports)
        self.bench.step()
        return self.bench.reports[before:]


async def driven(host: Scripted) -> Action:
    _, action = await drive(host.bench.pipeline, host.bench.state, host)
    return action


async def test_a_run_is_driven_to_its_end_and_every_report_is_recorded() -> None:
    host = Scripted(Bench())
    assert isinstance(await driven(host), Done)
    published = [name for turn, name in host.turns if turn == "publish"]
    assert published == ["pull-request", "final-commit"]
    assert {turn for turn, _ in host.turns} == {"perform", "ask", "publish"}
    assert host.recorded == host.bench.reports[1:]


async def test_the_first_action_that_a_host_leaves_ends_the_loop() -> None:
    host = Scripted(Bench(), leaves="phase-3")
    action = await driven(host)
    assert isinstance(action, SpawnAgent)
    assert action.phase == "phase-3" == host.turns[-1][1]


async def test_a_question_that_was_shown_and_not_answered_is_asked_once() -> None:
    host = Scripted(Bench(), answers=False)
    assert isinstance(await driven(host), Checkpoint)
    assert [turn for turn, _ in host.turns].count("ask") == 1
    assert isinstance(host.recorded[-1], GateShown)


async def test_a_report_that_was_recorded_before_is_refused() -> None:
    class Repeats(Scripted):
        async def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
            yield self.bench.reports[0]

    with pytest.raises(WrongReport, match="recorded before"):
        await driven(Repeats(Bench()))
