"""Branches that only remotes have: listed, read by their ref, taken over."""

import shutil
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Repository, Tracking
from tests.git.git_scene import Scene


def cloned(scene: Scene) -> Repository:
    """A clone of the scene, whose branches are then those of its remote."""
    place = scene.beside / "clone"
    scene.git("clone", "--quiet", str(scene.root), str(place))
    return Repository.find(place)


def test_branches_of_remotes_are_listed_without_their_heads(scene: Scene) -> None:
    scene.git("branch", "feature/x")
    clone = cloned(scene)
    assert sorted(clone.remote_branches()) == ["feature/x", "main"]
    names = [ref.name for ref in clone.refs("refs/remotes/")]
    assert names == ["refs/remotes/origin/feature/x", "refs/remotes/origin/main"]


@pytest.mark.parametrize("odd", ["größe", "link", "broken", "leads-nowhere"])
def test_a_broken_branch_hides_no_other(scene: Scene, odd: str) -> None:
    heads = scene.root / ".git" / "refs" / "heads"
    commit = scene.repository.commit_id("HEAD")
    text = {
        "größe": commit,
        "link": "ref: refs/heads/main",
        "broken": commit[:20],
        "leads-nowhere": "ref: refs/heads/nobody",
    }
    (heads / odd).write_text(f"{text[odd]}\n")
    found = {ref.name: ref.commit for ref in scene.repository.refs("refs/heads/")}
    assert ("refs/heads/größe" in found) == (odd == "größe")
    assert found["refs/heads/main"] == commit


def test_packed_branches_that_git_cannot_read_are_no_empty_list(scene: Scene) -> None:
    scene.git("pack-refs", "--all")
    with (scene.root / ".git" / "packed-refs").open("a") as packed:
        packed.write("no line of git\n")
    with pytest.raises(GitFailed, match="packed-refs"):
        scene.repository.refs("refs/heads/")


def test_a_branch_is_told_with_the_work_tree_that_has_it(scene: Scene) -> None:
    tree = scene.worktree("work")

    def trees() -> dict[str, Path | None]:
        return {ref.name: ref.tree for ref in scene.repository.refs("refs/heads/")}

    assert trees() == {"refs/heads/main": scene.root, "refs/heads/work": tree.path}
    shutil.rmtree(tree.path)
    assert trees()["refs/heads/work"] is None


def test_a_branch_is_taken_over_and_follows_the_remote_it_came_from(scene: Scene) -> None:
    scene.git("branch", "feature/x")
    clone = cloned(scene)
    scene.git("remote", "add", "other", str(scene.root), at=clone.root)
    scene.git("fetch", "--quiet", "other", at=clone.root)
    clone.take(Tracking("other", "feature/x"))
    assert (
        scene.git("rev-parse", "--abbrev-ref", "feature/x@{upstream}", at=clone.root)
        == "other/feature/x"
    )
    with pytest.raises(GitFailed):
        clone.take(Tracking("other", "feature/x"))


def test_a_work_tree_is_linked_again_after_its_repository_was_moved(
    scene: Scene, tmp_path: Path
) -> None:
    tree = scene.worktree("work")
    moved = tmp_path / "moved"
    scene.root.rename(moved)
    scene.git("status", at=tree.path, code=128)
    Repository.find(moved).mend_worktree(tree.path)
    assert tree.is_clean()
