"""In a tree of many files a commit of named ones is made without a look at the others, and is the
one that `git commit` makes.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Tree
from forge_bot.git.large_trees import is_large
from forge_bot.sentences import hint_of
from tests.fakes.processes import started_by
from tests.git.git_scene import ODD_NAMES, Scene

WHEN = "2026-01-02T03:04:05+00:00"
RUN = (("Forge-Run", "20260102-x"), ("Forge-Phase", "phase-3"))
MESSAGE = "forge: step\n\n\n  with lines \n# and a heading\n\n\nmore\n"
_DEEP = "/".join("d" * 240 for _ in range(10))
Change = Callable[[Path], object]


@pytest.fixture
def large(scene: Scene) -> Scene:
    """An index as large as that of thousands of files: names that are long count as well."""
    for number in range(120):
        scene.write(f"{_DEEP}/{number}.txt", str(number))
    scene.commit(
        {
            **{f".specs/x/{name}": "one\n" for name in ("state.json", "a/b.md", "a/c.md")},
            "dos.txt": "a\r\nb\r\n",
            "stays.txt": "stays\n",
        }
    )
    assert is_large(scene.root)
    return scene


def put(name: str, content: str = "new\n") -> Change:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode())

    return change


def gone(name: str) -> Change:
    return lambda root: (root / name).unlink()


def file_for_folder(root: Path) -> None:
    shutil.rmtree(root / ".specs/x/a")
    put(".specs/x/a")(root)


def executable(root: Path) -> None:
    (root / "stays.txt").chmod(0o755)


def link(root: Path) -> None:
    (root / "src/link").symlink_to("nowhere")
    (root / "src/folder").symlink_to("../.specs")


CHANGES: dict[str, tuple[tuple[Change, ...], tuple[str, ...]]] = {
    "a new file": ((put(".specs/x/new.md"),), (".specs/x",)),
    "a changed one": ((put(".specs/x/state.json"),), (".specs/x/", "./stays.txt")),
    "several, one of them of the same name as a folder's start": (
        (put(".specs/x/a/b.md"), put(".specs/x.md"), put("src/app.py", "print(2)\n")),
        (".specs/x", "src/app.py"),
    ),
    "a deleted one": ((gone(".specs/x/a/b.md"),), (".specs/x",)),
    "a whole folder deleted": ((lambda root: shutil.rmtree(root / ".specs/x"),), (".specs/x",)),
    "a file in the place of a folder": ((file_for_folder,), (".specs/x",)),
    "an executable": ((executable,), ("stays.txt",)),
    "links": ((link,), ("src",)),
    "ignored": ((put(".gitignore", ".specs\n"), put(".specs/x/new.md")), (".specs/x",)),
    "line ends that are kept": ((put("dos.txt", "a\r\nc\r\n"),), ("dos.txt",)),
    "line ends that attributes change": (
        (put(".gitattributes", "*.txt text\n"), put("dos.txt", "a\r\nc\r\n")),
        ("dos.txt", ".gitattributes"),
    ),
    "a name as long as they come": ((put(f"{_DEEP}/0.txt"),), (f"{_DEEP}/0.txt",)),
    "odd names": (tuple(map(put, ODD_NAMES)), ODD_NAMES),
}


@pytest.mark.parametrize("what", CHANGES)
def test_it_is_the_commit_that_git_makes_and_leaves_the_same_behind(
    large: Scene, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, paths = CHANGES[what]
    large.write("staged.txt", "staged")
    large.git("add", "staged.txt")
    theirs = large.beside / "theirs"
    shutil.copytree(large.root, theirs, symlinks=True)
    for root in (large.root, theirs):
        for change in changes:
            change(root)
    made: list[str | None] = []

    commands = started_by(lambda: made.append(large.tree.commit(MESSAGE, RUN, paths, when=WHEN)))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", WHEN)
    by_git(large, theirs, [path.removeprefix("./") for path in paths])

    assert "update-index" in str(commands)
    assert "'commit'" not in str(commands)
    assert made == [large.git("rev-parse", "HEAD")]
    for words in (
        ("log", "--format=%H %an %ae %at %cn %ce %ct %B"),
        ("ls-files", "--stage"),
        ("status", "--porcelain"),
        ("reflog", "--format=%H %gs"),
        ("reflog", "--format=%H %gs", "main"),
    ):
        assert large.git(*words) == large.git(*words, at=theirs)
    large.git("fsck", "--strict")


def by_git(scene: Scene, at: Path, paths: list[str]) -> None:
    """Commit the same by git's own commands."""
    trailers = "\n".join(f"{key}: {value}" for key, value in RUN)
    words = ("--quiet", "--cleanup=whitespace", "--file=-", "--only", "--", *paths)
    scene.git("--literal-pathspecs", "add", "--all", "--force", "--", *paths, at=at)
    said = f"{MESSAGE.strip()}\n\n{trailers}\n".encode()
    scene.git("--literal-pathspecs", "commit", *words, at=at, stdin=said)


NAMES = ("Ann", "Ünal Ö", "J. Doe Jr.", '"Quoted"', "O'Neil (a, b)", "x\ty")


@pytest.mark.parametrize("when", [WHEN, "2026-07-02T03:04:05.678901-03:30", "1999-01-02T00:00:00Z"])
@pytest.mark.parametrize("name", NAMES)
def test_the_commits_after_the_first_one_are_those_that_git_makes_too(
    large: Scene, name: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    large.config(f"user.name={name}", "user.email=x.y+z@example.org")
    put("stays.txt", "first\n")(large.root)
    assert large.tree.commit(MESSAGE, RUN, ("stays.txt",), when=when)
    theirs = large.beside / "theirs"
    shutil.copytree(large.root, theirs, symlinks=True)
    for root in (large.root, theirs):
        put("stays.txt", "second\n")(root)

    commands = started_by(lambda: large.tree.commit(MESSAGE, RUN, ("stays.txt",), when=when))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", when)
    by_git(large, theirs, ["stays.txt"])

    # Git is asked where a name ends in anything else than a letter or a digit.
    assert any("commit-tree" in each for each in commands) is name.endswith(")")
    for words in (("cat-file", "commit", "HEAD"), ("reflog", "--format=%H %gs")):
        assert large.git(*words) == large.git(*words, at=theirs)
    large.git("fsck", "--strict")


def test_nothing_changed_makes_no_commit(large: Scene) -> None:
    before = large.git("rev-parse", "HEAD")
    for paths in ((".specs/x",), ("stays.txt", "never/was")):
        assert large.tree.commit("forge: step", RUN, paths) is None
    assert large.git("rev-parse", "HEAD") == before


def test_a_folder_in_the_place_of_a_file_is_committed(large: Scene) -> None:
    gone("stays.txt")(large.root)
    put("stays.txt/now.txt")(large.root)
    assert large.tree.commit("forge: step", RUN, ("stays.txt",))
    assert large.tree.changed("HEAD~1") == ("stays.txt", "stays.txt/now.txt")
    assert large.tree.is_clean()


def test_a_deletion_that_was_staged_before_is_committed(large: Scene) -> None:
    large.git("rm", "--quiet", "-r", ".specs/x/a")
    assert large.tree.commit("forge: step", RUN, (".specs/x",))
    assert large.tree.changed("HEAD~1") == (".specs/x/a/b.md", ".specs/x/a/c.md")


def test_what_was_put_into_the_index_and_is_gone_is_not_committed(large: Scene) -> None:
    large.write(".specs/x/late.md", "late")
    large.git("add", ".specs/x/late.md")
    (large.root / ".specs/x/late.md").unlink()
    large.write(".specs/x/state.json", "two")
    assert large.tree.commit("forge: step", RUN, (".specs/x",))
    assert large.tree.changed("HEAD~1") == (".specs/x/state.json",)
    assert large.tree.is_clean()


@pytest.mark.parametrize("keys", [("user.name", "user.email"), ("user.email",)])
def test_without_an_identity_the_author_is_forge_bot(large: Scene, keys: tuple[str, ...]) -> None:
    for key in keys:
        large.git("config", "--global", "--unset", key)
    large.write("stays.txt", "new")
    large.tree.commit("step", RUN, ("stays.txt",))
    bot = "forge-bot forge-bot@users.noreply.github.com"
    assert large.git("log", "-1", "--format=%an %ae %cn %ce") == f"{bot} {bot}"


def test_a_linked_work_tree_has_an_index_of_its_own(large: Scene) -> None:
    tree = large.worktree()
    large.write(".specs/x/new.md", "new", at=tree.path)
    before = large.git("rev-parse", "main")
    made = tree.commit("step", RUN, (".specs/x",))
    assert large.git("rev-parse", "work", "main").split("\n") == [made, before]
    assert tree.is_clean()
    assert large.tree.is_clean()


def in_version(number: int) -> Change:
    return lambda root: Scene(root, root).git("update-index", "--index-version", str(number))


def split(root: Path) -> None:
    Scene(root, root).git("update-index", "--split-index")


def sparse(root: Path) -> None:
    Scene(root, root).git("sparse-checkout", "set", "--no-cone", "/*", "!/stays.txt")


def unknown_to_git(root: Path) -> None:
    Scene(root, root).git("update-index", "--assume-unchanged", ".specs/x/a/b.md")


def to_be_added(root: Path) -> None:
    put(".specs/x/later.md")(root)
    Scene(root, root).git("add", "--intent-to-add", ".specs/x/later.md")


@pytest.mark.parametrize("state", [in_version(4), split, sparse, unknown_to_git, to_be_added])
def test_git_commits_where_its_index_does_not_say_plainly_what_it_has(
    large: Scene, state: Change
) -> None:
    state(large.root)
    large.write(".specs/x/state.json", "two")
    commands = started_by(lambda: large.tree.commit("step", RUN, (".specs/x",)))
    assert "'commit'" in str(commands)
    assert ".specs/x/state.json" in large.tree.changed("HEAD~1")
    assert large.tree.is_clean()


def test_a_repository_inside_is_left_to_git(large: Scene) -> None:
    large.git("init", "--quiet", ".specs/x/inner")
    large.write(".specs/x/inner/file", "file")
    large.commit(at=large.root / ".specs/x/inner")
    large.tree.commit("step", RUN, (".specs/x",))
    assert large.git("ls-tree", "-r", "HEAD", ".specs/x/inner").startswith("160000 commit")


def test_in_a_merge_git_refuses_as_it_does_in_a_small_tree(large: Scene) -> None:
    large.git("switch", "--quiet", "--create", "other")
    large.commit({"stays.txt": "theirs\n"})
    large.git("switch", "--quiet", "main")
    large.commit({"stays.txt": "ours\n"})
    large.git("merge", "--quiet", "other", code=1)
    large.write("README.md", "new")
    for path in ("stays.txt", "README.md"):
        with pytest.raises(GitFailed, match="during a merge"):
            large.tree.commit("step", RUN, (path,))


def test_a_path_outside_of_the_tree_is_refused(large: Scene) -> None:
    large.write("secret", "secret", at=large.beside)
    for path in ("../beside/secret", str(large.beside / "secret")):
        with pytest.raises(GitFailed, match="outside repository"):
            large.tree.commit("forge: step", RUN, [path])


def test_a_locked_index_is_reported_with_the_way_out(large: Scene) -> None:
    large.write("stays.txt", "new")
    large.write(".git/index.lock", "")
    with pytest.raises(GitFailed, match=r"index\.lock") as refused:
        large.tree.commit("step", RUN, ("stays.txt",))
    assert "Another git process" in hint_of(refused.value)


def test_a_branch_that_moved_meanwhile_keeps_its_commit(large: Scene) -> None:
    large.write("stays.txt", "new")
    large.git("config", "filter.move.clean", "git update-ref HEAD HEAD~1; cat")
    large.write(".git/info/attributes", "stays.txt filter=move\n")
    before = large.git("rev-parse", "HEAD~1")
    with pytest.raises(GitFailed, match="HEAD"):
        large.tree.commit("step", RUN, ("stays.txt",))
    assert Tree(large.root).head().commit == before
