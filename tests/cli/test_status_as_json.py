"""`status --json` prints one JSON object and nothing else, whatever lies about; its keys are those
of the page that describes it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.engine.budget import Budget, Reservation
from forge_bot.engine.reports import RunFlags
from forge_bot.engine.state import (
    ArtifactRecord,
    Decision,
    LogEntry,
    Note,
    OpenGate,
    Showing,
    ShownVersion,
    State,
    Stuck,
    TaskState,
    Verification,
    Wave,
)
from forge_bot.runs.finding_runs.batch_wait import BatchWait
from forge_bot.runs.past_runs.estimate import Estimate
from forge_bot.values import CommandResult, Finding, Frozen, Source, TaskSpec, Usage
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python

TASK = "Nobody is on call before the rota starts"
PAGE = Path(__file__).parents[2] / "docs" / "state.md"

OBJECTS: dict[str, tuple[type[Frozen], ...]] = {
    "The run": (State,),
    "`source`": (Source,),
    "`artifacts.NAME`": (ArtifactRecord,),
    "`tasks[]`": (TaskState,),
    "`gate`": (OpenGate,),
    "`decisions[]`": (Decision,),
    "`usage`": (Usage,),
    "`baseline[]`, `verification.results[]`": (CommandResult,),
    "`estimate`": (Estimate,),
    "`batch`": (BatchWait,),
}
"""Section of the page → what its first column describes."""

IN_PASSING = (
    RunFlags,
    Budget,
    Reservation,
    Wave,
    Note,
    LogEntry,
    Verification,
    Finding,
    TaskSpec,
    Stuck,
    ShownVersion,
    Showing,
)
"""Small objects whose keys are told where they occur."""


def keys(value: type[Frozen]) -> set[str]:
    return set(value.model_json_schema(by_alias=True, mode="serialization")["properties"])


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_has_every_key_and_no_other() -> None:
    assert set(sections()) == set(OBJECTS)
    for heading, text in sections().items():
        first_column = "".join(
            line.split("|")[1] for line in text.splitlines() if line.startswith("| `")
        )
        assert set(re.findall(r"`(\w+)`", first_column)) == set().union(
            *(keys(value) for value in OBJECTS[heading])
        ), heading


def test_small_objects_are_told_where_they_occur() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    assert [value for value in IN_PASSING if not keys(value) <= named] == []


def printed(sample: Sample) -> dict[str, object]:
    """What a process of its own writes, which nobody's notices may disturb: the state, after the
    estimate is taken out.
    """
    done = subprocess.run(
        [warm_python(), "-m", "forge_bot", "status", "--json"],
        cwd=sample.path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    Estimate.model_validate(found.pop("estimate"))
    State.model_validate_json(json.dumps(found))
    return found


def test_it_is_the_state_with_all_its_keys(
    asked_sample: Sample,
) -> None:
    found = printed(asked_sample)
    assert set(found) == keys(State) - {"sentBack", "acceptedDoubts"}
    assert found == json.loads((asked_sample.workspace / "state.json").read_text())


def test_neither_a_broken_state_nor_an_edited_document_nor_an_odd_configuration_adds_a_word(
    asked_sample: Sample,
) -> None:
    before = printed(asked_sample)
    (asked_sample.workspace / "state.json").write_text("{ broken")
    (asked_sample.workspace / "design.md").write_text("# Changed by hand\n")
    (asked_sample.path / ".forge").mkdir()
    (asked_sample.path / ".forge" / "config.yml").write_text("sandbox: off\n")
    assert printed(asked_sample) == before
    asked_sample.git("worktree", "remove", "--force", str(asked_sample.workspace.parents[1]))
    assert printed(asked_sample)["run"] == before["run"]


@pytest.mark.slow
def test_it_is_the_same_whatever_standard_output_can_encode(sample: Sample) -> None:
    sample.forge(
        "run",
        "当番表を直す: nobody – “on call” 🙂 before the start",
        "--effort",
        "S",
        "--model",
        sample.model(),
    )
    expected = json.loads((sample.workspace / "state.json").read_text(encoding="utf-8"))
    assert "当番表" in expected["title"]
    for encoding in ("ascii", "utf-16", "utf-8", "latin-1", "cp1252"):
        command = [sys.executable, "-m", "forge_bot", "status", "--json"]
        environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
        done = subprocess.run(
            command, cwd=sample.path, env=environment, capture_output=True, check=True
        )
        text = done.stdout.decode(encoding)
        assert text.isascii()
        assert json.loads(text)["title"] == expected["title"], encoding
