"""A phase is a record in the pipeline and a template: a repository adds two of them, touches
nothing else, and they count as ours do.
"""

import json

import pytest

from forge_bot.resources import templates
from tests.fakes.sample import Sample
from tests.fakes.script import document, review

TASK = "`rota who` names somebody for days before the rota starts"

PHASES = """\
  - id: phase-2b
    kind: agent
    label: Threat Model
    agent: threat-modeller
    reads: [request.md, analysis.md]
    writes: threats.md
    caption: the threats
    headings: [Assets, Threats]

  - id: phase-2c
    kind: review
    label: Threat Review
    agent: threat-reviewer
    reads: [request.md, threats.md]
    writes: review-threats.md
    caption: what the reviewer says of the threats
    headings: [Verdict, Findings]
    verdicts: [APPROVE, REVISE]
    rounds: 1
    sends_back_to: phase-2b

"""
TEMPLATE = """\
{% set meaning = {"Assets": "what could be harmed", "Threats": "who could harm it, and how"} %}
{% block role %}
# Threat work

You look at what could be harmed.

{% endblock %}
{% block contract %}
## What you write

{% include "_headings.md.j2" %}
{% endblock %}
{% include "_untrusted.md.j2" %}
{% include "_delivery_answer.md.j2" %}
"""


@pytest.fixture
def threats(sample: Sample) -> Sample:
    """The sample repository with two phases of its own before the design."""
    shipped = (templates() / "pipelines" / "develop.yaml").read_text(encoding="utf-8")
    files = {
        "pipelines/develop.yaml": shipped.replace(
            "  - id: phase-3\n", f"{PHASES}  - id: phase-3\n"
        ),
        "prompts/threat-modeller.md.j2": TEMPLATE,
        "prompts/threat-reviewer.md.j2": TEMPLATE,
    }
    for name, text in files.items():
        path = sample.path / ".forge" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "Our own phases")
    # One pipeline for both, and a template for each.
    assert len(sample.git("diff", "--name-only", "HEAD~1").splitlines()) == 3
    return sample


@pytest.mark.slow
def test_a_phase_and_a_review_that_a_repository_adds_run_to_the_end_and_count(
    threats: Sample,
) -> None:
    model = threats.model(
        {
            ("threat-modeller", "*", "*"): document("Assets", "Threats", body="The dates."),
            ("threat-reviewer", "*", "1.1"): review("REVISE", "[MAJOR] Swaps are missing"),
            ("threat-modeller", "*", "2.1"): document(
                "Assets", "Threats", body="The dates and the swaps."
            ),
            ("threat-reviewer", "*", "2.1"): review("APPROVE", "[MINOR] Say who swaps"),
        }
    )
    waiting = threats.forge("run", TASK, "--effort", "M", "--model", model)
    assert waiting.code == 3, waiting.err
    assert "Threat Review REVISE" in waiting.out
    assert "The dates and the swaps." in (threats.workspace / "threats.md").read_text()
    status = threats.forge("status").out
    assert "Threat Model" in status
    assert "Threat Review" in status
    assert "The dates and the swaps." in threats.forge("show", "threats").out
    assert threats.forge("approve", "--model", model).code == 0
    state = json.loads((threats.workspace / "state.json").read_text())
    assert state["rounds"]["phase-2c"] == 1
    assert state["artifacts"]["review-threats.md"]["verdict"] == "APPROVE"
    assert {"phase-2b", "phase-2c"} <= set(state["completedPhases"])
    text = (threats.workspace / "pull-request.md").read_text()
    assert "- **MINOR** Say who swaps" in text
