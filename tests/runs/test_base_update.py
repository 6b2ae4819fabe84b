"""A run that is done takes in what came to its base branch, and is verified again."""

import json
import subprocess
from typing import Any

import pytest

from tests.fakes import script
from tests.fakes.sample import Said, Sample


def _commit(sample: Sample, place: str, **files: str) -> str:
    """Somebody commits files on a branch; main is checked out again."""
    sample.git("switch", "-q", place)
    for name, text in files.items():
        (sample.path / name).write_text(text)
    sample.git("add", *files)
    sample.git("commit", "-qm", f"Ann's {', '.join(files)}")
    sample.git("switch", "-q", "main")
    return sample.git("rev-parse", place)


def _update(sample: Sample, *options: str) -> Said:
    return sample.forge("update", *options, "--model", sample.model())


@pytest.fixture
def done(ended_sample: Sample) -> Sample:
    """A run that is done."""
    return ended_sample


def test_the_base_is_merged_verified_and_offered_and_what_was_approved_stands(done: Sample) -> None:
    offered, first = done.offered, done.git("rev-parse", done.offered)
    decided = _reports(done, '"decided"') + _reports(done, '"answered"')
    main = _commit(done, "main", news="news")
    said = _update(done)
    assert said.code == 0, said.out + said.err
    assert done.git("log", "-1", "--format=%P", offered).split() == [first, main]
    assert done.git("diff", "--stat", f"main...{offered}", "--", ".specs", "news") == ""
    assert _reports(done, '"commands_ran"') == 2
    assert _reports(done, '"decided"') + _reports(done, '"answered"') == decided
    assert "✓ Done" in said.out
    assert "(from main, 2 commits)" in said.out, "the change and the merge, not the base's own"
    assert "news" not in said.out.partition("✓ Done")[2]


def _reports(sample: Sample, kind: str, branch: str = "") -> int:
    """The number of reports of a kind in the record of the run."""
    branch = branch or sample.branch
    names = sample.git("ls-tree", "-r", "--name-only", branch, ".specs").splitlines()
    record = next(name for name in names if name.endswith("/reports.jsonl"))
    return sample.git("show", f"{branch}:{record}").count(f'"type":{kind}')


def _state(sample: Sample) -> dict[str, Any]:
    names = sample.git("ls-tree", "-r", "--name-only", sample.branch, ".specs").splitlines()
    place = next(name for name in names if name.endswith("/state.json"))
    return json.loads(sample.git("show", f"{sample.branch}:{place}"))


def _changed(done: Sample, branch: str) -> tuple[str, str]:
    """The file of the program that the run changed, and its text on the base."""
    (path,) = [
        name
        for name in done.git("diff", "--name-only", f"main...{branch}").splitlines()
        if not name.startswith(("tests/", ".specs/"))
    ]
    return path, (done.path / path).read_text()


def _conflict(done: Sample, branch: str = "") -> tuple[str, str, str]:
    """Somebody appends to the base where the run's change stands: the file, and its text on both
    sides.
    """
    branch = branch or done.offered
    path, before = _changed(done, branch)
    ours = done.git("show", f"{branch}:{path}") + "\n"
    gone = next(
        number
        for number, (old, new) in enumerate(
            zip(before.splitlines(), ours.splitlines(), strict=False)
        )
        if old != new
    )
    lines = before.splitlines(keepends=True)
    theirs = "".join((*lines[:gone], "THEIRS = 1\n", *lines[gone:]))
    (done.path / path).write_text(theirs)
    done.git("commit", "-qam", "Theirs")
    return path, ours, theirs


@pytest.mark.slow
def test_a_conflict_is_a_task_that_lands_as_one_merge_with_both_sides(done: Sample) -> None:
    offered, first = done.offered, done.git("rev-parse", done.offered)
    path, ours, _ = _conflict(done)
    main = done.git("rev-parse", "main")
    both = {"path": path, "operation": "write", "old": "", "new": f"THEIRS = 1\n{ours}"}
    said = done.forge(
        "update", "--model", done.model({("implementer", "*", "*"): script.change(both)})
    )
    assert said.code == 0, said.out + said.err
    assert done.git("log", "-1", "--format=%P", offered).split() == [first, main]
    assert done.git("show", f"{offered}:{path}") == both["new"].strip()
    assert done.git("diff", "--stat", offered, done.branch, "--", ".", ":!.specs") == ""
    shown = done.forge("show", "conflicts-1.md").out
    assert ("THEIRS = 1" in shown, path in shown) == (True, True)
    (task,) = [each for each in _state(done)["tasks"] if each["origin"]]
    assert (task["origin"], task["spec"]["files"]) == ("conflicts-1.md", [path])


@pytest.mark.slow
def test_a_conflict_that_is_not_solved_is_a_question_and_is_never_offered(done: Sample) -> None:
    offered, first = done.offered, done.git("rev-parse", done.offered)
    path, ours, _ = _conflict(done)
    left = script.change()
    said = done.forge("update", "--model", done.model({("implementer", "*", "*"): left}))
    assert said.code == 3, said.out + said.err
    gate = _state(done)["gate"]
    assert (gate["options"], gate["task"]) == (["reject"], "fix-1")
    told = " ".join(said.out.split())
    assert f"{path} still has conflict markers" in told
    assert done.git("rev-parse", offered) == first
    both = {"path": path, "operation": "write", "old": "", "new": f"THEIRS = 1\n{ours}"}
    said = done.forge(
        "reject",
        "Keep both",
        "--model",
        done.model({("implementer", "*", "*"): script.change(both)}),
    )
    assert said.code == 0, said.out + said.err
    assert done.git("show", f"{offered}:{path}") == both["new"].strip()
    assert done.git_code("merge-base", "--is-ancestor", "main", offered) == 0


@pytest.mark.slow
def test_what_no_task_can_solve_is_left_to_a_person_whose_merge_the_run_takes_and_verifies(
    done: Sample,
) -> None:
    offered, branch = done.offered, done.branch
    changed, _ = _changed(done, offered)
    before = done.git("rev-parse", branch)
    done.git("rm", "-q", changed)
    done.git("commit", "-qm", "Theirs")
    said = _update(done)
    told = " ".join(said.err.split())
    assert ("RUN-005" in told, changed in told) == (True, True)
    assert done.git("rev-parse", branch) == before
    command = f"git switch {offered} && git merge main"
    assert command in told
    subprocess.run(command, shell=True, cwd=done.path, capture_output=True, check=False)  # noqa: S602 - as a person types it
    done.git("add", changed)
    done.git("commit", "-qm", "Join")
    done.git("switch", "-q", "main")
    joined = done.git("rev-parse", offered)
    said = _update(done)
    assert said.code == 0, said.out + said.err
    assert done.git("rev-parse", offered) == joined
    assert done.git_code("merge-base", "--is-ancestor", joined, branch) == 0
    assert _reports(done, '"commands_ran"', branch) == 2
