"""What the graph of a project does in a run at the terminal: what a design reaches, names that are
not there, and rules that a change breaks.
"""

import json
from typing import Any

import pytest

from tests.fakes.sample import Sample
from tests.fakes.script import GUARD, HEADINGS, TEST, Answer, change, document, review

TASK = "`rota who` names somebody for days before the rota starts"
MANIFEST = """version: 1
nodes:
  rota/cli.py: {tier: surface}
"""
BREAKS = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": "from datetime import date, timedelta\n",
    "new": (
        "from datetime import date, timedelta\n\n\ndef command_line() -> object:\n"
        "    import rota.cli\n\n    return rota.cli\n"
    ),
}


def design(*items: str) -> Answer:
    text = str(document(*HEADINGS["architect"], title="fix: guard the start")["artifact_markdown"])
    listed = "".join(f"{item}\n" for item in items)
    return {"artifact_markdown": text.replace("## Changes\n\n", f"## Changes\n\n{listed}\n")}


def forbids(sample: Sample) -> None:
    """Commit a manifest by which only surfaces may import the command line."""
    manifest = sample.path / ".forge" / "manifest.yaml"
    manifest.parent.mkdir(exist_ok=True)
    manifest.write_text(MANIFEST)
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "rules")


def state(sample: Sample) -> dict[str, Any]:
    return json.loads((sample.workspace / "state.json").read_text())


@pytest.mark.slow
def test_a_rule_that_the_change_breaks_is_red_beside_green_tests_and_is_mended(
    sample: Sample,
) -> None:
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text("tries: {most: 0}\n")
    forbids(sample)
    mends = {**BREAKS, "old": BREAKS["new"], "new": BREAKS["old"]}
    model = sample.model(
        {
            ("implementer", "*", "1/1.1"): change(GUARD, TEST, BREAKS),
            ("implementer", "*", "fix-1/1.1"): change(mends),
            ("comprehensive-reviewer", "*", "*"): review("PASS", extra=["Requirements"]),
        }
    )
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    fix = next(task for task in state(sample)["tasks"] if task["origin"])
    assert "VERIFY-004 rota/schedule.py:" in json.dumps(fix["spec"]["acceptance"])
    assert "rota.cli" not in sample.git("show", f"{sample.branch}:rota/schedule.py")
    assert state(sample)["verification"]["red"] is False
