"""Tasks of a wave share one batch, and land in the order of the plan however it comes back."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_bot.agent.models.open_model import open_model
from forge_bot.errors import BatchUnderWay
from forge_bot.runs.outcome import Outcome
from tests.fakes import script
from tests.fakes.batches import BatchServer
from tests.fakes.model_server import JsonObject
from tests.runs.wave_scene import Planned, Stage, done, wrote

TWO = (Planned("1", ("a.txt",)), Planned("2", ("b.txt",)))


class TwoTasks(BatchServer):
    """Plans two tasks, and writes one file for each."""

    def answer_to(self, body: JsonObject) -> script.Answer:
        text = json.dumps(body)
        for task, name in (("1", "a.txt"), ("2", "b.txt")):
            if f"impl-{task}.md" in text:
                return dict(done(wrote(name, task)))
        return {"artifact_markdown": "# Tasks\n\n" + "\n".join(map(str, TWO))}


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoTasks]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-team-first")
    with TwoTasks() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def waits(here: Stage) -> None:
    """Go on until a batch is waited for."""
    with pytest.raises(BatchUnderWay):
        here.go_on(open_model("anthropic:claude-sonnet-5-5"))


@pytest.mark.slow
def test_tasks_of_a_wave_wait_together_and_land_in_their_order(
    tmp_path: Path, provider: TwoTasks
) -> None:
    here = Stage.made(tmp_path / "repo", {"README.md": "# A poem\n"})
    here.start(batch=True)
    waits(here)
    provider.end()
    waits(here)
    assert [len(each.questions) for each in provider.batches] == [1, 1, 1]
    provider.batches[-1].ended = True
    waits(here)
    assert not {"1", "2"} <= set(here.landed())
    provider.end()
    outcome, _ = here.go_on(open_model("anthropic:claude-sonnet-5-5"))
    assert outcome is Outcome.DONE
    assert {"a.txt": "1", "b.txt": "2"}.items() <= here.files().items()
    assert [task for task in here.landed() if task in {"1", "2"}] == ["1", "2"]
    assert Counter(provider.handed_in) == {"task-decomposer": 1, "implementer": 2}
