"""Requests that need no change bring none: an analyst says why, a person agrees, the run ends."""

import json
from typing import Any

import pytest

from forge_bot.artifacts.plans import read_nothing_to_do
from forge_bot.values import NothingToDo, Unneeded
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled_rows

SOLVED, ABSENT, UNCLEAR = Unneeded.ALREADY_WORKS, Unneeded.NOT_REPRODUCED, Unneeded.UNCLEAR
ANALYST = "situation-analyst-investigator"
REQUESTS = [
    ("`rota who` should print the person on call for a day", SOLVED, "`rota/cli.py` prints it."),
    ("It crashes", ABSENT, "All commands were followed with the sample file; none raises."),
    ("Make it better", UNCLEAR, "- What is not good enough, and how would one see it?"),
]


def analysis(why: str, evidence: str) -> script.Answer:
    document = str(script.document(*script.HEADINGS[ANALYST])["artifact_markdown"])
    return {"artifact_markdown": f"{document}\n## Nothing to Do: {why}\n\n{evidence}\n"}


def status(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


def branches(sample: Sample) -> set[str]:
    return set(sample.git("branch", "--format=%(refname:short)").splitlines())


@pytest.mark.parametrize(
    ("request_", "why", "evidence"), sampled_rows(REQUESTS, 6), ids=[each[0] for each in REQUESTS]
)
def test_a_solved_or_unclear_request_ends_without_a_change(
    sample: Sample, request_: str, why: Unneeded, evidence: str
) -> None:
    model = sample.model({(ANALYST, "*", "*"): analysis(why.value, evidence)})
    asked = sample.forge("run", request_, "--effort", "S", "--auto", "--model", model)
    assert asked.code == 3, asked.err
    assert ("Needs your answer" in asked.out) is (why is UNCLEAR)
    assert ("nothing is to be done" in asked.out) is (why is not UNCLEAR)
    assert why.value in asked.out
    assert evidence.strip("-` ")[:20] in asked.out
    assert status(sample)["gate"]["reason"] == "nothing_to_do"

    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    assert "There was nothing to do" in done.out
    assert "git merge" not in done.out
    state = status(sample)
    assert state["currentPhaseStatus"] == "completed"
    assert state["usage"]["calls"] == 1, "no further model was paid"
    assert state["nothingToDo"] == {"why": why.value, "evidence": evidence}
    assert state["pullRequest"] == ""
    assert state["verification"] is None
    assert "phase-5" in state["skippedPhases"]
    assert not any(name.startswith(("fix/", "feat/", "chore/")) for name in branches(sample))
    changed = (
        sample.git("diff", "--name-only", "main", state["branch"], "--", ".", ":!.specs")
        if state["branch"] in branches(sample)
        else ""
    )
    assert changed == ""
    summary = sample.forge("show", "summary.md").out
    assert "nothing was changed" in summary
    assert evidence in summary


@pytest.mark.parametrize(
    ("why", "word", "other"),
    sampled_rows([(SOLVED, "reject", "answer"), (UNCLEAR, "answer", "reject")], 2),
)
def test_words_of_a_person_go_on_and_a_question_of_an_agent_is_not_rejected(
    sample: Sample, why: Unneeded, word: str, other: str
) -> None:
    model = sample.model({(ANALYST, "*", "*"): analysis(why.value, "- Which format is it?")})
    assert sample.forge("run", "Show Sundays", "--effort", "S", "--model", model).code == 3
    assert {*status(sample)["gate"]["options"]} == {word, "approve"}
    model = sample.model()
    refused = sample.forge(other, "not on Windows", "--model", model)
    assert (refused.code, f"does not take “{other}”" in refused.err) == (5, True)
    said = sample.forge(word, "not on Windows", "--model", model)
    assert said.code == 3, said.err
    state = status(sample)
    assert state["gate"]["name"] == "checkpoint-a"
    assert state["nothingToDo"] is None
    given = [(one["answer"], one["notes"]) for one in state["decisions"]]
    assert given == [(word, "not on Windows")]


# -- reading
# --------------------------------------------------------------------------------------------------


def test_the_three_reasons_are_read() -> None:
    for heading, why in (
        ("## Nothing to Do: already works", SOLVED),
        ("## nothing to do – **Cannot be reproduced.**", ABSENT),
        ("## Nothing to change: not enough said", UNCLEAR),
    ):
        text = f"# Analysis\n\nWords.\n\n{heading}\n\nBecause.\n\n## More\n\nx\n"
        assert read_nothing_to_do(text) == (NothingToDo(why=why, evidence="Because."), ())


@pytest.mark.parametrize(
    "text",
    [
        "## Nothing to Do\n\nIt works.\n",
        "## Nothing to Do: too hard\n\nIt is.\n",
        "## Nothing to Do: already works\n\n## More\n\nx\n",
        "## Nothing to Do: already works\n\na\n\n## Nothing to Do: not enough said\n\nb\n",
    ],
)
def test_anything_else_is_asked_again_and_never_a_yes(text: str) -> None:
    found, (problem,) = read_nothing_to_do(text)
    assert found is None
    assert problem.message.startswith("say once why, as one of `## Nothing to Do: already works`, ")


def test_a_document_without_the_section_and_a_quoted_one_say_nothing() -> None:
    assert read_nothing_to_do("# A\n\n## Risks\n\nNothing to do: already works\n") == (None, ())
    assert read_nothing_to_do("> ## Nothing to Do: already works\n>\n> x\n") == (None, ())
