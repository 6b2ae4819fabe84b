"""At efforts S and M the author of a design may draft its change: both are reviewed, shown and
approved together, and after the yes no model is asked.
"""

import json
from typing import Any

import pytest

from forge_bot.git import blob_id
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.runs.test_next_document import ANALYST, TASK, TITLE, both, markdown

DRAFT = "draft.patch"
APPROVED = script.review("APPROVE", extra=["Requirements"])
BROKEN = {**script.GUARD, "new": "        raise RuntimeError(day)\n"}
MENDED = {
    **script.GUARD,
    "old": "        if day < self.start:\n",
    "new": "        if day < self.start:  # before the rota\n",
}


def drafted(*edits: dict[str, str], design: str = "") -> script.Answer:
    text = design or markdown("architect", TITLE)
    return {**both(text), "edits": list(edits or (script.GUARD, script.TEST))}


def asked(sample: Sample, effort: str = "S", **answers: script.Answer) -> str:
    """Run until the design is shown; the name of the model."""
    first = answers.get("first", drafted())
    agent = ANALYST if effort == "S" else "situation-analyst"
    different = {(agent, "*", "*"): first, ("design-reviewer", "*", "*"): APPROVED}
    if "then" in answers:
        different[ANALYST, "*", "1.1~2"] = answers["then"]
    if "review" in answers:
        different["design-reviewer", "*", "1.1"] = answers["review"]
        different["design-reviewer", "*", "1.1~2"] = APPROVED
    if "anew" in answers:
        different["architect", "*", "*"] = answers["anew"]
    model = sample.model(different)
    run = sample.forge("run", TASK, "--effort", effort, "--model", model)
    assert run.code == 3, run.err
    return model


def status(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


def shown(sample: Sample) -> list[str]:
    return [file["name"] for file in status(sample)["gate"]["files"]]


def test_a_draft_is_reviewed_and_shown_with_the_design_and_nobody_is_asked_after_the_yes(
    sample: Sample,
) -> None:
    model = asked(sample)
    assert shown(sample) == ["design.md", "review-design.md", DRAFT]
    first = sample.forge("resume", "--model", model).out.partition("Answers, at a terminal")[0]
    assert "Tried: Nothing is newly red" in first
    assert "day < self.start" in (sample.workspace / DRAFT).read_text()
    assert "Nothing is newly red" in (sample.workspace / "design.md").read_text()
    assert "day < self.start" not in (sample.path / "rota/schedule.py").read_text()
    assert sample.forge("approve", "--model", model).code == 0
    assert status(sample)["usage"]["calls"] == 2
    assert "day < self.start" in sample.git("show", f"{sample.offered}:rota/schedule.py")
    review = sample.forge("show", "comprehensive-review.md").out
    assert "review-design.md" in review


def test_at_m_too_the_draft_has_one_review(sample: Sample) -> None:
    parts = [markdown(one, "Document") for one in ("situation-analyst", "investigator")]
    three = "\n".join((*parts, markdown("architect", TITLE)))
    first = {"artifact_markdown": three, "edits": [script.GUARD, script.TEST]}
    model = asked(sample, "M", first=first)
    assert sample.forge("approve", "--model", model).code == 0
    done = status(sample)
    assert done["usage"]["calls"] == 2
    assert "phase-6" in done["skippedPhases"]


def test_a_draft_that_breaks_a_test_goes_back_before_anybody_is_asked(sample: Sample) -> None:
    asked(sample, first=drafted(BROKEN), then={**drafted(), "edits": [script.GUARD, script.TEST]})
    assert status(sample)["usage"]["calls"] == 3
    assert "RuntimeError" not in (sample.workspace / DRAFT).read_text()


@pytest.mark.parametrize("words", [("with a line in the README",), ("1b",)])
def test_a_condition_or_another_option_than_the_drafts_is_an_implementers(
    sample: Sample, words: tuple[str, ...]
) -> None:
    model = asked(sample, first=drafted(design=str(script.deciding_design()["artifact_markdown"])))
    sample.forge("approve", *words, "--model", model)
    assert status(sample)["usage"]["calls"] > 2


def test_a_reviewers_no_goes_to_the_architect_who_may_draft_anew(sample: Sample) -> None:
    design = {**script.document(*script.HEADINGS["architect"], title=TITLE), "edits": [script.TEST]}
    refused = script.review("REVISE", "[MAJOR] no test", extra=["Requirements"])
    asked(sample, review=refused, anew=design)
    assert shown(sample) == ["design.md", "review-design.md", DRAFT]
    assert "rota/schedule.py" not in (sample.workspace / DRAFT).read_text()


def test_a_reviewer_goes_on_where_the_author_of_the_draft_looked_around(sample: Sample) -> None:
    """What both are shown comes from a provider's cache, so that it is paid once."""
    different = {
        (ANALYST, "*", "1.1"): script.look("rota/schedule.py"),
        (ANALYST, "*", "1.2"): drafted(),
        ("design-reviewer", "*", "*"): APPROVED,
    }
    assert sample.forge("run", TASK, "--effort", "S", "--model", sample.model(different)).code == 3
    (journal,) = sample.path.parent.rglob("journal.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    asked = [entry["messages"] for entry in entries if entry["entry"] == "started"]
    author, review = [*asked[0], *asked[1]], asked[2]
    assert review[: len(author)] == author
    assert len(review) == len(author) + 1
    assert "# Design Reviewer" in review[-1]["text"]
    assert 'source="request.md"' not in review[-1]["text"]
    assert f'source="{DRAFT}"' in review[-1]["text"]


def test_a_reviewer_may_run_a_snippet_on_the_code_with_the_draft(sample: Sample) -> None:
    code = "from datetime import date as d\nfrom rota.schedule import Schedule as S\n"
    code += "print('one')\nprint(S(('ann',), d(2026, 1, 5)).on_call(d(2026, 1, 4)))"
    requests = [
        {
            "provider": "run_snippet",
            "params_json": json.dumps({"code": code, "drafted": True}),
            "reasoning": "before and after",
        }
    ]
    different = {
        (ANALYST, "*", "*"): drafted(),
        ("design-reviewer", "*", "1.1"): {"requests": requests, "actions": []},
        ("design-reviewer", "*", "1.2"): APPROVED,
    }
    assert sample.forge("run", TASK, "--effort", "S", "--model", sample.model(different)).code == 3
    kept = (sample.workspace / "snippets.md").read_text()
    lines = {"one", "ann", "-ann", "+None"}
    assert [line for line in kept.splitlines() if line in lines] == ["one", "ann", "-ann", "+None"]


def corrected(
    verdict: str,
    *edits: dict[str, str],
    finding: str = "[MINOR] the message names nobody. Corrected.",
) -> script.Answer:
    return {**script.review(verdict, finding, extra=["Requirements"]), "edits": list(edits)}


def test_a_reviewer_corrects_the_draft_itself_and_the_person_is_shown_the_corrected_one(
    sample: Sample,
) -> None:
    model = asked(sample, review=corrected("APPROVE_WITH_NOTES", MENDED))
    patch = (sample.workspace / DRAFT).read_text()
    assert "before the rota" in patch
    assert "tests/test_before.py" in patch
    assert "Nothing is newly red" in (sample.workspace / "review-design.md").read_text()
    assert status(sample)["usage"]["calls"] == 2
    assert sample.forge("approve", "--model", model).code == 0
    assert status(sample)["usage"]["calls"] == 2
    assert "before the rota" in sample.git("show", f"{sample.offered}:rota/schedule.py")
    body = next(sample.workspace.glob("**/pull-request.md")).read_text()
    assert "- Corrected by the reviewer: the message names nobody.\n" in body


TABLE = """| Requirement | Files | Tests | State |
|---|---|---|---|
| R-1: nobody | `rota/schedule.py` | `test_before` | met |
| R-2: documented | `README.md` | | met |
"""


def test_the_question_shows_all_choices_and_counts_corrections_of_tests_and_pages(
    sample: Sample,
) -> None:
    choices = "".join(f"- Choice {n} is settled.\n" for n in range(9))
    design = markdown("architect", TITLE).replace(
        "Decisions\n\nSomething true.", f"Decisions\n\n{choices}"
    )
    places = ("rota/schedule.py", "`tests/test_before.py`", "README.md, its head", "the draft")
    findings = [f"[MINOR] {place}: it was wrong. Corrected." for place in places]
    review = script.review("APPROVE_WITH_NOTES", *findings, extra=["Requirements"])
    text = str(review["artifact_markdown"]).replace("All of it.", TABLE)
    review = {"artifact_markdown": text, "edits": [MENDED]}
    model = asked(sample, first=drafted(design=design), review=review)
    first = sample.forge("resume", "--model", model).out.partition("Answers, at a terminal")[0]
    shown = " ".join(first.split())
    assert all(f"Chosen: Choice {n} is settled." in shown for n in range(9))
    counted = "1 of 2 requirements have a test, 1 is documentation"
    assert f"4 findings corrected in the draft, 2 of them below; {counted}" in shown
    assert first.count("🔧") == 2
    assert "🔧 Corrected: rota/schedule.py: it was wrong." in shown
    assert "🔧 Corrected: the draft: it was wrong." in shown


UNTRUE = "Days before the rota begins are an error of the caller."
ASKING = markdown("architect", TITLE).replace(
    "## Decisions\n\nSomething true.",
    f"## Decisions\n\n- {UNTRUE}\n\n1. Which words?\n   - a: None.\n   - b: Nobody (R-1).",
)


def edit(old: str, new: str, operation: str = "replace") -> dict[str, str]:
    return {"path": "design.md", "operation": operation, "old": old, "new": new}


@pytest.mark.parametrize("mended", [[MENDED], []], ids=["with the draft", "alone"])
def test_what_a_correction_makes_untrue_of_the_design_is_edited_there_too(
    sample: Sample, mended: list[dict[str, str]]
) -> None:
    edits = [*mended, edit(UNTRUE, "Nobody has days before."), edit(TITLE, "fix: say nobody")]
    review = corrected("APPROVE_WITH_NOTES", *edits)
    model = asked(sample, first=drafted(design=ASKING), review=review)
    assert ("before the rota" in (sample.workspace / DRAFT).read_text()) is bool(mended)
    review_text = (sample.workspace / "review-design.md").read_text()
    assert ("Tests After the Edits" in review_text) is bool(mended)
    record = status(sample)["artifacts"]["design.md"]
    design = (sample.workspace / "design.md").read_bytes()
    assert (record["blob"], record["phase"]) == (blob_id(design), "phase-3")
    log = ("log", "--format=%s", sample.branch, "--", ":(glob)**/design.md")
    assert sample.git(*log).splitlines() == ["forge-bot: Design Review", "forge-bot: Design"]
    first = sample.forge("resume", "--model", model).out.partition("Answers, at a terminal")[0]
    assert "1 finding corrected in the draft" in first
    assert sample.forge("approve", "--model", model).code == 0
    assert status(sample)["usage"]["calls"] == 2
    body = next(sample.workspace.glob("**/pull-request.md")).read_text()
    assert "- Corrected by the reviewer: the message names nobody.\n" in body
    for text, chosen in ((first, "Chosen: "), (body, "**Chosen**: ")):
        assert f"{chosen}Nobody has days before." in text
        assert UNTRUE not in text
    assert sample.git("log", "-1", "--format=%s", sample.offered) == "fix: say nobody"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([edit("   - b: Nobody (R-1).", "   - b: Nobody now (R-1).")], "keeps its numbered"),
        ([edit("Nobody (R-1)", "Nobody")], "each R-n"),
        ([edit("1. Which words?", "- No words.")], "keeps its numbered"),
        ([edit("Nothing is newly red", "All is well")], "Tests After the Edits"),
        ([edit("## Risks", "## Dangers")], "add `## Risks`"),
        ([edit("", ASKING, "write")], "neither writes nor deletes"),
        ([edit("", "", "delete"), MENDED], "neither writes nor deletes"),
        ([edit("No such line.", "One."), MENDED], "Edit 1, replace design.md"),
    ],
)
def test_an_edit_of_the_design_that_cannot_be_taken_goes_back_to_the_reviewer(
    sample: Sample, edits: list[dict[str, str]], said: str
) -> None:
    first = drafted(design=ASKING)
    asked(sample, first=first, review=corrected("APPROVE_WITH_NOTES", *edits))
    assert status(sample)["usage"]["calls"] == 3
    assert ASKING.strip() in (sample.workspace / "design.md").read_text()
    assert "day < self.start:\n" in (sample.workspace / DRAFT).read_text()
    (journal,) = sample.path.parent.rglob("journal.jsonl")
    assert said in journal.read_text()


@pytest.mark.parametrize(
    "review",
    [
        corrected("REVISE", MENDED),
        corrected("APPROVE_WITH_NOTES", script.WORKFLOW),
        corrected("APPROVE_WITH_NOTES", {**MENDED, "new": BROKEN["new"]}),
    ],
    ids=["sent back too", "a protected file", "newly red"],
)
def test_a_correction_that_cannot_be_taken_goes_back_to_the_reviewer(
    sample: Sample, review: script.Answer
) -> None:
    asked(sample, review=review)
    assert status(sample)["usage"]["calls"] == 3
    patch = (sample.workspace / DRAFT).read_text()
    assert "day < self.start:\n" in patch
    assert ".github" not in patch


def test_a_reviewer_that_insists_on_a_correction_beside_another_verdict_gets_its_review_alone(
    sample: Sample,
) -> None:
    review = corrected("APPROVE", MENDED, edit(UNTRUE, "Nobody has days before."))
    first = drafted(design=ASKING)
    different = {(ANALYST, "*", "*"): first, ("design-reviewer", "*", "*"): review}
    run = sample.forge("run", TASK, "--effort", "S", "--model", sample.model(different))
    assert run.code == 3, run.err
    assert "corrected in the draft" not in run.out
    assert ASKING.strip() in (sample.workspace / "design.md").read_text()
    assert "before the rota" not in (sample.workspace / DRAFT).read_text()


def test_protected_files_are_never_drafted(sample: Sample) -> None:
    asked(sample, first=drafted(script.GUARD, script.WORKFLOW))
    assert DRAFT not in shown(sample)


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True])
def test_a_draft_that_deletes_a_test_asks_a_person_unless_its_author_says_so(
    sample: Sample, *, named: bool
) -> None:
    gone = {"path": "tests/test_readme.py", "operation": "delete", "old": "", "new": ""}
    words = "`test_every_command_has_an_example` goes." if named else "Something true."
    design = markdown("architect", TITLE).replace("Something true.", words)
    model = asked(sample, first=drafted(script.GUARD, script.TEST, gone, design=design))
    assert "was deleted" in (sample.workspace / "design.md").read_text()
    assert ("weakens tests" in sample.forge("resume", "--model", model).out) is not named
    done = sample.forge("approve", "--model", model)
    assert (done.code, "was deleted" in done.out) == ((0, False) if named else (3, True)), done.out


@pytest.mark.slow
def test_a_design_changed_by_hand_leaves_its_draft_behind(sample: Sample) -> None:
    model = asked(sample)
    design = sample.workspace / "design.md"
    design.write_text(design.read_text().replace("Something true.", "Something else."))
    assert sample.forge("approve", "--model", model).code != 0
    assert DRAFT not in shown(sample)


@pytest.mark.slow
def test_a_draft_that_does_not_fit_any_more_leaves_the_change_to_an_implementer_and_its_review(
    sample: Sample,
) -> None:
    model = asked(sample)
    path = sample.path / "rota/schedule.py"
    path.write_text(path.read_text().replace("// self.days", "// (self.days)", 1))
    sample.git("commit", "-qam", "Another way")
    sample.forge("update", "--model", model)
    sample.forge("approve", "--model", model)
    assert all(not task["drafted"] for task in status(sample)["tasks"])
    shown = sample.forge("show", "comprehensive-review.md")
    assert "review-design.md" not in shown.out


def test_the_review_of_a_draft_that_is_gone_is_not_shown_with_the_next_design(
    sample: Sample,
) -> None:
    model = asked(sample)
    assert sample.forge("reject", "say who instead", "--model", model).code == 3
    assert shown(sample) == ["design.md"]


@pytest.mark.slow
def test_a_draft_changed_by_hand_is_applied_as_it_was_shown_and_reviewed_anew(
    sample: Sample,
) -> None:
    model = asked(sample)
    patch = sample.workspace / DRAFT
    patch.write_text(patch.read_text().replace("test_nobody_is_on_call", "test_nobody"))
    assert sample.forge("approve", "--model", model).code != 0
    assert sample.forge("approve", "--model", model).code == 0
    assert status(sample)["usage"]["calls"] == 3
    assert "def test_nobody(" in sample.git("show", f"{sample.offered}:tests/test_before.py")


def test_a_hunk_that_a_person_emptied_is_shown_as_it_is(sample: Sample) -> None:
    model = asked(sample)
    patch = sample.workspace / DRAFT
    patch.write_text(f"{patch.read_text()}@@ -90,2 +90,2 @@\n nothing\n here\n")
    assert sample.forge("reject", "name the test after what it proves", "--model", model).code == 3
