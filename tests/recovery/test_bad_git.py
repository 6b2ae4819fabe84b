"""What git may be like when a run goes on: each is gone on with, or told with a way out, and
nothing is lost.
"""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled

NAME = ("-c", "user.name=p", "-c", "user.email=p@p.p")
PERSON = "mine.txt"


def remote(sample: Sample, *branches: str) -> Path:
    """A remote of the sample, with some of its branches."""
    place = sample.path.parent / "remote.git"
    sample.git("init", "-q", "--bare", "-b", "main", str(place))
    sample.git("remote", "add", "origin", str(place))
    sample.git("push", "-q", "origin", "main", *branches)
    return place


def approve(sample: Sample, *words: str) -> str:
    """Approve, with `words`; what is printed."""
    said = sample.forge("approve", *words, "--model", sample.model())
    return " ".join(f"{said.code} {said.out} {said.err}".split())


def the_runs_branch_is_deleted(sample: Sample) -> Iterator[str]:
    tip = sample.git("rev-parse", branch := sample.branch)
    sample.git("update-ref", "-d", f"refs/heads/{branch}")
    yield f"was deleted. REQUEST-004 → Bring it back: git branch {branch} {tip}"
    sample.git("branch", branch, tip)


def the_commit_is_damaged(sample: Sample) -> Iterator[str]:
    tip = sample.git("rev-parse", branch := sample.branch)
    file = sample.path / ".git" / "objects" / tip[:2] / tip[2:]
    whole = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(b"")
    yield "A file of git is damaged, as after a power cut"
    file.write_bytes(whole)
    sample.git("update-ref", f"refs/heads/{branch}", f"{tip}^")


def the_remote_declines(sample: Sample) -> Iterator[str]:
    hook = remote(sample) / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    yield "not today"
    hook.unlink()


@pytest.mark.parametrize(
    "case", sampled([the_runs_branch_is_deleted, the_commit_is_damaged, the_remote_declines], 3)
)
def test_what_stops_a_run_is_told_with_a_way_out_after_which_it_goes_on(
    asked_sample: Sample, case: Callable[[Sample], Iterator[str]]
) -> None:
    push = ("--push",) if case is the_remote_declines else ()
    steps = case(asked_sample)
    words = next(steps)
    assert words in approve(asked_sample, *push)
    assert next(steps, None) is None
    # A question that was not shown in the record as it is now is shown, or a step is tried again.
    said = next(filter(lambda said: said[0] == "0", (approve(asked_sample, *push) for _ in "123")))
    assert "git merge" in said
    assert PERSON not in asked_sample.git("ls-tree", "--name-only", asked_sample.offered)


def the_code_branch_is_force_pushed(sample: Sample, place: Path) -> str:
    code = sample.offered
    sample.git("push", "-q", "origin", code)
    other = place.parent / "other"
    sample.git("clone", "-q", "--branch", code, str(place), str(other))
    (other / PERSON).write_text("mine\n")
    for words in (["add", "-A"], [*NAME, "commit", "-q", "--amend", "-m", "Rewritten"]):
        sample.git("-C", str(other), *words)
    sample.git("-C", str(other), "push", "-qf", "origin", code)
    return sample.git("-C", str(other), "rev-parse", "HEAD")


def the_code_branch_is_rebased(sample: Sample, place: Path) -> str:
    del place
    before = sample.git("branch", "--show-current")
    sample.git(*NAME, "commit", "-q", "--allow-empty", "-m", "The base goes on")
    sample.git("switch", "-q", sample.offered)
    sample.git(*NAME, "rebase", "-q", "main")
    rebased = sample.git("rev-parse", "HEAD")
    sample.git("switch", "-q", before)
    return rebased


def one_ref_of_two_was_written(sample: Sample, place: Path) -> str:
    del place
    made = sample.git("rev-parse", sample.offered)
    sample.git("update-ref", "-d", f"refs/heads/{sample.offered}")
    return made


def a_commit_was_written_and_no_ref(sample: Sample, place: Path) -> str:
    del place
    tip = sample.git("rev-parse", sample.branch)
    sample.git(*NAME, "commit-tree", "-p", tip, "-m", "lost", f"{tip}^{{tree}}")
    return sample.git("rev-parse", sample.offered)


@pytest.mark.parametrize(
    "case",
    sampled(
        [
            the_code_branch_is_force_pushed,
            the_code_branch_is_rebased,
            one_ref_of_two_was_written,
            a_commit_was_written_and_no_ref,
        ],
        4,
    ),
)
def test_a_run_goes_on_and_keeps_what_is_on_the_code_branch(
    accepted_sample: Sample, case: Callable[[Sample, Path], str]
) -> None:
    place = remote(accepted_sample)
    code = accepted_sample.offered
    kept = case(accepted_sample, place)
    done = accepted_sample.forge("resume", "--push", "--model", accepted_sample.model())
    assert done.code == 0, done.err
    there = ("--git-dir", str(place))
    assert accepted_sample.git_code(*there, "merge-base", "--is-ancestor", kept, code) == 0
    assert accepted_sample.git("rev-parse", code) == accepted_sample.git(*there, "rev-parse", code)


@pytest.mark.slow
@pytest.mark.parametrize("lacks", ["--depth=1", "--filter=blob:none"])
def test_a_clone_that_lacks_objects_leads_a_run_of_its_own_and_is_told_what_another_needs(
    asked_sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    asked_sample.git(*NAME, "commit", "-q", "--allow-empty", "-m", "more")
    place = remote(asked_sample, asked_sample.branch)
    asked_sample.git("--git-dir", str(place), "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    words = ("clone", "-q", lacks, "--no-single-branch", f"file://{place}", str(clone))
    subprocess.run(["git", *words], check=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(clone)
    begun = asked_sample.forge(
        "run",
        "Something else",
        "--effort",
        "S",
        "--auto",
        "--push",
        "--model",
        asked_sample.model(),
    )
    assert begun.code == 0, begun.err
    branch = asked_sample.branch
    if lacks == "--depth=1":
        assert "git fetch --unshallow" in approve(asked_sample, "--run", branch)
        subprocess.run(["git", "fetch", "-q", "--unshallow"], check=True)
    assert approve(asked_sample, "--run", branch).startswith("0")
