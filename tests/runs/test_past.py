"""Past runs are read once, and a prompt asks git as often among many of them as among none."""

import json
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.knowledge.past_runs import DocumentNames, PastRun
from forge_bot.runs.past_runs.past_run_index import history_at, memory, past_runs
from tests.fakes.bench import DEVELOP
from tests.fakes.finished import Demo, Finished, committed, finished
from tests.fakes.processes import started_by

MOST_CALLS = 9
DOCUMENTS = DocumentNames.of(DEVELOP)


def read_all(asked: tuple[Repository, str]) -> tuple[PastRun, ...]:
    """What one process knows of the past runs of a commit."""
    return past_runs(*asked, DOCUMENTS)


@pytest.fixture
def played(played_demo: Demo) -> Repository:
    return played_demo.repository


@pytest.fixture
def run(played: Repository, tmp_path: Path) -> Finished:
    """The demo's run after thirty others."""
    return finished(played, tmp_path, 30)


@pytest.mark.slow
def test_a_prompt_asks_git_a_few_times_however_many_runs_there_were(
    played: Repository, tmp_path: Path
) -> None:
    counts: list[list[int]] = []
    first: list[int] = []
    for past in (0, 3, 120):
        place = tmp_path / str(past)
        place.mkdir()
        run = finished(played, place, past)
        first.append(len(started_by(lambda run=run: run.prompt(run.steps[0]))))
        for step in run.steps:
            run.prompt(step)
        counts.append(
            [len(started_by(lambda run=run, step=step: run.prompt(step))) for step in run.steps]
        )
    assert counts[0] == counts[1] == counts[2]
    assert max(counts[0]) <= MOST_CALLS
    assert first[1] == first[2], "the first prompt reads all past runs with the same calls"


def test_agents_are_told_of_past_runs_and_only_those_that_are_shown_them_make_anybody_look(
    run: Finished,
) -> None:
    history_at.cache_clear()
    judging = next(step for step in run.steps if step.action.agent == "design-reviewer")
    assert run.prompt(judging)[1].similar == ()
    assert not memory(run.repository).exists()
    designing = next(step for step in run.steps if step.action.agent == "architect")
    noted = {
        "type": "answered",
        "gate": "checkpoint-a",
        "answer": "reject",
        "notes": "rota next must say who is on call",
    }
    found = (
        "## Verdict: REVISE\n\n## Findings\n\n- [MAJOR] rota next prints the wrong person on"
        " call\n- [MAJOR] Colours are pale\n"
    )
    record = {
        "request.md": "# A past run\n",
        "review-design.md": found,
        "summary.md": "## Improvement Report\n\n### Friction\n\n- rota next has two clocks\n",
        "reports.jsonl": f"{json.dumps(noted)}\n",
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
    assert memory(run.repository).exists()


@pytest.mark.slow
def test_what_was_read_once_is_remembered_and_the_same(run: Finished) -> None:
    first = past_runs(run.repository, run.base, DOCUMENTS)
    assert len(first) == 30
    assert first[0].findings or first[1].findings
    again: list[object] = []
    calls = started_by(lambda: again.append(past_runs(run.repository, run.base, DOCUMENTS)))
    assert again == [first]
    assert not any("cat-file" in call for call in calls)


@pytest.mark.slow
def test_only_workspaces_that_changed_are_read_again(run: Finished) -> None:
    before = past_runs(run.repository, run.base, DOCUMENTS)
    changed = before[4].name
    base = committed(
        run,
        {
            f".specs/{changed}/request.md": "# Another title\n\nAnother text.\n",
            ".specs/29991231-new/request.md": "# New\n",
        },
    )
    after = {each.name: each for each in past_runs(run.repository, base, DOCUMENTS)}
    assert len(after) == 31
    assert after["29991231-new"].title == "New"
    assert after[changed].request == "Another text."
    assert {name for name in after if after[name] not in before} == {changed, "29991231-new"}
    assert past_runs(run.repository, run.base, DOCUMENTS) == before, (
        "an older commit still tells what it told"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", ["", "not a memory", '{"pastRuns":2,"version":"0.0.0-other"}\n', "\n\xff\xfe"]
)
def test_a_memory_that_is_broken_or_of_another_version_is_made_anew(
    run: Finished, damage: str
) -> None:
    whole = past_runs(run.repository, run.base, DOCUMENTS)
    text = memory(run.repository).read_bytes()
    memory(run.repository).write_bytes(damage.encode("latin-1"))
    assert past_runs(run.repository, run.base, DOCUMENTS) == whole
    assert memory(run.repository).read_bytes() == text


@pytest.mark.slow
def test_processes_that_read_all_of_them_at_once_leave_one_whole_memory(run: Finished) -> None:
    asked = [(run.repository, run.base)] * 3
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as processes:
        found = list(processes.map(read_all, asked))
    text = memory(run.repository).read_bytes()
    assert found == [past_runs(run.repository, run.base, DOCUMENTS)] * 3
    assert memory(run.repository).read_bytes() == text, "nothing was missing in what is kept"
    assert len(text.splitlines()) == 1 + 30


@pytest.mark.slow
def test_where_nothing_can_be_remembered_past_runs_are_still_known(run: Finished) -> None:
    place = memory(run.repository).parent
    shutil.rmtree(place)
    place.write_text("a file where the folder should be")
    assert len(past_runs(run.repository, run.base, DOCUMENTS)) == 30


@pytest.mark.slow
def test_folders_that_hold_no_run_are_passed_over(run: Finished) -> None:
    base = committed(
        run,
        {
            ".specs/notes/readme.md": "x",
            ".specs/file.md": "x",
            ".specs/\u200bodd/request.md": "# x\n",
        },
    )
    assert (
        len(past_runs(run.repository, base, DOCUMENTS))
        == len(past_runs(run.repository, base, DOCUMENTS))
        == 30
    )
