"""Runs are found by git alone: on branches here, and on those that only remotes have."""

from pathlib import Path

import pytest

from forge_bot.errors import AmbiguousRun
from forge_bot.git import Repository
from forge_bot.runs.find_runs import resolve_run, runs
from tests.fakes.sample import Sample


@pytest.fixture
def sample(asked_sample: Sample) -> Sample:
    """Every test here begins with a run that waits."""
    return asked_sample


@pytest.fixture
def clone(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A fresh clone, with a state folder of its own, of a repository in which a run waits."""
    place = tmp_path / "clone"
    sample.git("clone", "-q", str(sample.path), str(place))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other-state"))
    return Repository.find(place)


def test_a_run_that_only_a_remote_has_is_marked_as_such(sample: Sample, clone: Repository) -> None:
    (found,) = runs(clone)
    assert found.remote == "origin"
    assert found.ref == f"refs/remotes/origin/{sample.branch}"
    assert found.tree is None
    for wanted in (
        None,
        found.name,
        found.branch,
        f"origin/{found.branch}",
        f".specs/{found.name}",
    ):
        assert resolve_run(clone, wanted) == found
    assert sample.branch not in clone.branches()


def test_it_can_be_looked_at_without_being_checked_out(sample: Sample, clone: Repository) -> None:
    assert "Setup" in sample.forge("status", "--repo", str(clone.root)).out
    for command in ("status", "list"):
        assert (
            f"origin/{sample.branch}, on the remote only"
            in sample.forge(command, "--repo", str(clone.root)).out
        )
        assert "on the remote only" not in sample.forge(command).out
    assert sample.forge("show", "design.md", "--repo", str(clone.root)).out.startswith("# Document")
    assert clone.branches() == ("main",)


@pytest.mark.slow
def test_going_on_with_it_makes_the_branch_and_the_work_tree_here(
    sample: Sample, clone: Repository
) -> None:
    shown = sample.forge("resume", "--repo", str(clone.root), "--model", sample.model())
    assert shown.code == 3, shown.err
    (found,) = runs(clone)
    assert (found.remote, found.tree is not None) == ("", True)
    assert sample.forge("approve", "--repo", str(clone.root), "--model", sample.model()).code == 0


def test_with_two_remotes_that_have_it_there_is_one_run(sample: Sample, clone: Repository) -> None:
    for words in (["remote", "add", "another", str(sample.path)], ["fetch", "-q", "another"]):
        sample.git("-C", str(clone.root), *words)
    assert len(runs(clone)) == 1
    assert sample.forge("resume", "--repo", str(clone.root), "--model", sample.model()).code == 3


def test_several_runs_of_remotes_have_to_be_told_apart(sample: Sample, clone: Repository) -> None:
    sample.forge(
        "run", "Say in the README how swaps work", "--effort", "S", "--model", sample.model()
    )
    sample.git("-C", str(clone.root), "fetch", "-q")
    with pytest.raises(AmbiguousRun) as unclear:
        resolve_run(clone, None)
    assert all("on origin" in detail for detail in unclear.value.details)
    assert len(unclear.value.details) == 2


def test_a_run_whose_branch_was_renamed_is_not_found_and_the_way_back_is_said(
    sample: Sample,
) -> None:
    branch = sample.branch
    sample.git("branch", "-m", branch, "other")
    refused = sample.forge("approve", "--run", branch, "--model", sample.model())
    assert refused.code == 2, refused
    assert "git branch -m NEW OLD" in refused.err
    sample.git("branch", "-m", "other", branch)
    assert sample.forge("resume", "--model", sample.model()).code == 3


def test_a_run_that_is_over_is_found_by_its_kept_record_and_not_on_branches_that_came_after(
    sample: Sample,
) -> None:
    assert sample.forge("approve", "--model", sample.model()).code == 0
    branch = sample.branch
    sample.git("branch", "-q", "stacked", branch)
    sample.git("worktree", "remove", "--force", str(sample.workspace.parents[1]))
    sample.git("branch", "-q", "-D", branch)
    kept = runs(Repository.find(sample.path))
    assert [info.kept for info in kept] == [f"refs/forge-bot/runs/{kept[0].name}"]
    sample.git("merge", "-q", "--ff-only", "stacked")
    assert runs(Repository.find(sample.path)) == kept
    sample.git("update-ref", "-d", kept[0].kept)
    assert runs(Repository.find(sample.path)) == ()
