"""Three versions of a file become one, or it is said that they cannot."""

from collections.abc import Mapping

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import MergeConflict, merge
from forge_bot.git.commit_objects import commit_on, merge_trees
from tests.git.git_scene import Scene

LINES = b"a\nb\nc\nd\ne\nf\ng\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "result"),
    [
        (LINES, LINES, LINES.replace(b"a", b"A"), LINES.replace(b"a", b"A")),
        (LINES, LINES.replace(b"g", b"G"), LINES, LINES.replace(b"g", b"G")),
        (
            LINES,
            LINES.replace(b"g", b"G"),
            LINES.replace(b"a", b"A"),
            LINES.replace(b"g", b"G").replace(b"a", b"A"),
        ),
        (LINES, LINES.replace(b"a", b"A"), LINES.replace(b"a", b"A"), LINES.replace(b"a", b"A")),
        (None, None, b"new\n", b"new\n"),
        (None, b"same\n", b"same\n", b"same\n"),
        (LINES, LINES, None, None),
        (LINES, None, LINES, None),
        (LINES, None, None, None),
        (
            b"a\r\nb\r\nc\r\nd\r\ne\r\n",
            b"A\r\nb\r\nc\r\nd\r\ne\r\n",
            b"a\r\nb\r\nc\r\nd\r\nE\r\n",
            b"A\r\nb\r\nc\r\nd\r\nE\r\n",
        ),
    ],
)
def test_changes_that_do_not_touch_are_both_kept(
    scene: Scene, base: bytes | None, ours: bytes | None, theirs: bytes | None, result: bytes | None
) -> None:
    assert merge(scene.root, base, ours, theirs) == result


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        (LINES, LINES.replace(b"a", b"A"), LINES.replace(b"a", b"AA")),
        (LINES, None, LINES.replace(b"a", b"A")),
        (LINES, LINES.replace(b"a", b"A"), None),
        (None, b"mine\n", b"yours\n"),
        (b"\0\1", b"\0\2", b"\0\3"),
    ],
)
def test_changes_that_cannot_both_be_kept_are_a_conflict(
    scene: Scene, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> None:
    with pytest.raises(MergeConflict):
        merge(scene.root, base, ours, theirs)


OLD = {"a.txt": "1\n2\n3\n4\n5\n", "gone.txt": "gone\n", "kept.txt": "kept\n"}


@pytest.mark.parametrize(
    ("ours", "theirs", "result", "conflicts"),
    [
        (
            {"new/mine.txt": "mine\n", "a.txt": "one\n2\n3\n4\n5\n"},
            {"new/theirs.txt": "theirs\n", "a.txt": "1\n2\n3\n4\nfive\n", "gone.txt": None},
            {
                "a.txt": "one\n2\n3\n4\nfive\n",
                "kept.txt": "kept\n",
                "new/mine.txt": "mine\n",
                "new/theirs.txt": "theirs\n",
            },
            (),
        ),
        ({"a.txt": "mine\n"}, {"a.txt": "theirs\n"}, OLD | {"a.txt": "mine\n"}, ("a.txt",)),
        ({"gone.txt": "more\n"}, {"gone.txt": None}, OLD | {"gone.txt": "more\n"}, ("gone.txt",)),
        ({"x": "file\n"}, {"x/y": "in it\n"}, OLD | {"x": "file\n"}, ("x",)),
        ({"x/y": "in it\n"}, {"x": "file\n"}, OLD | {"x/y": "in it\n"}, ("x",)),
        ({"n.txt": "same\n"}, {"n.txt": "same\n"}, OLD | {"n.txt": "same\n"}, ()),
    ],
)
def test_two_sides_of_a_commit_become_one_tree_without_a_checkout(
    scene: Scene,
    ours: dict[str, str | None],
    theirs: dict[str, str | None],
    result: dict[str, str],
    conflicts: tuple[str, ...],
) -> None:
    def made(parent: str, files: Mapping[str, str | None]) -> str:
        data = [(path, None if text is None else text.encode()) for path, text in files.items()]
        return commit_on(scene.root, parent, data)

    base = made(scene.git("rev-parse", "HEAD"), OLD)
    tree, found = merge_trees(scene.root, made(base, ours), made(base, theirs))
    assert found == conflicts
    if not conflicts:
        there = {path: scene.git("show", f"{tree}:{path}") for path in result}
        assert there == {path: text.strip() for path, text in result.items()}
        names = {*scene.git("ls-tree", "-r", "--name-only", tree).split()}
        assert names == {*result, "README.md", "src/app.py"}
    assert scene.git("status", "--porcelain") == ""


def test_histories_without_a_common_commit_are_not_merged(scene: Scene) -> None:
    scene.git("checkout", "--quiet", "--orphan", "other")
    scene.commit({"other.txt": "other"})

    with pytest.raises(GitFailed, match="unrelated histories"):
        merge_trees(scene.root, "main", "other")
