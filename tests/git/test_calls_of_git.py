"""No hook, alias or signing program of a repository runs, and no call goes on for ever."""

import os
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed, NotARepository
from forge_bot.git.process import git
from tests.fakes.rows import rows
from tests.git.git_scene import Scene

ROWS = rows(__file__)

HOOKS = ROWS["hooks"]


@pytest.mark.parametrize("place", [".git/hooks", "../hooks"])
def test_hooks_never_run_wherever_they_lie(scene: Scene, place: str) -> None:
    scene.remote()
    scene.git("branch", "work", "main")
    ran = scene.beside / "ran"
    for hook in HOOKS:
        scene.write(f"{place}/{hook}", f"#!/bin/sh\necho {hook} >> {ran}\nexit 1\n").chmod(0o755)
    if place != ".git/hooks":
        scene.git("config", "core.hooksPath", str(scene.root / place))
    scene.git("config", "core.fsmonitor", str(scene.root / place / "fsmonitor-watchman"))

    tree = scene.repository.add_worktree(scene.beside / "work", "work")
    scene.write("new.txt", "new", at=tree.path)
    text = tree.patch(["new.txt"])
    assert tree.rescue("x")
    tree.apply(text)
    assert tree.commit("step", (("A", "b"),), (".",))
    tree.push()

    assert not ran.exists()
    scene.git("commit", "--quiet", "--allow-empty", "--message", "x", code=1)
    assert ran.exists()


def test_nothing_is_signed_even_if_the_user_signs_everything(scene: Scene) -> None:
    scene.config(
        "commit.gpgSign=true",
        "tag.gpgSign=true",
        f"gpg.program={scene.beside}/none",
        "user.signingKey=x",
    )
    scene.write("new.txt", "new")

    assert scene.tree.commit("step", (), (".",))
    assert "gpgsig" not in scene.git("cat-file", "commit", "HEAD")


def test_git_speaks_english_and_traces_nothing_whatever_the_environment(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("GIT_TRACE", "1")

    assert git(scene.root, "-c", "alias.language=!printenv LC_ALL", "language").line == "C"
    with pytest.raises(GitFailed) as failed:
        git(scene.root, "cat-file", "blob", "HEAD:nothing")
    assert str(failed.value).startswith(
        "`git cat-file blob HEAD:nothing` failed: fatal: path 'nothing' does not exist"
    )


def test_a_call_that_does_not_end_is_stopped_with_all_its_children(scene: Scene) -> None:
    pipe = scene.beside / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(
        GitFailed, match=r"`git -c .* waits` was stopped: it had not ended after 0\.2 seconds"
    ):
        git(scene.root, "-c", f"alias.waits=!cat {pipe}; true", "waits", seconds=0.2)
    assert _nobody_reads(pipe)


def test_a_call_that_is_stopped_leaves_no_lock_behind(scene: Scene) -> None:
    pipe = scene.beside / "pipe"
    os.mkfifo(pipe)
    scene.commit({".gitattributes": "*.py filter=wait\n"})
    scene.config(f"filter.wait.clean=cat {pipe}")
    scene.write("src/app.py", "changed")

    with pytest.raises(GitFailed, match="was stopped"):
        git(scene.root, "add", "--all", seconds=0.2)
    assert not (scene.root / ".git" / "index.lock").exists()


def test_a_call_from_a_folder_that_is_gone_says_so(scene: Scene) -> None:
    with pytest.raises(NotARepository, match="There is no folder"):
        git(scene.beside / "gone", "status")


@pytest.mark.parametrize("argument", ["a\0b", "\ud800"])
def test_an_argument_that_no_program_can_be_given_is_a_failure_with_words(
    scene: Scene, argument: str
) -> None:
    with pytest.raises(GitFailed, match="could not be started"):
        git(scene.root, "show-ref", "--", argument)


def test_passwords_in_a_command_or_in_gits_words_are_struck_out(scene: Scene) -> None:
    with pytest.raises(GitFailed) as failed:
        git(scene.root, "ls-remote", "https://ann:geheim@127.0.0.1:1/x")
    assert "geheim" not in str(failed.value)
    assert "ls-remote https://127.0.0.1:1/x" in str(failed.value)


def _nobody_reads(pipe: Path) -> bool:
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return True
    return False
