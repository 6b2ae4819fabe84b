"""What a table of requirements names is looked for and run before a person is asked to merge."""

import json

import pytest

from tests.fakes import script
from tests.fakes.rows import rows
from tests.fakes.sample import Sample

ROWS = rows(__file__)

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
TABLE: str = ROWS["table"]


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
    assert "names tests that were not seen to run" in said
    return json.loads(sample.forge("status", "--json").out)["verification"]["requirements"]


def test_names_that_do_not_exist_or_did_not_run_are_marked_and_gaps_are_said_first(
    sample: Sample,
) -> None:
    found = ended(sample)
    assert found["document"] == "comprehensive-review.md"
    assert found["ran"] == ["test_nobody_is_on_call", "…_is_on_call"]
    assert found["notRun"] == ["tests/test_later.py::Later::test_two_rotas", "test_three_rotas"]

    offered = (sample.workspace / "pull-request.md").read_text()
    rows = {line[2:5]: line for line in offered.splitlines() if line.startswith("| R-")}
    assert "⚠️" not in rows["R-1"]
    assert rows["R-1"].endswith(" | green |")
    assert rows["R-2"].endswith(" | by reading |")
    assert rows["R-4"].endswith(" | – |")
    assert "`test_two_rotas` (⚠️ not seen to run)" in rows["R-3"]
    assert "`test_three_rotas` (⚠️ not seen to run)" in rows["R-4"]

    document = (sample.workspace / "final-verification.md").read_text()
    assert "- comprehensive-review.md names tests that were not seen to run: " in document
