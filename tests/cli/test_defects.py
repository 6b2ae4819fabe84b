"""A change that mends a defect shows a test that is red without it and green with it."""

import json
import re
from typing import Any

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"
PROVEN = "test_nobody_is_on_call (tests.test_before.BeforeTheStart.test_nobody_is_on_call)"
FIX = script.document(*script.HEADINGS["architect"], title="fix: name nobody before the start")


def verification(
    sample: Sample,
    *edits: dict[str, str],
    task: str = TASK,
    doubt: str = "",
) -> dict[str, Any]:
    """Lead a run to its end, with an answer to the question about a doubt; its verification."""
    model = sample.model(
        {("architect", "*", "*"): FIX, ("implementer", "*", "*"): script.change(*edits)}
    )
    assert sample.forge("run", task, "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    if doubt:
        assert done.code == 3, done.err
        gate = json.loads(sample.forge("status", "--json").out)["gate"]
        assert gate["reason"] == "doubtful_evidence"
        assert doubt in gate["subject"]
        assert sample.forge("approve", "with it is right so", "--model", model).code == 0
        return json.loads(sample.forge("status", "--json").out)["verification"]
    assert done.code == 0, done.err
    marks = [
        "○" if "exit code" in line and "as it should" not in line else "✓"
        for line in _ran(done.out)
    ]
    assert [line.split()[0] for line in _ran(done.out)] == marks, (
        "three marks, by what a failure means"
    )
    return json.loads(sample.forge("status", "--json").out)["verification"]


def _ran(printed: str) -> list[str]:
    """Return the lines of the project's commands."""
    return [line.strip() for line in printed.splitlines() if " python3 -m unittest" in line]


def document(sample: Sample, name: str) -> str:
    return (sample.workspace / name).read_text()


def test_the_proof_stands_in_the_record_and_in_the_pull_request(sample: Sample) -> None:
    base = sample.git("rev-parse", "main")
    proof = verification(sample, script.GUARD, script.TEST)["redBeforeGreen"]
    assert proof["tests"] == [PROVEN]
    assert proof["files"] == ["tests/test_before.py"]
    assert proof["base"] == base
    assert sample.git("merge-base", proof["base"], proof["head"]) == base
    assert sample.git("rev-parse", "main") == base
    said = document(sample, "final-verification.md")
    assert "- Red before green: with only tests/test_before.py of this change applied at" in said
    offered = document(sample, "pull-request.md")
    row = next(line for line in offered.splitlines() if "test_nobody" in line)
    assert row.endswith(" | red → green |")
    assert f"Red before: at `{base[:7]}`, with only the tests of this change." in offered
    assert sample.git("worktree", "list").count("\n") == 1, "the trees of the proof are gone"


def test_a_test_that_the_change_left_alone_proves_nothing_beside_one_that_it_brings(
    sample: Sample,
) -> None:
    head, _, brought = script.TEST["new"].partition("    def test_nobody")
    unsteady = (
        "    def test_another(self):\n        tests = Path(__file__).read_text().count('def ' 'test')\n"
        "        code = Path('rota/schedule.py').read_text().count('return None')\n"
        "        self.assertEqual(tests - 1, code)\n"
    )
    (sample.path / script.TEST["path"]).write_text(f"from pathlib import Path\n{head}{unsteady}")
    sample.git("add", ".")
    sample.git("commit", "-m", "Add a test that is red while others are added")
    added = script.TEST | {
        "operation": "insert_after",
        "old": unsteady.splitlines()[-1],
        "new": f"\n    def test_nobody{brought}",
    }
    assert verification(sample, script.GUARD, added)["redBeforeGreen"]["tests"] == [PROVEN]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ([script.GUARD], "No file of tests and no unit test was added or changed."),
        (
            [
                script.GUARD,
                {
                    **script.TEST,
                    "new": script.TEST["new"]
                    .replace("assertIsNone", "assertIsNotNone")
                    .replace("1, 4", "1, 6"),
                },
            ],
            "At the base commit no test of this change fails",
        ),
        (
            [
                script.GUARD,
                {"path": "rota/day.py", "operation": "write", "old": "", "new": "FIRST = 4\n"},
                {**script.TEST, "new": "import rota.day\n" + script.TEST["new"]},
            ],
            "could not load the tests of this change",
        ),
    ],
    ids=["no test", "green before", "not loaded"],
)
def test_where_there_is_no_proof_record_and_pull_request_say_so(
    sample: Sample, edits: list[dict[str, str]], sentence: str
) -> None:
    proof = verification(sample, *edits, doubt=sentence)["redBeforeGreen"]
    assert sentence in proof["missing"]
    assert "said to go on in spite of: doubtful evidence" in document(sample, "pull-request.md")
    for name in ("final-verification.md", "pull-request.md"):
        assert f"- Red before green was not shown. {proof['missing'][:20]}" in document(
            sample, name
        )


DELETED = {"path": "tests/test_readme.py", "operation": "delete", "old": "", "new": ""}


@pytest.mark.slow
def test_a_deleted_test_asks_a_person_though_all_is_green(sample: Sample) -> None:
    name = re.findall(r"def (test_\w+)", (sample.path / DELETED["path"]).read_text())[0]
    said = f"tests/test_readme.py: `{name}` was deleted"
    found = verification(sample, script.GUARD, script.TEST, DELETED, doubt=said)
    assert said in found["weakened"]["unnamed"]
    assert f"- Weakened test: {said}." in document(sample, "final-verification.md")
    assert f"**Weakened test**: {said}" in document(sample, "pull-request.md")
    assert f"- Weakens tests, which the reviewer judges: {said}." in document(sample, "impl-1.md")
