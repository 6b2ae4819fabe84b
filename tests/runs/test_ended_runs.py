"""The record of an ended run has a ref of its own, which is no branch, and is found from there by
any clone.
"""

import subprocess
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.knowledge.history import history_at
from forge_bot.runs.find_runs import resolve_run, runs
from forge_bot.runs.run_files import is_kept, keep_record
from tests.fakes.bench import DEVELOP
from tests.fakes.sample import Sample

pytestmark = pytest.mark.slow

TASK = "Nobody is on call before the rota starts"
ENDED = "refs/forge-bot/runs"


def _run(sample: Sample, *options: str) -> str:
    done = sample.forge("run", TASK, "--effort", "S", "--auto", *options, "--model", sample.model())
    assert done.code == 0, done.err
    return " ".join((done.out + done.err).split())


def _name(sample: Sample) -> str:
    return sample.git("ls-tree", "--name-only", f"{sample.branch}:.specs").splitlines()[-1]


def _git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@x.example")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def remote(sample: Sample, tmp_path: Path) -> Path:
    """A remote that has the main branch."""
    place = tmp_path / "remote.git"
    sample.git("init", "-q", "--bare", "-b", "main", str(place))
    sample.git("remote", "add", "origin", str(place))
    sample.git("push", "-q", "origin", "main")
    return place


def _clone(remote: Path, place: Path) -> Repository:
    subprocess.run(["git", "clone", "-q", str(remote), str(place)], check=True)
    return Repository.find(place)


def test_the_ref_keeps_what_the_run_and_its_offer_were_beside_no_other_branch(
    sample: Sample,
) -> None:
    said = _run(sample)
    ref = f"{ENDED}/{_name(sample)}"
    assert ref in said
    parents = sample.git("log", "-1", "--format=%P", ref).split()
    assert parents == sample.git("rev-parse", sample.branch, sample.offered).split()
    assert sample.git("diff", "--stat", sample.branch, ref) == ""


def test_a_fresh_clone_without_the_branches_finds_shows_recalls_and_retries_the_run(
    sample: Sample, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(sample, "--push")
    name, branch, head = _name(sample), sample.branch, sample.git("rev-parse", sample.branch)
    for each in (branch, sample.offered):
        sample.git("push", "-q", "origin", "--delete", each)
    subprocess.run(["git", "-C", str(remote), "gc", "-q", "--prune=now"], check=True)
    clone = _clone(remote, tmp_path / "clone")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other-state"))
    there = ("--repo", str(clone.root))
    assert sample.forge("show", "summary.md", "--run", name, *there).out.strip() != ""
    (found,) = runs(clone)
    assert (found.name, found.ended) == (name, True)
    assert f"its record is {found.kept}" in " ".join(sample.forge("list", *there).out.split())
    assert clone.branches() == ("main",)
    history = history_at(clone, clone.commit_id("main"), DEVELOP.summary)
    assert [entry.name for entry in history.similar(TASK)] == [name]
    said = sample.forge("resume", "--run", name, *there, "--model", sample.model())
    assert "is over: completed" in said.err + said.out
    words = ("retry", "final-commit", "--run", name, *there, "--push", "--model", sample.model())
    said = sample.forge(*words)
    assert said.code == 0, said.err
    assert _git(clone.root, "merge-base", "--is-ancestor", head, branch) == ""
    assert _git(remote, "rev-parse", f"{ENDED}/{name}^1") == _git(clone.root, "rev-parse", branch)


def test_a_run_that_ended_on_two_machines_keeps_the_commits_of_both(
    sample: Sample, remote: Path, tmp_path: Path
) -> None:
    here, there = Repository.find(sample.path), _clone(remote, tmp_path / "other")
    heads = [_ended(sample.path, "here"), _ended(there.root, "there")]
    for repository, head in zip((here, there), heads, strict=True):
        for _ in range(2):
            assert keep_record(repository, "20260101-run", head, "", push=True) == ""
    assert all(is_kept(there, "20260101-run", head, at_origin=True) for head in heads)
    ref = f"{ENDED}/20260101-run"
    assert _git(remote, "rev-parse", ref) == there.commit_id(ref)


def test_a_remote_that_forbids_the_ref_gets_the_branches_and_that_is_said(
    sample: Sample, remote: Path
) -> None:
    hook = remote / "hooks" / "update"
    hook.write_text("#!/bin/sh\ncase $1 in refs/heads/*) ;; *) echo no records; exit 1 ;; esac\n")
    hook.chmod(0o755)
    said = _run(sample, "--push")
    assert f"is on the branch {sample.branch}" in said
    assert "no records" in said
    for each in (sample.branch, sample.offered):
        assert _git(remote, "rev-parse", each) == sample.git("rev-parse", each)
    assert _git(remote, "for-each-ref", ENDED) == ""
    assert resolve_run(Repository.find(sample.path), None).branch == sample.branch


def _ended(folder: Path, text: str) -> str:
    """Return the head of a branch with a record of a run."""
    _git(folder, "switch", "-q", "--detach", "main")
    place = folder / ".specs" / "20260101-run"
    place.mkdir(parents=True)
    (place / "reports.jsonl").write_text(f"{text}\n")
    _git(folder, "add", "-f", ".specs")
    _git(folder, "commit", "-qm", f"Record {text}")
    head = _git(folder, "rev-parse", "HEAD")
    _git(folder, "switch", "-q", "main")
    return head
