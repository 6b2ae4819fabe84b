"""Branches of remotes are listed and followed; one branch goes to the remote, and nothing else does."""

import shutil
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Repository, Tree
from forge_bot.sentences import hint_of
from tests.git.git_scene import Scene


def test_a_branch_is_pushed_under_its_own_name(scene: Scene) -> None:
    remote = scene.remote()
    tree = scene.worktree("feature/x")
    made = scene.commit({"new.txt": "new"}, at=tree.path)

    tree.push()

    assert scene.git("rev-parse", "refs/heads/feature/x", at=remote) == made


def test_of_a_branch_that_has_moved_on_only_the_named_commit_goes_out(scene: Scene) -> None:
    remote, tree = scene.remote(), scene.worktree("work")
    looked_at = scene.commit({"new.txt": "new"}, at=tree.path)
    scene.commit({"new.txt": "newer"}, at=tree.path)

    tree.push(commit=looked_at)

    assert scene.git("rev-parse", "work", at=remote) == looked_at
    assert tree.unpushed()
    tree.push()
    assert not tree.unpushed()


@pytest.mark.parametrize(
    "setting",
    ["push.default=nothing", "remote.origin.mirror=true", "remote.origin.push=+refs/*:refs/*"],
)
def test_work_of_others_on_the_branch_is_never_overwritten_whatever_the_settings(
    scene: Scene, setting: str
) -> None:
    remote, tree = scene.remote(), scene.worktree("work")
    tree.push()
    theirs = _pushed_by_somebody_else(scene, "work")
    scene.commit({"mine.txt": "mine"}, at=tree.path)
    scene.git("config", *setting.split("="))

    with pytest.raises(GitFailed, match="rejected") as refused:
        tree.push()

    assert scene.git("rev-parse", "work", at=remote) == theirs
    assert "git pull --no-rebase origin work" in hint_of(refused.value)
    assert "nothing was overwritten" in hint_of(refused.value)


def test_nothing_but_the_branch_is_pushed(scene: Scene) -> None:
    remote, tree = scene.remote(), scene.worktree("work")
    scene.git("branch", "private")
    scene.git("tag", "--annotate", "--message", "x", "v1")
    scene.git("config", "remote.origin.mirror", "true")
    scene.config(
        "push.followTags=true",
        "push.gpgSign=true",
        "push.recurseSubmodules=only",
        "push.pushOption=x",
    )

    with pytest.raises(GitFailed, match="push options"):
        tree.push()
    scene.git("config", "--global", "--unset", "push.pushOption")
    tree.push()

    assert scene.git("for-each-ref", "--format=%(refname)", at=remote).split() == [
        "refs/heads/main",
        "refs/heads/work",
    ]


def test_a_remote_that_refuses_by_its_own_rules_is_quoted(scene: Scene) -> None:
    remote, tree = scene.remote(), scene.worktree("work")
    scene.write(
        "hooks/pre-receive", "#!/bin/sh\necho 'no pushes on Fridays' >&2\nexit 1\n", at=remote
    ).chmod(0o755)

    with pytest.raises(GitFailed, match="no pushes on Fridays") as refused:
        tree.push()
    assert "own rules" in hint_of(refused.value)


def test_a_remote_address_that_is_a_command_is_not_run(scene: Scene) -> None:
    scene.git("remote", "add", "origin", f"ext::sh -c touch% {scene.beside}/pwned")
    scene.config("protocol.ext.allow=always")

    with pytest.raises(GitFailed, match="'ext' not allowed"):
        scene.tree.push()
    assert not (scene.beside / "pwned").exists()


def test_an_unreachable_remote_is_named_without_its_password(scene: Scene) -> None:
    scene.git("remote", "add", "origin", "http://ann:geheim@127.0.0.1:1/x.git")

    with pytest.raises(
        GitFailed, match=r"unable to access 'http://127\.0\.0\.1:1/x\.git"
    ) as refused:
        scene.tree.push()
    assert "geheim" not in str(refused.value)


def _pushed_by_somebody_else(scene: Scene, branch: str) -> str:
    clone = scene.beside / "theirs"
    scene.git("clone", "--quiet", "--branch", branch, str(scene.beside / "remote.git"), str(clone))
    made = scene.commit({"theirs.txt": "theirs"}, at=clone)
    scene.git("push", "--quiet", at=clone)
    assert not Tree(clone).status()
    return made


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
    clone.take("other", "feature/x")
    assert (
        scene.git("rev-parse", "--abbrev-ref", "feature/x@{upstream}", at=clone.root)
        == "other/feature/x"
    )
    with pytest.raises(GitFailed):
        clone.take("other", "feature/x")


def test_a_work_tree_is_linked_again_after_its_repository_was_moved(
    scene: Scene, tmp_path: Path
) -> None:
    tree = scene.worktree("work")
    moved = tmp_path / "moved"
    scene.root.rename(moved)
    scene.git("status", at=tree.path, code=128)
    Repository.find(moved).mend_worktree(tree.path)
    assert not tree.status()
