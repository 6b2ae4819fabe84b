"""The demo leaves other files alone, and its record holds nothing but what it needs; the README's
lines play it.
"""

from pathlib import Path

from forge_bot.agent.models.open_model import read_exchanges
from forge_bot.resources import templates
from tests.fakes.sample import Sample

RECORD = templates() / "demo" / "record.jsonl"


def test_a_folder_that_is_not_empty_is_left_alone(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("kept")
    refused = sample.forge("demo", str(tmp_path / "mine"), "--yes")
    assert refused.code == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["work.txt"]


def test_the_record_names_its_agents_and_phases_and_holds_no_secret() -> None:
    exchanges = read_exchanges(RECORD)
    assert {exchange.agent for exchange in exchanges} >= {
        "situation-analyst",
        "architect",
        "implementer",
        "impl-reviewer",
    }
