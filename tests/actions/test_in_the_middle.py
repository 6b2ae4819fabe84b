"""The shipped action when a machine is lost in the middle of its job."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.actions.runner import Runner, missing
from tests.actions.test_action import green
from tests.fakes.agents import AgentServer, role_of

pytestmark = [pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.slow]


@pytest.fixture
def provider() -> Iterator[AgentServer]:
    """A provider of models that counts who is asked."""
    with AgentServer() as running:
        yield running


def one_run(runner: Runner) -> None:
    """The run is over, with everything in it once."""
    state = runner.state
    assert state["currentPhaseStatus"] == "completed"
    assert [decision["answer"] for decision in state["decisions"]] == ["approve"]
    assert len(runner.said("tracking")) == len(runner.said("checkpoint")) == 1
    assert len([issue for issue in runner.repo.issues.values() if issue.pull]) == 1
    assert "return None" in runner.files()["rota/schedule.py"]
    lines = runner.document("reports.jsonl").splitlines()
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    "lost", ["forge_bot work", "forge_bot.bot.worker"], ids=["machine", "worker"]
)
def test_a_job_that_is_lost_while_the_model_is_asked_goes_on_when_it_is_run_again(
    runner: Runner, provider: AgentServer, lost: str
) -> None:
    runner.environ["FORGE_BOT_MODEL"] = "openai-chat:fake"
    runner.variables = {"OPENAI_BASE_URL": f"{provider.url}/v1"}
    green(runner.label())

    number = provider.will_hang = len(provider.questions) + 2
    comment = runner.comment("/approve")
    job = runner.heard_of(comment)
    assert provider.wait_for(number, seconds=120), job.process.poll()
    asked, agent = Counter(provider.asked), role_of(provider.questions[-1])[0]
    job.lose(lost)
    assert job.ended().code == 1
    assert runner.state["currentPhaseStatus"] == "in_progress"

    green(runner.heard_of(comment, again=job).ended())
    one_run(runner)
    assert [each for each in asked if provider.asked[each] > asked[each]] == [agent]
