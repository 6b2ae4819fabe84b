"""Pipelines of steps are read and checked before a run begins, each problem with its line."""

import pytest

from forge_bot.engine import Pipeline
from forge_bot.engine.phases import GatePhase, PublishPhase, StepPhase
from forge_bot.engine.pipeline import StepPipeline
from forge_bot.errors import BadPipeline
from forge_bot.settings.load_pipeline import load_pipeline
from tests.fakes.rows import rows
from tests.settings.own_pipelines import own_descriptor, own_pipeline

ROWS = rows(__file__)

SEED: str = ROWS["seed"]


def of_text(text: str) -> Pipeline:
    return own_pipeline("own", text)


def steps(*lines: str) -> str:
    return "\n".join(("pipeline_id: own", "steps:", *(f"- {line}" for line in lines), ""))


@pytest.mark.parametrize("name", ["scaffold", "audit"])
def test_the_shipped_ones_ask_before_they_write_and_end_with_a_pull_request(name: str) -> None:
    pipeline = load_pipeline(name, None)
    kinds = [type(phase) for phase in pipeline.phases]
    writing = next(
        place
        for place, phase in enumerate(pipeline.phases)
        if isinstance(phase, StepPhase) and phase.step.kind == "fs_write"
    )
    assert GatePhase in kinds[:writing]
    assert PublishPhase in kinds[writing:]
    assert pipeline.speaking == ()


def test_a_file_without_a_kind_that_has_steps_is_one_of_steps() -> None:
    text = steps("{step: look, kind: tool, tool: forge_scan}")
    found = own_descriptor("own", text)
    assert isinstance(found, StepPipeline)


def test_the_published_example_is_read_as_it_stands() -> None:
    pipeline = own_pipeline("scaffold", SEED).steps
    assert pipeline is not None
    assert [step.kind for step in pipeline.steps] == [
        "resource", "resource", "elicitation", "tool", "fs_write", "tool",
    ]  # fmt: skip


SCAN = "{step: scan, kind: tool, tool: forge_scan}"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((SCAN, SCAN), "own.yaml:4: steps.1.step: 'scan' stands twice"),
        (("{step: inputs, kind: tool, tool: forge_scan}",), "a name of forge-bot's own"),
        (("{step: a, kind: tool, tool: forge_fly}",), "there is no tool 'forge_fly'; tools: forge"),
        (("{step: a, kind: resource, resource: 'forge://moon'}",), "no resource 'forge://moon'"),
        (("{step: a, kind: tool}",), "a step of kind 'tool' names its tool"),
        (("{step: A b, kind: tool, tool: forge_scan}",), "String should match pattern"),
        (
            ("{step: w, kind: fs_write, input_map: {path: inputs.request, content: inputs.request}}",),
            "it writes, and no step before it asks a person: set `gate: true`",
        ),
        (("{step: h, kind: human}",), "says in its title what is to be done"),
        ((), "own.yaml:2: steps: Tuple should have at least 1 item"),
    ],
)  # fmt: skip
def test_a_pipeline_that_cannot_run_is_refused_with_the_place(
    lines: tuple[str, ...], said: str
) -> None:
    text = steps(*lines) if lines else "pipeline_id: own\nsteps: []\n"
    with pytest.raises(BadPipeline) as caught:
        of_text(text)
    assert any(said in line for line in caught.value.details), caught.value.details
    assert all(line.startswith(".forge/pipelines/own.yaml:") for line in caught.value.details)


def test_a_pipeline_has_the_name_of_its_file() -> None:
    with pytest.raises(BadPipeline) as caught:
        own_pipeline("other", steps(SCAN))
    assert "'own'; the file is named 'other'" in caught.value.details[0]
