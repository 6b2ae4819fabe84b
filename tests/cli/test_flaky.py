"""Tests that fail now and then do not make a run red, and are named where the run is judged."""

import json

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"


def verified(sample: Sample, model: str) -> int:
    """Lead a run to its end; its exit code."""
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    return sample.forge("approve", "--model", model).code


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
