"""The records of ended runs lie on a branch of their own, and are found there from anywhere."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.knowledge.past_runs import DocumentNames
from forge_bot.runs.finding_runs.ended_records import (
    KeptRecord,
    keep_record,
    newest_records,
    recorded_on,
)
from forge_bot.runs.finding_runs.find_runs import runs
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.past_runs.past_run_reader import history_at
from tests.fakes.bench import DEVELOP
from tests.fakes.sample import Sample

pytestmark = pytest.mark.slow

TASK = "Nobody is on call before the rota starts"
RECORDS = "forge-bot/records"


def _run(sample: Sample, *options: str) -> str:
    done = sample.forge("run", TASK, "--effort", "S", "--auto", *options, "--model", sample.model())
    assert done.code == 0, done.err
    return done.out


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


def test_the_branch_begins_without_files_and_keeps_what_the_run_and_its_offer_were(
    sample: Sample,
) -> None:
    said = _run(sample)
    assert f"branch {RECORDS}" in said
    first = sample.git("rev-list", "--first-parent", RECORDS).splitlines()[-1]
    assert sample.git("ls-tree", first) == ""
    parents = sample.git("log", "-1", "--format=%P", RECORDS).split()
    assert parents == [first, *sample.git("rev-parse", sample.branch, sample.offered).split()]
    files = sample.git("ls-tree", "-r", "--name-only", RECORDS).splitlines()
    assert files
    assert all(name.startswith(f".specs/{_name(sample)}/") for name in files)
    assert sample.git("diff", "--stat", sample.branch, RECORDS, "--", ".specs") == ""


def test_a_fresh_clone_without_the_branches_finds_shows_and_resumes_the_run(
    sample: Sample, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(sample, "--push")
    name, branch, head = _name(sample), sample.branch, sample.git("rev-parse", sample.branch)
    for each in (branch, sample.offered):
        sample.git("push", "-q", "origin", "--delete", each)
    subprocess.run(["git", "-C", str(remote), "gc", "-q", "--prune=now"], check=True)
    clone = _clone(remote, tmp_path / "clone")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other-state"))
    (found,) = runs(clone)
    assert (found.name, found.kept_on, found.ended) == (name, f"origin/{RECORDS}", True)
    there = ("--repo", str(clone.root))
    assert f"its record is on origin/{RECORDS}" in sample.forge("list", *there).out
    assert sample.forge("show", "summary.md", *there).out.strip() != ""
    assert clone.branches() == ("main",)
    said = sample.forge("resume", "--run", name, *there, "--model", sample.model())
    assert "is over: completed" in said.err + said.out
    said = sample.forge("retry", "final-commit", "--run", name, *there, "--model", sample.model())
    assert said.code == 0, said.err
    assert _git(clone.root, "merge-base", "--is-ancestor", head, branch) == ""


def test_a_later_run_recalls_it_and_names_the_commit_that_it_recalls_from(
    sample: Sample, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(sample, "--push")
    name = _name(sample)
    clone = _clone(remote, tmp_path / "clone")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other-state"))
    said = sample.forge(
        "run", "Say who is next on call", "--effort", "S", "--repo", str(clone.root),
        "--model", sample.model(),
    )  # fmt: skip
    assert said.code == 3, said.err
    later = next(info for info in runs(clone) if info.name != name)
    assert later.tree is not None
    state = json.loads((later.tree / ".specs" / later.name / "state.json").read_text())
    pinned = _git(clone.root, "rev-parse", f"origin/{RECORDS}")
    assert state["recallsFrom"] == pinned
    documents = DocumentNames.of(DEVELOP)
    history = history_at(clone, state["baseCommit"], documents, pinned)
    assert [entry.name for entry in history.similar(TASK, exclude=later.name)] == [name]
    assert history_at(clone, state["baseCommit"], documents).similar(TASK, exclude="") == ()


def test_a_branch_that_was_deleted_at_the_remote_comes_back_with_all_that_this_clone_has(
    remote: Path, tmp_path: Path
) -> None:
    clone = _clone(remote, tmp_path / "clone")
    for number in range(2):
        head = _ended(clone.root, f"20260101-run-{number}")
        assert keep_record(clone, f"20260101-run-{number}", head, "", push=True).trouble == ""
        if not number:
            _git(remote, "update-ref", "-d", f"refs/heads/{RECORDS}")
    names = _git(remote, "ls-tree", "--name-only", f"{RECORDS}:.specs").splitlines()
    assert names == ["20260101-run-0", "20260101-run-1"]


def test_many_runs_that_end_at_once_in_one_clone_all_have_their_records_here(
    sample: Sample,
) -> None:
    repository = Repository.find(sample.path)
    names = [f"20260101-run-{number}" for number in range(4)]
    heads = {name: _ended(sample.path, name) for name in names}

    def kept(name: str) -> KeptRecord:
        return keep_record(repository, name, heads[name], "", push=False)

    with ThreadPoolExecutor() as together:
        assert {each.trouble for each in together.map(kept, names)} == {""}
    assert sorted(recorded_on(repository)) == names


def test_records_that_went_apart_are_joined_and_a_record_is_kept_once(
    sample: Sample, remote: Path, tmp_path: Path
) -> None:
    other = _clone(remote, tmp_path / "other")
    there = _ended(other.root, "20260101-there")
    assert keep_record(other, "20260101-there", there, "", push=True).trouble == ""
    here, repository = _ended(sample.path, "20260102-here"), Repository.find(sample.path)
    assert keep_record(repository, "20260102-here", here, "", push=False).trouble == ""
    sample.git("fetch", "-q")
    joined = newest_records(repository)
    assert sorted(repository.list_folders(joined, ".specs")) == ["20260101-there", "20260102-here"]
    assert sample.git("rev-parse", RECORDS) == joined == newest_records(repository)
    assert keep_record(repository, "20260102-here", here, "", push=True).commit == joined
    assert _git(remote, "rev-parse", RECORDS) == joined


def test_a_branch_of_that_name_that_is_somebody_elses_is_left_alone_and_that_is_said(
    sample: Sample,
) -> None:
    sample.git("branch", RECORDS)
    before = sample.git("rev-parse", RECORDS)
    done = sample.forge("run", TASK, "--effort", "S", "--auto", "--model", sample.model())
    assert done.code == 0
    said = " ".join((done.out + done.err).split())
    assert f"is on the branch {sample.branch}; refs/heads/{RECORDS} has commits that" in said
    assert sample.git("rev-parse", RECORDS) == before
    assert resolve_run(Repository.find(sample.path), None).branch == sample.branch


def test_a_remote_that_forbids_the_branch_gets_the_others_and_that_is_said(
    sample: Sample, remote: Path
) -> None:
    hook = remote / "hooks" / "update"
    hook.write_text(
        f'#!/bin/sh\ntest "$1" != refs/heads/{RECORDS} || {{ echo no records; exit 1; }}\n'
    )
    hook.chmod(0o755)
    done = sample.forge("run", TASK, "--effort", "S", "--auto", "--push", "--model", sample.model())
    assert done.code == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert f"is on the branch {sample.branch}" in said
    assert "no records" in said
    for each in (sample.branch, sample.offered):
        assert _git(remote, "rev-parse", each) == sample.git("rev-parse", each)
    assert _git(remote, "for-each-ref", "refs/heads/forge-bot") == ""
    assert sample.git("rev-parse", "--verify", RECORDS) != ""


def test_records_in_branch_make_no_such_branch(sample: Sample) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text("records: in-branch\n")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "Configured")
    _run(sample)
    assert recorded_on(Repository.find(sample.path)) == {}


@pytest.mark.parametrize("way", [["--squash"], ["--no-ff", "--no-edit"]], ids=["squash", "merge"])
def test_a_run_with_its_records_in_branch_is_found_by_its_name_after_the_branch_was_merged_and_deleted(
    sample: Sample, way: list[str]
) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text("records: in-branch\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    sample.git("add", "-A")
    sample.git(*who, "commit", "-qm", "Configured")
    _run(sample)
    name, branch = _name(sample), sample.branch
    sample.git(*who, "merge", "-q", *way, branch)
    if way == ["--squash"]:
        sample.git(*who, "commit", "-qm", "Squashed")
    sample.git("branch", "-D", branch)
    sample.git("reflog", "expire", "--expire=now", "--all")
    sample.git("gc", "-q", "--prune=now")
    assert name not in sample.forge("list").out, "what was merged is no longer listed"
    assert "# " in sample.forge("show", "design.md", "--run", name).out
    again = sample.forge("retry", "final-commit", "--run", name, "--model", sample.model())
    assert again.code != 0
    assert f"was merged into main, and its branch {branch} is gone" in again.err
    assert sample.git("branch", "--format=%(refname:short)") == "main"


def _ended(folder: Path, name: str, reports: str = "") -> str:
    """Return the head of a branch with a record of that name."""
    _git(folder, "switch", "-q", "--detach", "main")
    place = folder / ".specs" / name
    place.mkdir(parents=True)
    (place / "reports.jsonl").write_text(reports or json.dumps({"key": name}) + "\n")
    _git(folder, "add", "-f", ".specs")
    _git(folder, "commit", "-qm", f"Record {name}")
    head = _git(folder, "rev-parse", "HEAD")
    _git(folder, "switch", "-q", "main")
    return head
