"""The page of a job: how it ended, and what comes next, for whoever looks there first."""

import os
import signal
from pathlib import Path

import pytest

from tests.bot.stage import Stage, heard
from tests.bot.test_real_processes import children, hanging


def summary(stage: Stage) -> str:
    """What the newest job's page shows."""
    return (stage.folder / f"job-{stage.jobs}" / "summary").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_end_is_named_on_the_page_of_its_job_with_the_next_move(
    stage: Stage, tmp_path: Path
) -> None:
    heard(stage.say("/forge", by="stranger"))
    assert "**refused**" in summary(stage)
    assert "Somebody with the role write or higher can say it in a new comment" in summary(stage)

    stage.label()
    assert "Waiting for a person" in summary(stage)
    assert "exit code 0" in summary(stage)
    assert f"`/approve {stage.state['gate']['digest'][:7]}` to go on" in summary(stage)

    with hanging(stage, folder(tmp_path, "cancelled")) as job:
        job.send_signal(signal.SIGINT)
        job.wait(20)
    assert "Somebody cancelled it, or its time was up" in summary(stage)
    assert "`/forge retry`" in summary(stage)

    with hanging(stage, folder(tmp_path, "killed")) as job:
        os.kill(children(job.pid)[0], signal.SIGKILL)
        job.wait(60)
    assert "❌ Failed" in summary(stage)
    assert "exit code 1" in summary(stage)
    assert "`/forge retry`" in summary(stage)

    stage.model()
    heard(stage.say("/forge retry"))
    assert "✅ Done" in summary(stage)
    assert f"/pull/{stage.pull.number}" in summary(stage)
    assert "Merging is up to you" in summary(stage)


def folder(path: Path, name: str) -> Path:
    """A folder for a pipe of its own."""
    (path / name).mkdir()
    return path / name
