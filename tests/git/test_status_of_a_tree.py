"""The status lists what is not committed, whatever the user's settings say."""

import pytest

from forge_bot.git.uncommitted_work import StatusEntry
from tests.fakes.rows import rows
from tests.git.git_scene import Scene

ROWS = rows(__file__)

WEIRD = ROWS["weird"]


@pytest.mark.parametrize("settings", [(), WEIRD], ids=["plain", "weird"])
def test_each_change_is_named_whatever_the_settings(
    scene: Scene, settings: tuple[str, ...]
) -> None:
    scene.commit({".gitignore": "*.log\n", "a": "a" * 99, "b": "b" * 99, "c": "c"})
    scene.config(*settings)
    scene.git("mv", "a", "moved")
    scene.write("b", "changed")
    (scene.root / "c").unlink()
    scene.write("new/one", "1")
    scene.write("new/two.log", "2")

    assert set(scene.tree.status()) == {
        StatusEntry("a"),
        StatusEntry("moved"),
        StatusEntry("b"),
        StatusEntry("c"),
        StatusEntry("new/one", untracked=True),
    }


def test_both_sides_of_a_conflict_are_one_path(scene: Scene) -> None:
    tree = scene.worktree("work")
    scene.commit({"README.md": "theirs"}, at=tree.path)
    scene.commit({"README.md": "ours"})
    scene.git("merge", "--quiet", "work", code=1)

    assert scene.tree.status() == (StatusEntry("README.md"),)


def test_a_file_that_became_a_link_is_a_change(scene: Scene) -> None:
    (scene.root / "README.md").unlink()
    (scene.root / "README.md").symlink_to("src/app.py")

    assert scene.tree.status() == (StatusEntry("README.md"),)


def test_of_a_submodule_only_another_commit_is_a_change(scene: Scene) -> None:
    library = scene.beside / "library"
    scene.git("init", "--quiet", str(library))
    scene.commit({"lib.py": "1"}, at=library)
    scene.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib"
    )
    scene.commit()

    scene.write("lib/lib.py", "uncommitted there")
    assert not scene.tree.status()
    scene.commit({"lib.py": "2"}, at=scene.root / "lib")
    assert scene.tree.status() == (StatusEntry("lib"),)


def test_looking_does_not_touch_the_index(scene: Scene) -> None:
    index = scene.root / ".git" / "index"
    (scene.root / "README.md").touch()
    before = (index.read_bytes(), index.stat().st_mtime_ns)

    assert not scene.tree.status()
    assert scene.tree.patch(["README.md"]) == ""
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
