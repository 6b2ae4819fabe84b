"""The code branch gets a task's commit when the task is accepted, and what people do to it counts."""

import pytest

from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled

NAME = ("-c", "user.name=a", "-c", "user.email=a@b.c")


@pytest.fixture
def accepted(asked_sample: Sample) -> Sample:
    """A run that stopped after its task was accepted, before it is verified."""
    words = ("approve", "--until", "implementation", "--model", asked_sample.model())
    stopped = asked_sample.forge(*words)
    assert stopped.code == 3, stopped.err
    return asked_sample


def contains(sample: Sample, older: str, newer: str) -> bool:
    return sample.git_code("merge-base", "--is-ancestor", older, newer) == 0


def test_an_accepted_task_is_on_the_code_branch_and_in_the_run(accepted: Sample) -> None:
    code = accepted.offered
    assert accepted.git("rev-list", "--count", f"main..{code}") == "1"
    assert contains(accepted, code, accepted.branch)
    first = accepted.git("rev-parse", code)
    assert accepted.forge("resume", "--model", accepted.model()).code == 0
    assert accepted.git("rev-parse", code) == first, "it is made once"


@pytest.mark.parametrize("deed", sampled(["adds", "deletes", "rewrites", "checks out"], 2))
def test_what_a_person_does_to_the_code_branch_counts(accepted: Sample, deed: str) -> None:
    code, branch = accepted.offered, accepted.branch
    made = accepted.git("rev-parse", code)
    changed = accepted.git("diff", "--name-only", "main", code).split()
    if deed == "deletes":
        accepted.git("branch", "-qD", code)
    else:
        accepted.git("switch", "-q", code)
    if deed in {"adds", "rewrites"}:
        (accepted.path / "mine.txt").write_text("mine\n")
        accepted.git("add", "mine.txt")
        again = ("--amend", "--no-edit") if deed == "rewrites" else ("-m", "Mine")
        accepted.git(*NAME, "commit", "-q", *again)
        accepted.git("switch", "-q", "main")
    done = accepted.forge("resume", "--model", accepted.model())
    assert done.code == 0, done.err
    assert contains(accepted, made, branch), "nothing is lost"
    there = accepted.git("diff", "--name-only", "main", code).split()
    assert set(changed) <= set(there)
    assert ("mine.txt" in there) == (deed in {"adds", "rewrites"})
