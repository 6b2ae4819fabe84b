"""`status --json` prints one JSON object and nothing else, whatever lies about; its keys are those
of the page that describes it.
"""

import json
import re
import subprocess
from pathlib import Path

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
from forge_bot.runs.find_runs import RunStanding
from forge_bot.values import CommandResult, Finding, Frozen, Source, TaskSpec, Usage
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python

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
    "`standing`": (RunStanding,),
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
    """What a process of its own writes, which nobody's notices may disturb: the state, after
    the standing is taken out.
    """
    done = subprocess.run(
        [warm_python(), "-m", "forge_bot", "status", "--json"],
        cwd=sample.path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert RunStanding.model_validate(found.pop("standing")).question == "checkpoint-a"
    State.model_validate_json(json.dumps(found))
    return found


def test_it_is_the_state_with_all_its_keys(asked_sample: Sample) -> None:
    found = printed(asked_sample)
    assert set(found) == keys(State) - {"agreed", "sentBack", "acceptedDoubts", "pause"}
    assert found == json.loads((asked_sample.workspace / "state.json").read_text())
