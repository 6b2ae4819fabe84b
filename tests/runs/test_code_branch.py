"""The code branch gets a task's commit when the task is accepted, what people do to it counts, and a
run that is done takes in what came to its base branch, and is verified again.
"""

import json
import subprocess

import pytest

from tests.fakes.sample import Said, Sample
from tests.fakes.sampled import sampled

TASK = "Nobody is on call before the rota starts"
NAME = ("-c", "user.name=a", "-c", "user.email=a@b.c")


def contains(sample: Sample, older: str, newer: str) -> bool:
    return sample.git_code("merge-base", "--is-ancestor", older, newer) == 0


def test_an_accepted_task_is_on_the_code_branch_and_in_the_run(accepted_sample: Sample) -> None:
    code = accepted_sample.offered
    assert accepted_sample.git("rev-list", "--count", f"main..{code}") == "1"
    assert contains(accepted_sample, code, accepted_sample.branch)
    first = accepted_sample.git("rev-parse", code)
    assert accepted_sample.forge("resume", "--model", accepted_sample.model()).code == 0
    assert accepted_sample.git("rev-parse", code) == first, "it is made once"


@pytest.mark.parametrize("deed", sampled(["adds", "deletes", "rewrites", "checks out"], 4))
def test_what_a_person_does_to_the_code_branch_counts(accepted_sample: Sample, deed: str) -> None:
    code, branch = accepted_sample.offered, accepted_sample.branch
    made = accepted_sample.git("rev-parse", code)
    changed = accepted_sample.git("diff", "--name-only", "main", code).split()
    if deed == "deletes":
        accepted_sample.git("branch", "-qD", code)
    else:
        accepted_sample.git("switch", "-q", code)
    if deed in {"adds", "rewrites"}:
        (accepted_sample.path / "mine.txt").write_text("mine\n")
        accepted_sample.git("add", "mine.txt")
        again = ("--amend", "--no-edit") if deed == "rewrites" else ("-m", "Mine")
        accepted_sample.git(*NAME, "commit", "-q", *again)
        accepted_sample.git("switch", "-q", "main")
    done = accepted_sample.forge("resume", "--model", accepted_sample.model())
    assert done.code == 0, done.err
    assert contains(accepted_sample, made, branch), "nothing is lost"
    there = accepted_sample.git("diff", "--name-only", "main", code).split()
    assert set(changed) <= set(there)
    assert ("mine.txt" in there) == (deed in {"adds", "rewrites"})


def commits(sample: Sample, branch: str, text: str, name: str = "mine.txt") -> str:
    """A person's commit on a branch, whatever is checked out before and after."""
    before = sample.git("branch", "--show-current")
    sample.git("switch", "-q", branch)
    (sample.path / name).write_text(text)
    sample.git("add", name)
    sample.git(*NAME, "commit", "-qm", "Mine")
    sample.git("switch", "-q", before)
    return sample.git("rev-parse", branch)


def recorded(sample: Sample, name: str) -> str:
    """A document of the run, as its branch has it."""
    branch = sample.git("for-each-ref", "--format=%(refname)", "refs/heads/feature")
    folder = sample.git("ls-tree", "--name-only", branch, ".specs/")
    return sample.git("show", f"{branch}:{folder}/{name}")


def reported(sample: Sample) -> list[str]:
    """The commits of people that the run has reports about, the oldest first."""
    reports = map(json.loads, recorded(sample, "reports.jsonl").splitlines())
    return [report["commit"] for report in reports if report["type"] == "people_committed"]


@pytest.mark.slow
def test_commits_while_a_question_is_open_are_in_the_run_before_its_tasks_begin(
    sample: Sample,
) -> None:
    sample.git("switch", "-qc", "mine")
    model = sample.model()
    asked = sample.forge("run", TASK, "--effort", "S", "--here", "--model", model)
    assert asked.code == 3, asked.err
    theirs = commits(sample, "mine", "mine\n")
    assert sample.forge("approve", "--until", "implementation", "--model", model).code == 3
    assert reported(sample) == [theirs]
    assert contains(sample, theirs, "mine~1")
    assert sample.git("status", "--porcelain") == ""
    done = sample.forge("resume", "--model", model)
    assert (done.code, reported(sample)) == (0, [theirs]), done.err


@pytest.mark.slow
def test_commits_after_a_task_are_judged_by_the_verification(accepted_sample: Sample) -> None:
    case = "class Theirs(unittest.TestCase):\n    test_theirs = unittest.TestCase.fail\n"
    theirs = commits(
        accepted_sample,
        accepted_sample.offered,
        f"import unittest\n\n\n{case}",
        "tests/test_theirs.py",
    )
    accepted_sample.forge("resume", "--model", accepted_sample.model())
    assert reported(accepted_sample) == [theirs]
    assert "test_theirs" in recorded(accepted_sample, "final-verification.md")


def test_commits_that_change_the_same_lines_are_told_with_the_way_to_join_both(
    accepted_sample: Sample,
) -> None:
    code, made = accepted_sample.offered, accepted_sample.git("rev-parse", accepted_sample.offered)
    accepted_sample.git("switch", "-q", "-C", code, "main")
    theirs = commits(accepted_sample, code, "# theirs\n", "rota/schedule.py")
    done = accepted_sample.forge(
        "resume", "--until", "implementation", "--model", accepted_sample.model()
    )
    assert f"merge {made[:12]}" in " ".join((done.out + done.err).split())
    assert (accepted_sample.git("rev-parse", code), reported(accepted_sample)) == (theirs, [])
    assert accepted_sample.git_code("merge", "-q", "-X", "ours", made) == 0
    joined = accepted_sample.git("rev-parse", code)
    accepted_sample.forge("resume", "--until", "implementation", "--model", accepted_sample.model())
    assert reported(accepted_sample) == [joined]


def _update(sample: Sample, *options: str) -> Said:
    return sample.forge("update", *options, "--model", sample.model())


@pytest.fixture
def done(ended_sample: Sample) -> Sample:
    """A run that is done."""
    return ended_sample


def test_the_base_is_merged_verified_and_offered_and_what_was_approved_stands(done: Sample) -> None:
    offered, first = done.offered, done.git("rev-parse", done.offered)
    decided = _reports(done, '"decided"') + _reports(done, '"answered"')
    main = commits(done, "main", "news", "news")
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


def _changed(done: Sample, branch: str) -> tuple[str, str]:
    """The file of the program that the run changed, and its text on the base."""
    (path,) = [
        name
        for name in done.git("diff", "--name-only", f"main...{branch}").splitlines()
        if not name.startswith(("tests/", ".specs/"))
    ]
    return path, (done.path / path).read_text()


@pytest.mark.slow
def test_a_conflict_is_left_to_a_person_whose_merge_the_run_takes_and_verifies(
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
