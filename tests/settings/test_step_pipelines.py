"""Pipelines of steps are read and checked before a run begins, each problem with its line."""

import pytest

from forge_bot.engine import Pipeline, StepPipeline
from forge_bot.engine.phases import GatePhase, PublishPhase, StepPhase
from forge_bot.errors import BadPipeline
from forge_bot.settings.load_pipeline import load_pipeline
from tests.settings.own_pipelines import own_descriptor, own_pipeline

SEED = """\
pipeline_id: scaffold
steps:
  - step: orient
    kind: resource
    resource: "forge://project/{project_id}/context"
    required: true

  - step: contract
    kind: resource
    resource: "forge://glove/{node_kind}/{stack}"
    input_map:
      node_kind: "intent.inferred_nodes[0].kind"
      stack: "init.detected_stack"

  - step: confirm
    kind: elicitation
    elicitation_schema: ScaffoldConfirmation
    gate: true

  - step: emit
    kind: tool
    tool: forge_scaffold
    input_map:
      intent_id: "declare_intent.record_id"

  - step: write_output
    kind: fs_write
    tool: fs_write_file
    input_map:
      path: "emit.output_path"
      content: "emit.file_content"

  - step: verify
    kind: tool
    tool: forge_verify
    input_map:
      project_path: "context.project_path"
"""


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


def test_the_published_example_names_four_steps_that_it_does_not_have() -> None:
    with pytest.raises(BadPipeline) as caught:
        own_pipeline("scaffold", SEED)
    place = ".forge/pipelines/scaffold.yaml"
    node_kind, intent = "steps.1.input_map.node_kind", "steps.3.input_map.intent_id"
    project = "steps.5.input_map.project_path"
    said = [line.partition(";")[0] for line in caught.value.details]
    assert said == [
        f"{place}:12: {node_kind}: 'intent.inferred_nodes[0].kind': nothing gives 'intent'",
        f"{place}:13: steps.1.input_map.stack: 'init.detected_stack': nothing gives 'init'",
        f"{place}:24: {intent}: 'declare_intent.record_id': nothing gives 'declare_intent'",
        f"{place}:23: steps.3.input_map: 'name' is missing, which the step needs",
        f"{place}:24: {intent}: it takes no 'intent_id'",
        f"{place}:37: {project}: 'context.project_path': nothing gives 'context'",
    ]


SCAN = "{step: scan, kind: tool, tool: forge_scan}"
ASK = "{step: ask, kind: elicitation}"


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
            ("{step: a, kind: tool, tool: forge_query, input_map: {name: b.sentence}}",
             "{step: b, kind: tool, tool: forge_query, input_map: {name: a.sentence}}"),
            "'b.sentence': 'b' is given by this step or a later one",
        ),
        (
            ("{step: a, kind: tool, tool: forge_query, input_map: {name: a.sentence}}",),
            "'a' is given by this step or a later one",
        ),
        (
            (SCAN, "{step: a, kind: tool, tool: forge_query, input_map: {name: 'scan['}}"),
            "it is no JMESPath expression",
        ),
        (
            ("{step: w, kind: fs_write, input_map: {path: inputs.request, content: inputs.request}}",),
            "it writes, and no step before it asks a person: set `gate: true`",
        ),
        (
            (ASK, "{step: text, kind: llm, prompt: Write}",
             "{step: w, kind: fs_write, input_map: {path: inputs.request, content: text.text}}"),
            "it takes what 'text' gives, which is not known when 'ask' asks",
        ),
        (("{step: h, kind: human}",), "says in its title what is to be done"),
        (
            ("{step: a, kind: resource, resource: 'forge://glove/{kind}/python'}",),
            "'kind' of the address is missing",
        ),
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


@pytest.mark.parametrize(
    "path",
    [
        "scan.findings[0].message",
        "scan.findings[?code=='SCAN-001'].path | [0]",
        "join(', ', scan.findings[].node)",
        "inputs.request",
        "project.stack || 'python'",
        "to_string(scan.total)",
    ],
)
def test_paths_of_jmespath_are_taken(path: str) -> None:
    asking = f'{{step: a, kind: tool, tool: forge_query, input_map: {{name: "{path}"}}}}'
    assert of_text(steps(SCAN, asking)).steps is not None


def test_a_pipeline_has_the_name_of_its_file() -> None:
    with pytest.raises(BadPipeline) as caught:
        own_pipeline("other", steps(SCAN))
    assert "'own'; the file is named 'other'" in caught.value.details[0]
