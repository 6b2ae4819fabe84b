"""Pipelines of steps in the issue thread, begun by a label or a command."""

import json

import pytest

from tests.bot.stage import Stage

AUDIT = "forge:audit"


def broken(stage: Stage, text: str = "def (:\n") -> None:
    """A file on main that cannot be read whole."""
    files: dict[str, str | bytes | None] = {"rota/broken.py": text}
    stage.repo.bare.commit("main", files, "Break it", "ann <a@b.c>", stage.hub.clock.tick())


def asked(stage: Stage) -> str:
    """The question of an audit."""
    stage.label(AUDIT)
    stage.label()
    return stage.said("checkpoint")[-1]


@pytest.mark.slow
def test_an_audit_goes_from_its_label_to_a_pull_request_without_a_model(stage: Stage) -> None:
    broken(stage)
    question = asked(stage)
    assert "is not read whole: line 1 cannot be parsed" in question
    stage.say("/approve")
    assert stage.state["currentPhaseStatus"] == "completed", stage.said()
    assert stage.state["usage"]["calls"] == 0
    (path,) = [name for name in stage.files() if name.startswith(".annotations/")]
    kept = json.loads(stage.files()[path])
    assert (kept["code"], kept["node"]) == ("SCAN-001", "rota/broken.py")
