"""Three versions of a file become one, or it is said that they cannot."""

import pytest

from forge_bot.git import MergeConflict, merge
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


def test_a_users_merge_settings_change_nothing(scene: Scene) -> None:
    scene.config("merge.conflictStyle=zdiff3", "diff.algorithm=patience")
    with pytest.raises(MergeConflict):
        merge(scene.root, LINES, LINES.replace(b"a", b"A"), LINES.replace(b"a", b"AA"))
