"""How often git is started for what a run does again and again, and that what is not asked is true
all the same.
"""

import shutil
import time

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Commit
from forge_bot.git.commit_history import CommitInfo, count_commits, first_parents
from forge_bot.git.revisions import ref_target
from tests.fakes.processes import opened_by, started_by
from tests.git.git_scene import Scene


def gits(commands: list[str]) -> list[str]:
    return [command for command in commands if command.startswith("['git'")]


def for_one(commands: list[str]) -> list[str]:
    """Those that end with the answer: the ones that go on are started for many."""
    return [command for command in gits(commands) if "'--batch'" not in command]


def test_where_a_tree_stands_is_read_without_a_process_and_is_what_git_says(scene: Scene) -> None:
    linked = scene.worktree("work")
    scene.write("new.txt", "new", at=linked.path)
    linked.commit("step", ())
    for tree in (scene.tree, linked):
        heads = [tree.head()]
        assert gits(started_by(lambda tree=tree, heads=heads: heads.append(tree.head()))) == []
        commit, ref = scene.git(
            "rev-parse", "HEAD", "--symbolic-full-name", "HEAD", at=tree.path
        ).split("\n")
        assert {(head.commit, head.branch) for head in heads} == {
            (commit, ref.removeprefix("refs/heads/"))
        }


def test_where_a_tree_stands_is_asked_where_files_do_not_say_it(scene: Scene) -> None:
    before = scene.tree.head()
    scene.git("pack-refs", "--all")
    assert not (scene.root / ".git" / "refs" / "heads" / "main").exists()
    assert scene.tree.head() == before
    scene.commit({"more.txt": "more"})
    assert scene.tree.head().commit == scene.git("rev-parse", "HEAD") != before.commit


def test_a_commit_takes_two_processes_where_the_user_has_a_name(scene: Scene) -> None:
    scene.write("new.txt", "new")
    assert len(for_one(started_by(lambda: scene.tree.commit("step", (), ("new.txt",))))) == 2


def test_a_name_that_the_user_says_later_counts_from_then_on(scene: Scene) -> None:
    scene.git("config", "--global", "--unset", "user.name")
    scene.git("config", "--global", "--unset", "user.email")
    for number in range(2):
        scene.write("new.txt", f"new {number}")
        scene.tree.commit("step", ())
    scene.git("config", "--global", "user.name", "Bea")
    scene.git("config", "--global", "user.email", "bea@example.org")
    scene.write("new.txt", "newer")
    scene.tree.commit("step", ())
    assert scene.git("log", "-3", "--format=%an %cn").split("\n") == [
        "Bea Bea",
        "forge-bot forge-bot",
        "forge-bot forge-bot",
    ]


def test_a_file_that_is_there_is_read_by_one_process_and_once(scene: Scene) -> None:
    repository, commit = scene.repository, scene.tree.head().commit
    repository.commit_id(commit)
    read: list[bytes | None] = []
    once = gits(started_by(lambda: read.append(repository.read(commit, "src/app.py"))))
    again = gits(started_by(lambda: read.append(repository.read(commit, "src/app.py"))))
    assert (read, len(once), again) == ([b"print(1)\n"] * 2, 1, [])


def test_a_new_commit_is_looked_into_without_asking_what_it_names(scene: Scene) -> None:
    before, commit = scene.tree.head().commit, scene.commit({"more.txt": "more"})
    found: list[str] = []

    def ask() -> None:
        for name in ("HEAD", "refs/heads/main", commit):
            found.append(scene.repository.commit_id(name))
            found.append(scene.repository.tree_id(name))
        found.append(scene.repository.commit_id(f"{commit}^"))

    repository = scene.repository
    assert [call for call in gits(started_by(ask)) if "'--verify'" in call] == []
    tree = scene.git("rev-parse", "HEAD^{tree}")
    assert found == [commit, tree] * 3 + [before]
    assert repository.tree_id(commit) == tree


@pytest.mark.parametrize("stored", ["loose", "packed"])
def test_a_replaced_commit_is_the_one_that_a_push_sends(scene: Scene, stored: str) -> None:
    first = scene.tree.head().commit
    second = scene.commit({"more.txt": "more"})
    tree = scene.git("rev-parse", f"{second}^{{tree}}")
    scene.git("replace", second, first)
    if stored == "packed":
        scene.git("repack", "-adq")
    assert scene.repository.tree_id(second) == tree


def test_a_name_that_only_looks_like_a_branch_is_refused(scene: Scene) -> None:
    for name in ("refs/heads/none", "refs/heads/../heads/main", f"{'0' * 40}", f"{'0' * 40}^"):
        with pytest.raises(GitFailed):
            scene.repository.commit_id(name)


def test_a_commit_of_files_that_git_knows_takes_one_process(scene: Scene) -> None:
    scene.commit({".specs/run/a.md": "a", "code.py": "1\n"})
    scene.write(".specs/run/a.md", "changed")
    scene.write("code.py", "2\n")

    def commit() -> None:
        assert scene.tree.commit("step", (), (".specs/run", "code.py"))

    assert len(for_one(started_by(commit))) == 1
    scene.write("code.py", "3\n")
    assert len(for_one(started_by(commit))) == 1
    assert scene.git("show", "--name-only", "--format=", "HEAD") == "code.py"


def test_packed_branches_and_missing_ones_are_read_without_a_process(scene: Scene) -> None:
    commit = scene.tree.head().commit
    scene.git("branch", "packed")
    scene.git("pack-refs", "--all")
    found: list[object] = []

    def ask() -> None:
        refs = ("refs/heads/packed", "refs/heads/none")
        found.extend(ref_target(scene.root, ref) for ref in refs)

    assert gits(started_by(ask)) == []
    assert found == [commit, None]
    scene.git("branch", "none")
    assert ref_target(scene.root, "refs/heads/none") == commit


def test_work_trees_are_asked_for_again_only_when_one_has_changed(scene: Scene) -> None:
    scene.worktree("work")
    repository = scene.repository
    before = repository.worktrees()
    assert gits(started_by(lambda: [repository.worktrees() for _ in range(3)])) == []
    scene.git("switch", "--quiet", "-c", "other")
    scene.git("worktree", "add", "--quiet", "-b", "more", str(scene.beside / "more"))
    branches = [info.branch for info in repository.worktrees()]
    assert ([info.branch for info in before], branches) == (
        ["main", "work"],
        ["other", "more", "work"],
    )
    shutil.rmtree(scene.beside / "more")
    assert [info.prunable for info in repository.worktrees()] == [False, True, False]


def test_the_commits_of_a_run_are_read_without_a_process_and_as_git_lists_them(
    scene: Scene,
) -> None:
    start = scene.tree.head().commit
    messages = (
        "one line",
        "a subject  \n  on two lines\n\nand more\n\nForge-Run: 1\nForge-Task: 2",
        "\n \n\tindented\r\n\r\ngröße 日本",
        "",
    )
    for message in messages:
        scene.write("n", message)
        scene.git("add", "--all")
        options = ("--quiet", "--no-gpg-sign", "--cleanup=verbatim", "--allow-empty-message")
        scene.git("commit", *options, "--file=-", stdin=message.encode())
    found: list[Commit] = []
    scene.repository.commit_id(start)
    calls = gits(started_by(lambda: found.extend(scene.tree.commits(start))))
    assert for_one(calls) == []
    listed = scene.tree.commits()[:-1]
    assert [(each.subject, each.message) for each in found] == [
        (each.subject, each.message) for each in listed
    ]
    assert tuple(found) == listed


def test_commits_that_are_no_plain_line_are_those_that_git_lists(scene: Scene) -> None:
    start = scene.tree.head().commit
    side = scene.worktree("side")
    scene.commit({"side.txt": "1"}, at=side.path)
    scene.commit({"main.txt": "1"})
    scene.git("merge", "--quiet", "--no-edit", "side")
    scene.config("i18n.commitEncoding=ISO-8859-1")
    scene.write("last.txt", "1")
    scene.git("add", "--all")
    scene.git("commit", "--quiet", "--no-gpg-sign", "--file=-", stdin="größe".encode("latin-1"))
    found = scene.tree.commits(start)
    assert found == scene.tree.commits()[:-1]
    assert (found[0].subject, len(found)) == ("größe", 4)
    assert scene.tree.commits(scene.git("rev-parse", "side")) == tuple(
        each for each in found if each.id != scene.git("rev-parse", "side")
    )


def test_the_files_of_a_runs_commits_are_read_without_a_process_as_git_lists_them(
    scene: Scene,
) -> None:
    start = scene.commit({"a/gone.txt": "1", "a/kept.txt": "1"})
    side = scene.worktree("side")
    scene.commit({"side.txt": "1"}, at=side.path)
    scene.commit({"a/kept.txt": "2", "größe.txt": "1"})
    scene.git("merge", "--quiet", "--no-edit", "side")
    (scene.root / "a" / "gone.txt").unlink()
    tip = scene.commit()
    scene.repository.commit_id(start)
    found: list[CommitInfo] = []
    calls = gits(started_by(lambda: found.extend(first_parents(scene.root, start, tip))))
    assert for_one(calls) == []
    form = ("--first-parent", "-m", "--reverse", "--no-renames", "--format=%H%n%P%n%an <%ae> %s")
    said = scene.git("-c", "core.quotePath=false", "log", *form, "--name-status", f"{start}..{tip}")
    gone = {"000000": "D"}
    told = [
        "\n".join(
            (
                each.id,
                " ".join(each.parents),
                f"{each.signature.author[0]} <{each.signature.author[1]}> {each.subject}",
                "",
                *(
                    f"{gone.get(file.mode, 'M' if 'kept' in file.path else 'A')}\t{file.path}"
                    for file in each.files
                ),
            )
        )
        for each in found
    ]
    assert "\n".join(told) == said
    assert len(found) == 3


def test_how_many_commits_there_are_is_counted_without_a_process_where_they_are_in_a_line(
    scene: Scene,
) -> None:
    start = scene.tree.head().commit
    line = [scene.commit({"n": str(number)}) for number in range(3)]
    counts: list[int] = []
    calls = gits(started_by(lambda: counts.append(count_commits(scene.root, start, line[-1]))))
    side = scene.worktree("side")
    scene.commit({"side.txt": "1"}, at=side.path)
    scene.commit({"n": "4"})
    scene.git("merge", "--quiet", "--no-edit", "side")
    counts.append(count_commits(scene.root, start, "HEAD"))
    assert (for_one(calls), counts) == ([], [3, 6])


def test_the_default_branch_of_the_remote_is_asked_for_only_where_there_is_one(
    scene: Scene,
) -> None:
    named: list[str | None] = []
    calls = gits(started_by(lambda: named.append(scene.repository.default_branch())))
    assert [call for call in calls if "symbolic-ref" in call] == []
    scene.remote()
    scene.git("fetch", "--quiet", "origin")
    scene.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/other")
    assert [*named, scene.repository.default_branch()] == ["main", "other"]


def looked_into(scene: Scene, name: str) -> list[str]:
    """The files of that name in git's folders of work trees that are opened to learn where a branch
    is checked out, and which folders there are.
    """

    def look() -> None:
        scene.repository.is_checked_out("nowhere")
        scene.repository.tree_folders()

    return [file for file in opened_by(look) if "/worktrees/" in file and file.endswith(name)]


def test_a_thousand_work_trees_are_opened_once_and_again_where_they_change(scene: Scene) -> None:
    for number in range(3):
        scene.worktree(f"work-{number}")
    assert len(looked_into(scene, "HEAD")) == 3
    # A change of the last second could not be told from another one.
    ends = time.monotonic() + 60
    while looked_into(scene, "HEAD") or looked_into(scene, "gitdir"):
        assert time.monotonic() < ends
    scene.git("switch", "-q", "-c", "nowhere", at=scene.beside / "work-1")
    assert scene.repository.is_checked_out("nowhere")
    scene.git("switch", "-q", "-c", "elsewhere", at=scene.beside / "work-1")
    assert not scene.repository.is_checked_out("nowhere")
    scene.git("worktree", "move", str(scene.beside / "work-2"), str(scene.beside / "moved"))
    assert str(scene.beside / "moved") in scene.repository.tree_folders()
    scene.git("worktree", "remove", str(scene.beside / "moved"))
    assert str(scene.beside / "moved") not in scene.repository.tree_folders()


def test_names_of_branches_are_known_without_their_commits_and_are_what_git_says(
    scene: Scene,
) -> None:
    scene.git("branch", "packed/one")
    scene.git("pack-refs", "--all")
    for name in ("loose/two", "three"):
        scene.git("branch", name)
    scene.git("update-ref", "refs/remotes/origin/four", "HEAD")
    scene.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/four")
    found = [scene.repository.branch_names()]
    opened = opened_by(lambda: found.append(scene.repository.branch_names()))
    assert not [file for file in opened if "/refs/" in file]
    for names in found:
        assert set(names.local) == {"main", "packed/one", "loose/two", "three"}
        assert names.at_origin() == ("four",)
    scene.git("branch", "größe")
    assert "größe" in scene.repository.branch_names().local
