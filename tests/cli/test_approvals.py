"""An approval with choices and a condition, at the prompt and by the command: what counts is said,
recorded, and required of everybody after.
"""

import json

import pytest

from tests.cli.test_terminal import TASK, terminal
from tests.fakes import script
from tests.fakes.sample import Sample

DECIDED = {("architect", "*", "*"): script.deciding_design()}
MET = {("comprehensive-reviewer", "*", "*"): script.review_of_requirements("P-1", "P-2", "P-3")}


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


@pytest.mark.slow
@pytest.mark.parametrize("words", [("reject",), ("retry", "--notes")])
def test_notes_on_a_run_that_is_done_ask_for_a_change_in_a_commit_of_its_own(
    ended_sample: Sample, words: tuple[str, ...]
) -> None:
    sample, before = ended_sample, ended_sample.git("rev-parse", ended_sample.offered)
    edit = {"path": "rota/more.py", "operation": "write", "old": "", "new": "MORE = 1\n"}
    review = script.review_of_requirements("P-1")
    answers = {("implementer", "*", "*"): script.change(edit)}
    model = sample.model({**answers, ("comprehensive-reviewer", "*", "*"): review})
    said = sample.forge(*words, "Say more", "--model", model)
    assert said.code == 0, said.out + said.err
    assert sample.git("rev-parse", f"{sample.offered}~1") == before
    message = sample.git("log", "-1", "--format=%B", sample.offered)
    assert ("asked for this: Say more" in message, "Approved-by" in message) == (True, False)
