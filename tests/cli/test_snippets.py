"""An agent tries a few lines on the code before the change, and the record has what came of it."""

import json

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample

ANALYST = "situation-analyst-investigator"
CODE = """
import os, socket
from datetime import date
from rota.schedule import Schedule
print(Schedule(("ann",), date(2026, 1, 5)).on_call(date(2026, 1, 4)), "SECRET" in os.environ)
try:
    socket.create_connection(("93.184.215.14", 80), 2)
except OSError as error:
    print("no network")
open("rota/written.py", "w").write("")
print("carried:", os.path.exists("conf/local.env"))
Schedule((), date(2026, 1, 5)).week(date(2026, 1, 4))
"""
BUILT = """\
commands: {build: test -s conf/local.env}
carry: [conf/local.env]
"""


def test_a_snippet_before_the_design_is_run_on_the_base_and_stands_in_the_record(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    for name, text in ((".forge/config.yml", BUILT), (".gitignore", "*.env\n")):
        (sample.path / name).parent.mkdir(exist_ok=True)
        (sample.path / name).write_text(text)
    sample.git("add", "-A")
    sample.git("commit", "-qm", "The build needs a file that git ignores")
    (sample.path / "conf").mkdir()
    (sample.path / "conf/local.env").write_text("KIND=local\n")
    wish = {
        "provider": "run_snippet",
        "params_json": json.dumps({"code": CODE}),
        "reasoning": "to see it",
    }
    turns = {
        (ANALYST, "*", "1.1"): {"requests": [wish], "actions": []},
        (ANALYST, "*", "1.2"): script.document(*script.HEADINGS[ANALYST]),
    }
    model = sample.model(turns)
    begun = sample.forge("run", "say nobody before the start", "--effort", "S", "--model", model)
    assert begun.code == 3, begun.err
    kept = (sample.workspace / "snippets.md").read_text()
    assert "ann False\nno network\ncarried: False\nTraceback" in kept, kept
    assert kept.partition("Traceback")[2].count("  File ") == 1
    assert "in on_call\n" in kept
    assert "\nZeroDivisionError: " in kept
    assert "✓ test -s conf/local.env" in begun.out
    assert sample.git("status", "--porcelain") == ""
    assert not (sample.path / "rota" / "written.py").exists()
    path = f".specs/{sample.workspace.name}/snippets.md"
    assert sample.git("show", f"{sample.branch}:{path}") == kept.rstrip("\n")


@pytest.mark.slow
def test_a_snippet_that_does_not_end_is_ended_after_ten_seconds_with_what_it_printed(
    sample: Sample,
) -> None:
    endless = {
        "provider": "run_snippet",
        "params_json": json.dumps(
            {"code": "import time\nfor n in range(999): print('at', n)\ntime.sleep(60)"}
        ),
        "reasoning": "to see it",
    }
    turns = {
        (ANALYST, "*", "1.1"): {"requests": [endless], "actions": []},
        (ANALYST, "*", "1.2"): script.document(*script.HEADINGS[ANALYST]),
    }
    model = sample.model(turns)
    begun = sample.forge("run", "say nobody before the start", "--effort", "S", "--model", model)
    assert begun.code == 3, begun.err
    kept = (sample.workspace / "snippets.md").read_text()
    assert "It did not end within 10 seconds.\nat 0\nat 1\n" in kept
    assert "\n[…]\n" in kept
    assert "\nat 998\n" in kept
