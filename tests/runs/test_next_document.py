"""At efforts S and M one answer may hold the documents up to the design; each is a document of its
own.
"""

import json
from typing import Any

import pytest

from forge_bot.artifacts.markdown import lower_headings, split_documents
from forge_bot.prompts.assemble import assemble
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import Material, NextDocument
from tests.fakes import script
from tests.fakes.sample import Sample

ANALYST = "situation-analyst-investigator"
TASK = "`rota who` names somebody for days before the rota starts"
TITLE = "fix: name nobody before the start"


def markdown(agent: str, title: str) -> str:
    return str(script.document(*script.HEADINGS[agent], title=title)["artifact_markdown"])


def both(design: str) -> script.Answer:
    return {"artifact_markdown": f"{markdown(ANALYST, 'Analysis')}\n{design}"}


def status(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


@pytest.mark.slow
def test_one_answer_gives_both_documents_and_no_architect_is_paid(sample: Sample) -> None:
    design = markdown("architect", TITLE)
    model = sample.model({(ANALYST, "*", "*"): both(design)})
    asked = sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert asked.code == 3, asked.err
    state = status(sample)
    assert state["gate"]["name"] == "checkpoint-a"
    assert state["usage"]["calls"] == 1
    assert (sample.workspace / "design.md").read_text() == design
    assert "## Approach" not in (sample.workspace / "analysis.md").read_text()
    assert sample.forge("approve", "--model", model).code == 0
    assert status(sample)["usage"]["calls"] == 3
    assert "Task 1: name nobody before the start" in (sample.workspace / "tasks.md").read_text()
    assert "name nobody before the start" in sample.git("log", "-1", "--format=%s", sample.offered)


def test_a_rejected_design_is_written_anew_by_the_architect(sample: Sample) -> None:
    model = sample.model({(ANALYST, "*", "*"): both(markdown("architect", TITLE))})
    sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert sample.forge("reject", "say who instead", "--model", model).code == 3
    assert (sample.workspace / "design.md").read_text() == markdown("architect", "Document")
    assert status(sample)["usage"]["calls"] == 2


def test_a_design_that_lacks_a_part_goes_back_with_the_analysis(sample: Sample) -> None:
    whole = markdown("architect", TITLE)
    lacking = whole.replace("## Risks", "## Dangers")
    model = sample.model({(ANALYST, "*", "1.1"): both(lacking), (ANALYST, "*", "*"): both(whole)})
    asked = sample.forge("run", TASK, "--effort", "S", "--model", model)
    assert asked.code == 3, asked.err
    assert status(sample)["usage"]["calls"] == 2
    assert (sample.workspace / "design.md").read_text() == whole


def test_the_first_line_names_the_second_title_and_a_title_in_a_code_block_is_none() -> None:
    fenced = "# One\n\n```python\n# not a title\n```\n"
    assert split_documents(fenced) == (fenced,)
    assert split_documents(f"{fenced}\n# Two\n\nText.\n") == (fenced, "# Two\n\nText.\n")


def test_a_role_below_another_keeps_its_example_as_it_is() -> None:
    text = "# Role\n\n## Form\n\n~~~markdown\n# Title\n~~~\n"
    assert lower_headings(text, 2) == "### Role\n\n#### Form\n\n~~~markdown\n# Title\n~~~\n"


def test_the_prompt_offers_the_later_role_below_its_own() -> None:
    later = NextDocument(
        output_file="design.md", agent="architect", phase="phase-3", headings=("Approach",)
    )
    material = Material(
        agent=ANALYST,
        phase="phase-1",
        label="Situation Analysis",
        delivery="answer",
        workspace=".specs/x",
        output_file="analysis.md",
        branch="feature/x",
        base="main",
        next_documents=(later,),
    )
    role = assemble(material, Environment()).role
    assert role.index("# Situation Analyst") < role.index("write `design.md` too")
    assert role.index("write `design.md` too") < role.index("\n### Architect\n")
    assert "\n# Architect" not in role
