"""An approval with choices and a condition, at the prompt and by the command: what counts is said,
recorded, and required of everybody after.
"""

import json
from collections.abc import Iterator

import pytest

from tests.cli.test_terminal import TASK, terminal
from tests.fakes import script
from tests.fakes.agents import AgentServer, first_message
from tests.fakes.sample import Sample

DECIDED = {("architect", "*", "*"): script.deciding_design()}
MET = {("comprehensive-reviewer", "*", "*"): script.review_of_requirements("P-1", "P-2", "P-3")}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentServer]:
    with AgentServer() as running:
        running.answers = {**script.usual(), **DECIDED, **MET}
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


@pytest.mark.slow
def test_a_choice_and_a_condition_are_required_of_every_later_agent(
    sample: Sample, server: AgentServer
) -> None:
    model = ("--model", "openai-chat:fake")
    assert sample.forge("run", TASK, "--effort", "S", *model).code == 3
    before = len(server.questions)
    refused = sample.forge("approve", "3c", "--by-script", *model)
    assert (refused.code, "1a, 1b, 2a, 2b" in refused.err) == (2, True)
    done = sample.forge("approve", "1b", "with", "a line in README", "--by-script", *model)
    assert done.code == 0, done.err
    counted = "Approved with: 1b: Say `nobody yet`. · 2a: Keep 0. · a line in README"
    assert counted in " ".join(f"{done.out} {done.err}".split())
    prompts = [first_message(each.body) for each in server.questions[before:]]
    assert prompts
    for prompt in prompts:
        for words in ("P-1, required by", "1b: Say `nobody yet`.", "2a: Keep 0.", "P-3, required"):
            assert words in prompt


@pytest.mark.slow
def test_at_the_prompt_a_bare_approval_counts_with_the_least_change(sample: Sample) -> None:
    model = sample.model({**DECIDED, **MET})
    with terminal(sample, "run", TASK, "--effort", "S", "--yes", "--model", model) as person:
        person.until("Your answer")
        person.say("approve 9z")
        assert "1a, 1b, 2a, 2b" in person.until("Your answer")
        person.say("approve 2b with no new option")
        assert "1a: Keep the words. · 2b: Give 1. · no new option" in person.until("Done.")
        assert person.ended() == 0
    [decision] = json.loads(sample.forge("status", "--json").out)["decisions"]
    assert (decision["choices"], decision["condition"]) == (["1a", "2b"], "no new option")
