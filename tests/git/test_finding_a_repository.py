"""The repository is found from anywhere inside it, and says what it is."""

from pathlib import Path

import pytest

from forge_bot.errors import DetachedHead, GitFailed, GitMissing, NoCommits, NotARepository
from forge_bot.git import Repository
from forge_bot.sentences import hint_of
from tests.git.git_scene import Scene


@pytest.mark.parametrize("inside", [".", "src", "src/app.py"])
def test_a_repository_is_found_from_any_folder_or_file_inside_it(scene: Scene, inside: str) -> None:
    found = Repository.find(scene.root / inside)

    assert (found.root, found.common_dir) == (scene.root, scene.root / ".git")


def test_a_linked_work_tree_is_the_root_and_shares_the_common_folder(scene: Scene) -> None:
    tree = scene.worktree()

    found = Repository.find(tree.path / "src")

    assert (found.root, found.common_dir) == (tree.path, scene.root / ".git")
    assert found.head().branch == "work"


def test_a_folder_outside_any_repository_is_refused(scene: Scene) -> None:
    with pytest.raises(NotARepository, match="is not inside a git repository"):
        Repository.find(scene.beside)


def test_a_bare_repository_and_gits_own_folder_are_refused_as_what_they_are(scene: Scene) -> None:
    for folder in (scene.remote(), scene.root / ".git"):
        with pytest.raises(NotARepository, match="is a bare repository or git's own folder"):
            Repository.find(folder)


def test_variables_of_a_surrounding_git_call_mislead_nobody(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = scene.beside / "other"
    scene.git("init", "--quiet", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "no-index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / "objects"))

    found = Repository.find(scene.root / "src")

    assert found.root == scene.root
    assert found.read("HEAD", "README.md") == b"# Thing\n"


def test_without_git_on_the_machine_the_error_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(scene.beside))

    with pytest.raises(GitMissing, match="git could not be started"):
        Repository.find(scene.root)


def test_a_git_that_is_too_old_is_named_with_its_version(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = scene.write("git", "#!/bin/sh\necho git version 2.29.9\n", at=scene.beside)
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(scene.beside))

    with pytest.raises(GitMissing, match=r"git version 2\.29\.9 is too old"):
        Repository.find(scene.root)


def test_a_detached_head_is_refused_with_the_way_out(scene: Scene) -> None:
    scene.git("checkout", "--quiet", "--detach")

    with pytest.raises(DetachedHead) as refused:
        scene.repository.head()
    assert "git switch" in hint_of(refused.value)


def test_a_repository_without_commits_is_refused(scene: Scene) -> None:
    new = scene.beside / "new"
    scene.git("init", "--quiet", str(new))

    with pytest.raises(NoCommits, match="no commit yet"):
        Repository.find(new).head()


def test_the_default_branch_is_what_origin_says(scene: Scene) -> None:
    scene.remote()
    scene.git("fetch", "--quiet", "origin")
    scene.git("update-ref", "refs/remotes/origin/feature/trunk", "HEAD")
    scene.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/feature/trunk")

    assert scene.repository.default_branch() == "feature/trunk"


@pytest.mark.parametrize(
    ("wished", "there", "answer"),
    [
        ("trunk", "trunk", "trunk"),
        ("trunk", "main", "main"),
        ("-bad name", "master", "master"),
        ("x", "other", None),
    ],
)
def test_without_origin_the_default_branch_is_the_configured_one_or_a_usual_one(
    scene: Scene, wished: str, there: str, answer: str | None
) -> None:
    scene.config(f"init.defaultBranch={wished}")
    scene.git("branch", "--move", there)

    assert scene.repository.default_branch() == answer


def test_branches_are_listed_and_found_by_exact_name(scene: Scene) -> None:
    scene.git("branch", "feature/42-größe")
    repository = scene.repository

    assert repository.branches() == ("feature/42-größe", "main")
    assert repository.branch_exists("feature/42-größe")
    for name in (
        "feature",
        "",
        "HEAD",
        "-d",
        "--all",
        "main^{commit}",
        "main~0",
        "refs/heads/main",
        "a\0b",
        "a..b",
        "@{-1}",
    ):
        assert not repository.branch_exists(name), name


def test_a_remote_address_comes_without_credentials(scene: Scene) -> None:
    scene.git("remote", "add", "origin", "https://ann:p@ss@github.com/acme/widget.git")
    scene.git("remote", "add", "ssh", "ssh://git@github.com/acme/widget.git")
    scene.config("url.https://x-access-token:secret@github.com/.insteadOf=gh:")
    scene.git("remote", "add", "short", "gh:acme/widget")

    repository = scene.repository
    assert repository.remote_url() == "https://github.com/acme/widget.git"
    assert repository.remote_url("ssh") == "ssh://git@github.com/acme/widget.git"
    assert repository.remote_url("short") == "https://github.com/acme/widget"
    assert repository.remote_url("none") is None
    assert repository.remote_url("--all") is None


def test_a_repository_of_somebody_else_is_refused_in_gits_words(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    # git's own switch for its tests: it then takes every folder for somebody else's.
    monkeypatch.setenv(
        "PATH",
        f"{_git_that_sets(scene, 'GIT_TEST_ASSUME_DIFFERENT_OWNER=1')}:{Path('/usr/bin')}:/bin:/usr/local/bin",
    )

    with pytest.raises(GitFailed, match="dubious ownership") as refused:
        Repository.find(scene.root)
    assert "safe.directory" in hint_of(refused.value)


def _git_that_sets(scene: Scene, assignment: str) -> Path:
    real = scene.git("--exec-path")
    script = scene.write(
        "bin/git", f'#!/bin/sh\n{assignment} exec {real}/git "$@"\n', at=scene.beside
    )
    script.chmod(0o755)
    return script.parent
