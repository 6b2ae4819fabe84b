"""Tests that fail now and then do not make a run red, and are named where the run is judged."""

import json
from pathlib import Path

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"
FLAKY = "test_now_and_then (tests.test_flaky.Flaky.test_now_and_then)"


def with_flaky_test(sample: Sample, counter: Path, outcomes: str, config: str = "") -> None:
    """Add a test with these outcomes, `F` for a failure, in the order of its runs."""
    (sample.path / "tests" / "test_flaky.py").write_text(
        "import os, unittest\nfrom pathlib import Path\n\n\n"
        "class Flaky(unittest.TestCase):\n    def test_now_and_then(self):\n"
        "        counter = Path(os.environ['COUNTER'])\n"
        "        seen = counter.read_text() if counter.exists() else ''\n"
        "        counter.write_text(seen + '.')\n"
        f"        self.assertNotEqual('{outcomes}'[len(seen):][:1], 'F')\n"
    )
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(
        f"sandbox: 'off'\nenvironment:\n  COUNTER: {counter}\n{config}"
    )
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "flaky")


def verified(sample: Sample, model: str) -> int:
    """Lead a run to its end; its exit code."""
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    return sample.forge("approve", "--model", model).code


@pytest.mark.slow
def test_a_flaky_test_is_named_in_every_document(sample: Sample, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    # The baseline, the verification, then alone: twice after, once before.
    with_flaky_test(sample, counter, ".F." + "F", "tries:\n  most: 0\n")
    model = sample.model()
    assert verified(sample, model) == 0
    state = json.loads(sample.forge("status", "--json").out)
    assert state["verification"]["red"] is False
    (result,) = state["verification"]["results"]
    assert result["flaky"] == [FLAKY]
    assert counter.read_text() == "....."

    document = (sample.workspace / "final-verification.md").read_text()
    assert "but for 1 flaky test" in document
    assert "has flaky tests, which are not judged" in document
    assert f"passed in another of the same code: {FLAKY}" in document
    offered = (sample.workspace / "pull-request.md").read_text()
    row = next(line for line in offered.splitlines() if line.startswith("* ⚠️ **test**"))
    assert "flaky: `tests.test_flaky.Flaky.test_now_and_then`" in row
    assert sample.git("status", "--porcelain") == ""


BUILD = "import os, shutil\nos.makedirs('built', exist_ok=True)\nshutil.copytree('rota', 'built/rota')\n"
CHECK = (
    "import sys\nfrom datetime import date\nsys.path[0] = 'built'\n"
    "from rota.schedule import Schedule\n"
    "of_two = Schedule(('ann', 'bob'), date(2026, 1, 5)).on_call(date(2026, 1, 12))\n"
    "sys.exit(of_two != 'bob')\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("setup", ["setup: []", "setup: [[python3, -c, '']]"])
def test_a_regression_that_a_test_sees_in_what_was_built_is_not_taken_for_flaky(
    sample: Sample, setup: str
) -> None:
    """Without a build of their own, reruns at the base commit would judge the code of the change,
    or none.
    """
    for name, text in {
        ".forge/config.yml": (
            f"sandbox: 'off'\ntries: {{most: 0}}\ncommands:\n  {setup}\n"
            "  build: [[python3, build.py]]\n  test: [[python3, check.py]]\n"
        ),
        ".gitignore": "/built/\n__pycache__/\n",
        "build.py": BUILD,
        "check.py": CHECK,
    }.items():
        (sample.path / name).parent.mkdir(exist_ok=True)
        (sample.path / name).write_text(text, encoding="utf-8")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "built")
    verified(sample, sample.model({("implementer", "*", "*"): script.change(script.BREAKS)}))
    reports = (sample.workspace / "reports.jsonl").read_text().splitlines()
    before, *after = [
        each["results"][-1]
        for each in map(json.loads, reports)
        if each["type"] in {"prepared", "commands_ran"}
    ]
    assert before["exitCode"] == 0
    assert after
    assert {each["exitCode"] for each in after} == {1}
    assert not any(each.get("flaky") for each in after)
    state = json.loads(sample.forge("status", "--json").out)
    assert any(task["origin"] for task in state["tasks"]), "the regression went back"
