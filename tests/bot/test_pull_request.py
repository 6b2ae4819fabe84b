"""The pull request: requirement, files, tests; how it was checked; who decided; and one line that
closes one issue.
"""

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings

from forge_bot.artifacts.read_artifact import with_requirement_words, without_requirement_numbers
from forge_bot.bot.comments.reply import RunView
from forge_bot.engine.gates import AUTO, UNASKED
from forge_bot.gate.grammar import Approve, Mistyped
from forge_bot.gate.parse_comment import read_answer
from forge_bot.interaction.fit_comment import LIMIT, size
from forge_bot.interaction.house_demands import house_demands
from forge_bot.interaction.markers import read_marker
from forge_bot.interaction.pull_request import PullRequestText, pull_request
from forge_bot.interaction.pull_request_template import Customs
from forge_bot.values import (
    CommandResult,
    Finding,
    RedBeforeGreen,
    RequirementCheck,
    Severity,
    Source,
    Usage,
)
from forge_bot.verification.judgement import judge
from tests.bot import scene
from tests.bot.reading import acts, shown
from tests.prompts.test_escape import HOSTILE

DOCUMENTS = {
    name: scene.text(name)
    for name in ("design.md", "final-verification.md", "comprehensive-review.md")
}


def written(
    view: RunView | None = None, customs: Customs | None = None, **documents: str
) -> PullRequestText:
    return pull_request(
        view or scene.delivered(),
        {**DOCUMENTS, **{name.replace("_", "-") + ".md": text for name, text in documents.items()}},
        customs or Customs(),
    )


def but_closing(body: str) -> str:
    """The body without the one line that is meant to act."""
    lines = body.splitlines()
    acting = [line for line in lines if line in {"Closes #42", "Part of #42"}]
    lines.remove(*acting)
    return "\n".join(lines)


def changed(**changes: object) -> RunView:
    return scene.view(scene.delivered().state.replace(**changes))


def test_a_request_that_is_no_issue_closes_none() -> None:
    assert "Closes" not in written(changed(source=Source(type="text"))).body
    assert "Closes" not in written(changed(source=Source(type="jira_issue", id="42"))).body
    assert (
        "Closes"
        not in written(changed(source=Source(type="github_issue", id="42, closes #1"))).body
    )


def test_it_is_a_draft_until_the_project_s_commands_are_green() -> None:
    green = scene.delivered().state.verification
    assert green is not None
    assert not written().draft
    assert written(changed(verification=None)).draft
    assert written(changed(verification=green.model_copy(update={"results": ()}))).draft
    assert written(
        changed(verification=green.model_copy(update={"red": True, "accepted": True}))
    ).draft


@pytest.mark.parametrize(("before", "mark"), [(scene.RED, "⚪"), (scene.GREEN, "❌"), (None, "❌")])
def test_only_what_the_change_broke_has_a_cross_and_a_failure_is_named_once(
    before: CommandResult | None, mark: str
) -> None:
    baseline = () if before is None else (before,)
    found = judge(baseline, (scene.RED,))
    green = scene.delivered().state.verification
    assert green is not None
    verification = green.model_copy(
        update={"red": found.red, "results": (scene.RED,), "notes": found.notes}
    )
    body = written(changed(verification=verification, baseline=baseline)).body
    checked = body.partition("### How it was checked")[2].partition("<details>")[0]
    assert f"* {mark} **test**" in checked
    assert ("**exit code 1**" in checked) is (mark == "❌")
    assert checked.count(scene.RED.failures[0]) == 1


def test_type_and_title_are_those_of_the_design() -> None:
    def of(heading: str) -> str:
        design = f"{heading}\n\n## Approach\n\nAs said.\n"
        return written(
            changed(title='Prints "1000.0 kB"', branch="feature/1-x"), design=design
        ).title

    assert of("# fix: print 1 MB for 999,950 bytes") == "fix: print 1 MB for 999,950 bytes"
    assert of("# Design: perf: cache the table") == "perf: cache the table"
    assert of("# fix: `natural_list([])` returns @ann") == "fix: `natural_list([])` returns ann"
    assert of("# Design: sizes") == 'chore: prints "1000.0 kB"', "nothing states a type"


def test_where_nobody_was_asked_no_person_approved_and_a_review_is_by_no_person() -> None:
    state = scene.delivered().state
    passed = state.decisions[0].replace(by=AUTO, via=AUTO)
    body = written(changed(decisions=(passed,), log=())).body
    assert f"| approved: no person approved (`auto`), `{passed.digest[:7]}`, 2026-" in body
    assert "The reviews are not by a person." in body
    assert "Written by" not in body


def test_tests_that_turned_green_show_a_requirement_that_is_the_only_one() -> None:
    table = (
        "# V\n\n| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n"
        "| it ends | a.py | `ROWS` | met |\n"
    )
    proof = RedBeforeGreen(tests=("a.py::test_ends",), base="1" * 40)
    green = scene.delivered().state.verification
    assert green is not None
    verified = green.replace(red_before_green=proof)
    body = written(changed(verification=verified), final_verification=table).body
    assert "| it ends<br>`test_ends` | red → green |" in body
    assert "no green test shows" not in body


@pytest.mark.parametrize(
    ("written", "without"),
    [
        ("It ends (R-1, R-2; see `a, b`).", "It ends (see `a, b`)."),
        (
            "It ends (R-1, and so `f(x)`, R-2), at once.",
            "It ends (R-1, and so `f(x)`, R-2), at once.",
        ),
        ("It ends (R-1), once (R-2; R-3 is older).", "It ends, once."),
    ],
)
def test_parentheses_lose_the_numbers_of_requirements(written: str, without: str) -> None:
    assert without_requirement_numbers(written) == without


def test_a_number_with_words_of_its_own_in_a_cell_gets_no_others() -> None:
    words = {"R-1": "It ends at once"}
    row = "| R-1: it ends | a.py | `test_ends` | met |"
    assert with_requirement_words(row, words) == row
    assert with_requirement_words("| R-1 | a.py |", words) == "| R-1 (It ends at once) | a.py |"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a/b.py:7 raises on 0.", "`a/b.py:7`: raises on 0."),
        ("a/b.py:7-9: raises on 0.", "`a/b.py:7-9`: raises on 0."),
        ("`a/b.py:7` raises on 0.", "`a/b.py:7` raises on 0."),
        ("It raises at a/b.py:7 on 0.", "It raises at a/b.py:7 on 0."),
    ],
)
def test_the_place_that_a_finding_begins_with_is_code(written: str, shown: str) -> None:
    assert Finding(severity=Severity.MINOR, description=written).words == shown


def test_the_table_of_evidence_says_what_ran_whatever_the_model_wrote_beside_its_tests() -> None:
    table = (
        "# V\n\n| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n"
        "| it ends | a.py | `test_ends`, `test_stops` | shown by the run |\n"
        "| it begins | a.py | `test_begins` | shown by the run |\n"
        "| it is fast | – | – | left out, as decided |\n"
        "| the rest stays | a.py | present tests unchanged | met |\n"
    )
    check = RequirementCheck(
        document="final-verification.md", ran=("test_ends", "test_stops"), not_run=("test_begins",)
    )
    proof = RedBeforeGreen(tests=("a.py::test_ends", "a.py::test_more"), base="1" * 40)
    green = scene.delivered().state.verification
    assert green is not None
    verified = green.replace(requirements=check, red_before_green=proof)
    body = written(changed(verification=verified), final_verification=table).body
    for row in (
        "| it ends<br>`test_ends`, `test_stops` | 1 of 2 red → green |",
        "| it begins<br>`test_begins` (⚠️ not seen to run) | – |",
        "| it is fast · **left out, as decided** | – |",
        "| the rest stays | by the tests of before |",
        "| Not named by a requirement<br>`test_more` | red → green |",
        "> - **A draft**: no green test shows “it begins”.",
        "Red before: at `1111111`, with only the tests of this change.",
    ):
        assert row in body, row
    red = verified.replace(red=True)
    body = written(changed(verification=red), final_verification=table).body
    assert "| the rest stays | – |" in body


@given(HOSTILE)
@settings(max_examples=15, deadline=None)
def test_whatever_models_wrote_only_the_one_line_acts(text: str) -> None:
    table = (
        f"# V\n\n## Summary\n\n{text}\n\n| Requirement | Files | Tests | State"
        " |\n|---|---|---|---|\n" + f"| {text.split(chr(10), 1)[0]} | `a` | b | met |\n" * 30
    )
    view = changed(title=text, risks=(text,))
    done = written(view, final_verification=table, summary=f"## Summary\n\n{text}")
    assert size(done.body) <= LIMIT
    assert "\n" not in done.title
    assert acts(but_closing(done.body)) == []
    assert read_marker(done.body) is not None


def test_a_program_of_the_project_s_environment_is_named_without_its_folder() -> None:
    python = scene.GREEN.model_copy(update={"argv": ("{env}/app/bin/python", "-m", "pytest")})
    green = scene.delivered().state.verification
    assert green is not None
    body = written(changed(verification=green.model_copy(update={"results": (python,)}))).body
    assert "* ✅ **test** `python -m pytest`: green" in body
    assert "{env}" not in body


@pytest.mark.parametrize("many", [0, 5, 40, 400])
def test_what_is_not_folded_fits_sixty_lines(many: int) -> None:
    """However many requirements, failures, decisions, conditions, risks and findings there are."""
    state = scene.delivered().state
    green = state.verification
    assert green is not None
    names = [f"a thing asked for, number {number}" for number in range(many)]
    rows = "".join(
        f"| {name} | a.py | `test_{place}` | met |\n" for place, name in enumerate(names)
    )
    table = "## R\n\n| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n" + rows
    results = (scene.RED,) * min(many, 30) or green.results
    answer = state.decisions[0]
    full = state.replace(
        risks=tuple(names),
        decisions=tuple(answer.replace(condition=name) for name in names) or state.decisions,
        verification=green.replace(results=results, reasons=tuple(names), notes=tuple(names)),
    )
    seen = re.sub(
        r"<details>.*?</details>",
        "",
        written(scene.view(full), final_verification=table).body,
        flags=re.DOTALL,
    )
    assert len(seen.splitlines()) <= 60
    assert "model calls" not in seen
    assert all(name in seen for name in names[:1])


def test_the_text_begins_as_the_design_says_it_and_with_where_to_begin() -> None:
    design = (
        "# fix: name the last day too\n\n## Approach\n\nThe search stops at the last day.\n\n"
        "| Input | Today | After |\n|---|---|---|\n| `next` on 9999-12-31 | an error | that day |\n"
        "| two copies | differ | the same |\n\n"
        "## Changes\n\n- `tests/test_a.py`: one more\n- `README.md`\n- `rota/schedule.py`: x\n"
        "- `rota/cli.py`\n\n## Risks\n\n- Callers today get an error; afterwards a day.\n"
        "- Unverified: that it ends.\n\n## Decisions\n\n- The day after is an error, as there is none.\n"
    )
    body = written(changed(title="`next` fails on the last day"), design=design).body
    assert body.splitlines()[:7] == [
        "The search stops at the last day.  ",
        "**Begin to read at** `rota/schedule.py`",
        "",
        "- `next` on 9999-12-31: so far an error; now that day",
        "- two copies: so far differ; now the same",
        "- ⚠️ Callers so far get an error; now a day.",
        "- **Chosen**: The day after is an error, as there is none.",
    ]


def test_a_template_of_words_to_its_reader_is_folded_and_one_with_boxes_is_not() -> None:
    words = "Please lint your code.\n\nRead the guide before you submit."
    body = written(None, Customs(template=words)).body
    assert f"</summary>\n\n{words}\n\n</details>" in body
    boxes = f"{words}\n\n- [ ] I have read the guide\n"
    assert "---\n\nThe template of this repository" in written(None, Customs(template=boxes)).body


def test_a_template_that_asks_for_the_cause_gets_it_of_a_fix() -> None:
    cause = (
        "# A\n\n## Root Cause or Integration Points\n\n- Symptom: an error\n"
        "- R-1, R-2: `date.max + 1` raises (R-1)\n- More\n"
    )
    asks = Customs(template="## Description\n\n## What was wrong\n\n## How it is fixed\n")
    design = "# fix: name the last day\n\n## Approach\n\nA.\n\n## Changes\n\n- `a.py`: one more\n"
    labelled = cause.replace("- More", "- Cause: the search ends too early")
    for analysis, words in (
        (cause, "`date.max + 1` raises"),
        (labelled, "the search ends too early"),
    ):
        body = written(changed(), asks, design=design, analysis=analysis).body
        assert f"## What was wrong\n\n{words}\n" in body
        assert "## How it is fixed\n\n- `a.py`: one more\n" in body
    feature = written(changed(), asks, design=design.replace("fix:", "feat:")).body
    assert "## What was wrong\n\nNothing: this is new.\n" in feature


def test_conditions_and_deviations_are_said_with_who_gave_them() -> None:
    decision = scene.delivered().state.decisions[0].replace(condition="it keeps R-1", by="mira")
    body = written(
        changed(decisions=(decision,)),
        situation_analysis="- R-1: the old order\n",
        impl_1="# Task 1\n\n## Deviations\n\n- One more test.\n",
        impl_2="# Task 2\n\n## Deviations\n\nNone.\n",
    ).body
    section = body.partition("### Conditions and deviations\n\n")[2].partition("\n\n")[0]
    assert section.splitlines() == [
        "- **Condition** of `mira`: it keeps R-1 (the old order)",
        "- **Other than in the approved design**: One more test.",
    ]
    assert "Conditions and deviations" not in written().body
    unasked = changed(decisions=(decision.replace(via=UNASKED),))
    assert "**Condition**" not in written(unasked).body


@pytest.mark.parametrize(
    ("typed", "shown_as"),
    [
        ("garde l’ancien nom ; 必ず古い名前を残す", "garde l’ancien nom ; 必ず古い名前を残す"),
        ("keep 'sch'; and never say 'sch'", "keep 'sch'; and never say 'sch'"),
        (
            "<!-- --> <b>tick</b> all, closes #1 @team [skip ci]",
            "tick all, closes #1 @team (skip ci)",
        ),
        ("a long word " * 420, "the condition has 5039 characters, and 500 are the most."),
    ],
    ids=["another language", "contradicts itself", "acts", "5,000 characters"],
)
def test_a_condition_is_shown_whole_and_acts_on_nothing_or_is_refused(
    typed: str, shown_as: str
) -> None:
    command = read_answer(f"approve with {typed}", takes_words=False)
    if isinstance(command, Mistyped):
        assert shown_as in command.hint
        return
    assert isinstance(command, Approve)
    one = scene.delivered().state.decisions[0]
    told = (one.replace(condition=command.words), one.replace(condition="the other way round"))
    body = written(changed(decisions=told)).body
    assert shown_as in shown(body)
    assert "the other way round" in body
    assert acts(but_closing(body)) == []


def test_what_the_guide_asks_stands_among_the_evidence_and_what_is_missing_comes_first() -> None:
    texts = {"CONTRIBUTING.md": "Add an entry to the changelog, and sign off (DCO)."}
    demands = house_demands(texts, ["CHANGES.md"], ["CHANGES.md"], signed=False)
    body = pull_request(scene.delivered(), DOCUMENTS, Customs(demands=demands)).body
    assert "| `CONTRIBUTING.md` asks for an entry in `CHANGES.md` | in the change |" in body
    line = "`CONTRIBUTING.md` asks for `Signed-off-by` in each commit"
    assert f"> - {line}: **a person's to give**." in body
    assert f"| {line} | **a person's to give** |" in body


def test_an_answer_of_a_script_does_not_read_as_a_person_s() -> None:
    decision = scene.delivered().state.decisions[0].replace(by="root", via="script")
    assert (
        "| approved by a script that `root` ran, `" in written(changed(decisions=(decision,))).body
    )


@pytest.mark.parametrize(
    ("state", "file", "line", "draft"),
    [
        ("met", "a.py", "Closes #42", False),
        ("left out, as decided", "a.py", "Part of #42", False),
        ("partly", "a.py", "Part of #42", True),
        ("shown by reading", "a.py", "Closes #42", True),
        ("shown by reading", "docs/a.md", "Closes #42", False),
        ("partly", "docs/a.md", "Part of #42", True),
    ],
)
def test_it_closes_the_issue_if_all_was_done_and_is_a_draft_without_a_green_test(
    state: str, file: str, line: str, draft: bool
) -> None:
    tests = "`test_stops`" if state == "met" else "–"
    table = (
        "## R\n\n| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n"
        f"| it ends | a.py | `test_ends` | met |\n| it stops | {file} | {tests} | {state} |\n"
    )
    check = RequirementCheck(document="final-verification.md", ran=("test_ends", "test_stops"))
    green = scene.delivered().state.verification
    assert green is not None
    view = changed(verification=green.replace(requirements=check))
    text = written(view, final_verification=table)
    assert (line in text.body.splitlines(), text.draft) == (True, draft)


def test_that_something_is_documented_is_shown_by_reading() -> None:
    table = (
        "## R\n\n| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n"
        "| it ends | a.py | `test_ends` | met |\n"
        "| the argument is documented | a.py | docstring examples | met |\n"
    )
    check = RequirementCheck(document="final-verification.md", ran=("test_ends",))
    green = scene.delivered().state.verification
    assert green is not None
    text = written(
        changed(verification=green.replace(requirements=check)), final_verification=table
    )
    assert "is documented<br>docstring examples | by reading |" in text.body
    assert not text.draft


def test_it_stays_a_draft_until_a_person_takes_the_doubts() -> None:
    green = scene.delivered().state.verification
    assert green is not None
    doubtful = green.replace(red_before_green=RedBeforeGreen(missing="No test was red."))
    assert written(changed(verification=doubtful)).draft
    taken = changed(verification=doubtful, accepted_doubts=doubtful.doubts)
    assert not written(taken).draft


def test_a_call_without_an_answer_is_told_apart_from_what_the_run_cost() -> None:
    usage = scene.delivered().state.usage
    lost = usage + Usage(unanswered=1, may_be_billed=Decimal("0.172665"))
    body = shown(written(changed(usage=lost)).body)
    assert "$1.14 of $5.00 · 11 model calls" in body
    assert "one call was interrupted; it may be billed: up to $0.17" in body
