"""The process that holds a run keeps what a status shows. It is shown only for the bytes that it
was made from, and made anew from the reports wherever it is of no use.
"""

import json
import shutil
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.resources import templates
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.run_paths import run_paths
from tests.cli.test_modules import modules
from tests.fakes.sample import Sample

FOLDS = {"forge_bot.engine", "yaml"}


@pytest.fixture
def kept(asked_sample: Sample) -> Path:
    """The file in which the status of the run is kept."""
    repository = Repository.find(asked_sample.path)
    return run_paths(repository, resolve_run(repository, None).name).status


def told(sample: Sample) -> tuple[str, str]:
    return sample.forge("status").out, sample.forge("status", "--json").out


def test_a_kept_status_is_shown_without_folding_reports(asked_sample: Sample, kept: Path) -> None:
    assert kept.is_file()
    assert FOLDS & {*modules("status"), *modules("status", "--json")} == set()
    kept.unlink()
    assert {*modules("status")} >= FOLDS


@pytest.mark.parametrize("harm", ["gone", "torn", "empty", "other version", "folder"])
def test_a_status_that_is_of_no_use_is_made_anew(
    asked_sample: Sample, kept: Path, harm: str
) -> None:
    before = told(asked_sample)
    whole = kept.read_text(encoding="utf-8")
    made_up = json.loads(whole)
    made_up["shown"]["title"] = "Made up"
    kept.unlink()
    match harm:
        case "torn":
            kept.write_text(whole[: len(whole) // 2], encoding="utf-8")
        case "empty":
            kept.touch()
        case "other version":
            kept.write_text(json.dumps({**made_up, "made_from": "0" * 64}), encoding="utf-8")
        case "folder":
            kept.mkdir()
        case _:
            pass
    assert told(asked_sample) == before
    assert "Abandoned" in asked_sample.forge("abandon").out
    assert told(asked_sample) != before


def test_a_state_that_somebody_wrote_by_hand_is_not_shown(asked_sample: Sample) -> None:
    before = told(asked_sample)
    file = asked_sample.workspace / "state.json"
    file.write_text(
        file.read_text(encoding="utf-8").replace("awaiting_human", "completed"), encoding="utf-8"
    )
    assert told(asked_sample) == before


def test_reports_that_are_broken_are_told_though_a_status_was_kept(asked_sample: Sample) -> None:
    with (asked_sample.workspace / "reports.jsonl").open("a", encoding="utf-8") as file:
        file.write("{}\n")
    assert "reports.jsonl" in asked_sample.forge("status").err


def test_a_pipeline_that_changed_since_is_shown_as_it_is_now(asked_sample: Sample) -> None:
    own = asked_sample.path / ".forge" / "pipelines" / "develop.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(templates() / "pipelines" / "develop.yaml", own)
    text = own.read_text(encoding="utf-8")
    assert "label: Design\n" in text
    own.write_text(text.replace("label: Design\n", "label: Drawing\n"), encoding="utf-8")
    assert "Drawing" in asked_sample.forge("status").out


def test_a_configuration_that_is_broken_since_is_told(asked_sample: Sample) -> None:
    config = asked_sample.path / ".forge" / "config.yml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("budgets: 4\n", encoding="utf-8")
    assert "budgets" in asked_sample.forge("status").err
