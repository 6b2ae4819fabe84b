"""What a person says at a terminal while a worker is in the middle of a step."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_bot.engine import REPORT
from forge_bot.engine.reports import Abandoned, Answered, BudgetRaised
from tests.fakes.agents import AgentServer
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, Server, clone
from tests.temporal.test_killed_workers import asks, ended


@pytest.fixture
def models() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: Server, models: AgentServer) -> Iterator[Clone]:
    """A clone with a worker whose model does not answer its second question until it is let go."""
    models.will_hang = 2
    with clone(tmp_path / "clone", server) as it:
        it.environ |= asks(models)
        it.start_worker()
        yield it


def said(place: Clone) -> list[object]:
    reports = (REPORT.validate_json(line) for line in place.reports())
    return [each for each in reports if isinstance(each, Answered | Abandoned | BudgetRaised)]


def test_an_end_that_is_wanted_during_a_step_is_taken_after_it(
    place: Clone, models: AgentServer
) -> None:
    begun = place.start(*place.beginning(TASK))
    assert models.wait_for(2, seconds=90)
    wanted = place.start("abandon")
    assert wanted.stdout is not None
    assert "What you say is taken after its step." in wanted.stdout.readline()
    models.release()
    code, out = ended(wanted)
    assert code == 6, out
    assert ended(begun)[0] == 6
    assert [type(each) for each in said(place)] == [Abandoned]
    assert models.asked["architect"] >= 1


def test_more_money_counts_during_a_step_and_a_yes_to_no_question_is_refused(
    place: Clone, models: AgentServer
) -> None:
    begun = place.start(*place.beginning(TASK))
    assert models.wait_for(2, seconds=90)
    refused = place.forge("approve")
    assert refused.code == 5, refused.out + refused.err
    assert "RUN-001" not in refused.err
    more = place.start("continue", "+$5")
    assert more.stdout is not None
    assert "What you say is taken after its step." in more.stdout.readline()
    models.release()
    code, out = ended(more)
    assert code == 3, out
    code, out = ended(begun)
    assert code == 3, out
    assert [type(each) for each in said(place)] == [BudgetRaised]
