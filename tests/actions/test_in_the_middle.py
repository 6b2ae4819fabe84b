"""The shipped action when something comes between: a machine is lost, events come twice, at once or
never, the design changes.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.actions.runner import Runner, missing
from tests.actions.test_action import green
from tests.fakes.agents import AgentServer, role_of

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.slow,
]


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


def test_events_at_once_twice_or_never_make_one_run(runner: Runner) -> None:
    green(runner.label())
    runner.say("/forge status", lost=True)
    comments = [
        (runner.comment("/approve"), "maint"),
        (runner.comment("/approve", by="boss"), "boss"),
    ]
    jobs = [runner.heard_of(comment, by) for comment, by in (*comments, comments[0])]
    for job in jobs:
        green(job.ended())
    one_run(runner)
    assert runner.said("reply occasion=status")


def test_an_approval_of_a_design_that_has_changed_since_is_asked_again(runner: Runner) -> None:
    green(runner.label())
    seen = runner.state["gate"]["digest"]
    path = next(name for name in runner.files() if name.endswith("/design.md"))
    changed = f"{runner.files()[path]}\nAnd one more thing.\n"
    runner.repo.bare.commit(
        runner.branch, {path: changed}, "By hand", "ann <a@b.c>", runner.hub.clock.tick()
    )

    green(runner.say(f"/approve {seen[:7]}"))
    assert runner.state["currentPhaseStatus"] == "awaiting_human"
    assert len(runner.said("reply occasion=stale-approval")) == 1, runner.said("reply")
    asked = runner.said("checkpoint")
    assert len(asked) == 2
    assert "And one more thing." in asked[-1]

    green(runner.say(f"/approve {runner.state['gate']['digest'][:7]}"))
    assert runner.state["currentPhaseStatus"] == "completed"
    assert "And one more thing." in runner.files()[path]


def test_a_closed_issue_stops_the_run_and_a_job_by_hand_leads_on_after_it_was_reopened(
    runner: Runner,
) -> None:
    green(runner.label())
    green(runner.close())
    assert len(runner.said("reply occasion=issue-closed")) == 1
    assert runner.state["currentPhaseStatus"] == "awaiting_human"
    green(runner.reopen())
    runner.say("/approve", lost=True)
    inputs = {"issue": str(runner.issue.number)}
    payload = runner.hub.payload(
        "workflow_dispatch", runner.repo, "maint", workflow=runner.called, inputs=inputs
    )
    green(runner.job("workflow_dispatch", payload, "maint"))
    one_run(runner)
