"""What a table of requirements names is looked for and run before a person is asked to merge."""

import json
import sys

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample

pytestmark = pytest.mark.slow

SKIPPED = {
    "path": "tests/test_later.py",
    "operation": "write",
    "old": "",
    "new": (
        "import unittest\n\n\nclass Later(unittest.TestCase):\n"
        '    @unittest.skip("later")\n    def test_two_rotas(self):\n        pass\n'
    ),
}
TABLE = """# Review

## Verdict: PASS

Read it.

## Requirements

| Requirement | Files | Tests | State |
|---|---|---|---|
| R-1: nobody before the start | `rota/schedule.py:14` | `test_nobody_is_on_call`, `…_is_on_call`, a `ValueError` before | met |
| R-2: it is documented | `docs/gone.md` | none needed | met |
| R-3: two rotas | `rota` | `tests/test_later.py::Later::test_two_rotas` | met |
| R-4: three rotas | – | `test_three_rotas` | met |

## Findings

None.
"""


def ended(sample: Sample) -> dict[str, list[str]]:
    """Lead a run to its end; what was found of the names in its table."""
    model = sample.model(
        {
            ("comprehensive-reviewer", "*", "*"): {"artifact_markdown": TABLE},
            ("implementer", "*", "*"): script.change(script.GUARD, script.TEST, SKIPPED),
        }
    )
    assert sample.forge("run", "Guard the start", "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "No test was found for: R-2: it is documented; R-4: three rotas." in said
    return json.loads(sample.forge("status", "--json").out)["verification"]["requirements"]


@pytest.mark.parametrize("own", [True, False])
def test_of_two_tests_of_one_name_that_of_the_change_counts_else_both(
    sample: Sample, own: bool
) -> None:
    other = "import unittest\n\n\nclass Other(unittest.TestCase):\n"
    wrong = (
        f'{other}    @unittest.skip("slow")\n    def test_nobody_is_on_call(self):\n        pass\n'
    )
    right = script.TEST["new"]
    (sample.path / "tests" / "test_also.py").write_text(wrong)
    if not own:
        (sample.path / "tests" / "test_zero.py").write_text(
            wrong.replace('@unittest.skip("slow")', "# runs")
        )
    sample.git("add", ".")
    sample.git("commit", "-q", "-m", "Tests of the same name")
    edits = (script.GUARD, script.TEST) if own else (script.GUARD,)
    model = sample.model(
        {
            ("comprehensive-reviewer", "*", "*"): {"artifact_markdown": TABLE},
            ("implementer", "*", "*"): script.change(*edits),
        }
    )
    assert "test_nobody_is_on_call" in right
    assert sample.forge("run", "Guard the start", "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    ran = json.loads(sample.forge("status", "--json").out)["verification"]["requirements"]
    assert "test_nobody_is_on_call" in ran["ran"]


def test_names_that_do_not_exist_or_did_not_run_are_marked_and_gaps_are_said_first(
    sample: Sample,
) -> None:
    found = ended(sample)
    assert found["document"] == "comprehensive-review.md"
    assert found["ran"] == ["test_nobody_is_on_call"]
    assert found["notRun"] == ["tests/test_later.py::Later::test_two_rotas"]
    assert found["notFound"] == ["docs/gone.md", "test_three_rotas"]

    offered = (sample.workspace / "pull-request.md").read_text()
    first, listed = offered.split("### What was asked for, and where it is")
    assert "No test was found for: R-2: it is documented; R-4: three rotas." in first
    rows = {row.split(":")[0]: row for row in listed.split("\n- ") if row.startswith("R-")}
    assert "⚠️" not in rows["R-1"]
    assert "`docs/gone.md` (⚠️ not found) · tests: none needed" in rows["R-2"]
    assert "test_two_rotas` (⚠️ not seen to run)" in rows["R-3"]
    assert "`test_three_rotas` (⚠️ not found)" in rows["R-4"]

    document = (sample.workspace / "final-verification.md").read_text()
    assert "- comprehensive-review.md names what is not in the repository: docs/gone.md" in document


@pytest.mark.parametrize("runner", ["unittest", "pytest"])
def test_a_named_test_that_passes_only_beside_others_is_marked(sample: Sample, runner: str) -> None:
    (sample.path / ".forge").mkdir()
    command = json.dumps([sys.executable, "-m", runner, *(["-q"] if runner == "pytest" else [])])
    (sample.path / ".forge" / "config.yml").write_text(
        f"sandbox: 'off'\ncommands:\n  test: [{command}]\n"
    )
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "settings")
    both = {
        "path": "tests/test_two.py",
        "operation": "write",
        "old": "",
        "new": (
            "import unittest\n\nSEEN = []\n\n\nclass Two(unittest.TestCase):\n"
            "    def test_a(self):\n        SEEN.append(1)\n\n"
            "    def test_b_after_a(self):\n        self.assertEqual(SEEN, [1])\n"
        ),
    }
    table = TABLE.replace("`test_three_rotas`", "`test_b_after_a`, `test_nobody_is_on_call`")
    model = sample.model(
        {
            ("comprehensive-reviewer", "*", "*"): {"artifact_markdown": table},
            ("implementer", "*", "*"): script.change(script.GUARD, script.TEST, both),
        }
    )
    assert sample.forge("run", "Guard the start", "--effort", "S", "--model", model).code == 3
    assert sample.forge("approve", "--model", model).code == 0
    state = json.loads(sample.forge("status", "--json").out)
    assert state["verification"]["requirements"]["failed"] == ["test_b_after_a"]
    assert state["verification"]["requirements"]["ran"] == ["test_nobody_is_on_call"]
    assert "`test_b_after_a` (⚠️ fails alone)" in (
        (sample.workspace / "pull-request.md").read_text()
    )


def test_a_table_whose_names_all_ran_is_not_remarked_on(sample: Sample) -> None:
    whole = "\n".join(
        line for line in TABLE.splitlines() if not line.startswith(("| R-2", "| R-3", "| R-4"))
    )
    model = sample.model({("comprehensive-reviewer", "*", "*"): {"artifact_markdown": whole}})
    assert sample.forge("run", "Guard the start", "--effort", "S", "--model", model).code == 3
    assert sample.forge("approve", "--model", model).code == 0
    found = json.loads(sample.forge("status", "--json").out)["verification"]["requirements"]
    assert (found["ran"], found["untested"]) == (["test_nobody_is_on_call"], [])
    assert "(⚠️" not in (sample.workspace / "pull-request.md").read_text()


def test_a_symbol_beside_its_file_a_test_file_that_is_asked_for_and_a_page_need_no_remark(
    sample: Sample,
) -> None:
    row = next(line for line in TABLE.splitlines() if line.startswith("| R-1"))
    table = "\n".join(
        line for line in TABLE.splitlines() if not line.startswith(("| R-2", "| R-3", "| R-4"))
    ).replace(
        row,
        "| R-1: the start | `rota/schedule.py:14`, through `Schedule.on_call`, `gone.py` | `test_nobody_is_on_call` | met |\n"
        "| R-2: `tests/test_schedule.py` is green | unchanged | its tests pass | met |\n"
        "| R-3: the page says it | `README.md` | none needed | met |",
    )
    model = sample.model({("comprehensive-reviewer", "*", "*"): {"artifact_markdown": table}})
    assert sample.forge("run", "Guard the start", "--effort", "S", "--model", model).code == 3
    assert sample.forge("approve", "--model", model).code == 0
    found = json.loads(sample.forge("status", "--json").out)["verification"]["requirements"]
    assert (found["notFound"], found["untested"]) == (["gone.py"], [])


def test_a_file_that_is_named_beside_its_tests_does_not_make_each_of_them_run_alone(
    sample: Sample,
) -> None:
    table = "\n".join(
        line for line in TABLE.splitlines() if not line.startswith(("| R-2", "| R-3", "| R-4"))
    ).replace(
        "`test_nobody_is_on_call`, `…_is_on_call`",
        "`tests/test_before.py`, `test_nobody_is_on_call`, `test_weeks`",
    )
    later = script.TEST["new"] + "\n    def test_weeks(self):\n        self.assertTrue(Schedule)\n"
    model = sample.model(
        {
            ("comprehensive-reviewer", "*", "*"): {"artifact_markdown": table},
            ("implementer", "*", "*"): script.change(script.GUARD, {**script.TEST, "new": later}),
        }
    )
    assert sample.forge("run", "Guard the start", "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    said = " ".join((done.out + done.err).split())
    alone = said.partition("The tests that the requirements name run alone.")[2]
    assert alone.count("✓ python3 -m unittest") == 2, "once for both tests, once for their file"
    found = json.loads(sample.forge("status", "--json").out)["verification"]["requirements"]
    assert set(found["ran"]) == {"tests/test_before.py", "test_nobody_is_on_call", "test_weeks"}
