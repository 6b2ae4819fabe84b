"""A run that is begun in the issue thread can stay in one folder."""

import pytest

from tests.bot.stage import Stage, heard


@pytest.mark.slow
def test_a_command_names_the_folder_and_an_edit_outside_of_it_waits(stage: Stage) -> None:
    job = heard(stage.say("/forge --in=rota/ Say nobody before the start"))
    assert job.code == 0, job.log
    assert stage.state["flags"]["scope"] == "rota"
    stage.say("/approve")
    assert stage.state["gate"]["reason"] == "protected_paths"
    assert "tests/test_before.py" in stage.said("checkpoint")[-1]


def test_a_folder_that_is_not_there_is_answered_with_a_way_out(stage: Stage) -> None:
    heard(stage.say("/forge --in packages/api Say nobody before the start"))
    began, told = stage.said()
    assert "No run was begun" in began
    assert "no tracked file" not in began
    assert "--in packages/api: no tracked file lies there." in told
    assert "Give a folder from the root of the repository down" in told
