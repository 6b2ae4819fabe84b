"""Pipelines of steps in the issue thread, begun by a label or a command."""

import json

import pytest

from tests.bot.stage import Stage


@pytest.mark.promise("design-steps")
def test_an_audit_goes_from_its_label_to_a_pull_request_without_a_model(stage: Stage) -> None:
    stage.repo.bare.commit(
        "main", {"rota/broken.py": "def (:\n"}, "Break it", "ann <a@b.c>", stage.hub.clock.tick()
    )
    stage.label("forge:audit")
    stage.label()
    (question,) = stage.said("checkpoint")
    assert "is not read whole: line 1 cannot be parsed" in question
    stage.say("/approve")
    assert stage.state["currentPhaseStatus"] == "completed", stage.said()
    assert stage.state["usage"]["calls"] == 0
    (path,) = [name for name in stage.files() if name.startswith(".annotations/")]
    kept = json.loads(stage.files()[path])
    assert (kept["code"], kept["node"]) == ("SCAN-001", "rota/broken.py")


def test_a_command_names_the_pipeline_and_the_text_its_inputs(stage: Stage) -> None:
    stage.say("/forge --pipeline=scaffold\nname: price list")
    (question,) = stage.said("checkpoint")
    assert "rota/price_list.py" in question
    stage.say("/approve")
    assert "rota/price_list.py" in stage.files()
