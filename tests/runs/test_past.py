"""The newest past runs are read, and told to agents."""

import subprocess
from pathlib import Path

import pytest

from forge_bot.engine.reports import Answer
from forge_bot.git import Repository
from forge_bot.knowledge.history import RUNS_READ, history_at
from tests.fakes.bench import DEVELOP
from tests.fakes.finished import Demo, Finished, committed, finished
from tests.knowledge.run_scene import MAJOR, answered, past_state, report_lines, reviewed

SUMMARY = DEVELOP.summary


@pytest.fixture
def played(played_demo: Demo) -> Repository:
    return played_demo.repository


@pytest.fixture
def run(played: Repository, tmp_path: Path) -> Finished:
    """The demo's run after thirty others."""
    return finished(played, tmp_path, 30)


def test_agents_are_told_of_past_runs_and_only_those_that_are_shown_them_make_anybody_look(
    run: Finished,
) -> None:
    judging = next(step for step in run.steps if step.action.agent == "design-reviewer")
    assert run.prompt(judging)[1].similar == ()
    designing = next(step for step in run.steps if step.action.agent == "architect")
    noted = answered(Answer.REJECT, "rota next must say who is on call")
    remarks = ("rota next prints the wrong person on call", "Colours are pale")
    review = reviewed(*((MAJOR, remark) for remark in remarks))
    record = {
        "state.json": past_state(),
        "summary.md": "## Improvement Report\n\n### Friction\n\n- rota next has two clocks\n",
        "reports.jsonl": report_lines(noted, review),
    }
    base = committed(run, {f".specs/20200101-past/{name}": text for name, text in record.items()})
    material = run.prompt(designing._replace(state=designing.state.replace(base_commit=base)))[1]
    assert material.patterns == (
        "[a person sent work back] rota next must say who is on call (in 1 run)",
        "[MAJOR] rota next prints the wrong person on call (seen 1 times)",
    )
    told = run.prompts.past_runs("who is on call by rota next")
    assert told.partition("\n\nLessons of past runs:\n")[2].splitlines() == [
        "- [a person sent work back] rota next must say who is on call (in 1 run)",
        "- [MAJOR] rota next prints the wrong person on call (seen 1 times)",
        "- [an agent got stuck] rota next has two clocks",
    ]
    assert run.prompts.past_runs("zebra") == "No past run is like this."


def test_the_newest_runs_are_read_and_no_more(run: Finished) -> None:
    more = {
        f".specs/2030-{number:03}/state.json": past_state(title="New")
        for number in range(RUNS_READ - 1)
    }
    runs = history_at(run.repository, committed(run, more), SUMMARY).runs
    before = history_at(run.repository, run.base, SUMMARY).runs
    assert (len(before), len(runs)) == (30, RUNS_READ)
    (kept,) = [each.name for each in runs if each.title != "New"]
    assert kept == max(each.name for each in before)


def test_what_a_partial_clone_has_not_fetched_is_not_read(run: Finished, tmp_path: Path) -> None:
    git = ("git", "-C", str(run.repository.root))
    subprocess.run([*git, "config", "uploadpack.allowFilter", "true"], check=True)
    clone = tmp_path / "partial"
    words = ("clone", "-q", "--no-checkout", "--filter=blob:none", run.repository.root.as_uri())
    subprocess.run(["git", *words, str(clone)], check=True)
    partial = Repository.find(clone)
    before = sorted((partial.common_dir / "objects").rglob("*"))
    assert history_at(partial, run.base, SUMMARY).runs == []
    assert sorted((partial.common_dir / "objects").rglob("*")) == before


def test_folders_that_hold_no_run_are_passed_over(run: Finished) -> None:
    base = committed(
        run,
        {
            ".specs/notes/readme.md": "x",
            ".specs/file.md": "x",
            ".specs/\u200bodd/state.json": past_state(),
        },
    )
    assert len(history_at(run.repository, base, SUMMARY).runs) == 30
