"""A full disk is told as one, from wherever it was noticed, and nothing else is."""

import errno
from pathlib import Path

import pytest

from forge_bot.errors import DiskFull, GitFailed, ModelUnavailable, SandboxFailed, WriteFailed
from forge_bot.sentences import hint_of
from forge_bot.store.files import is_full, told_when_full, without_room

NO_ROOM = OSError(errno.ENOSPC, "No space left on device")


def because(error: Exception, cause: BaseException | None) -> Exception:
    """An error with another behind it."""
    try:
        raise error from cause
    except type(error) as raised:
        return raised


@pytest.mark.parametrize(
    "error",
    [
        NO_ROOM,
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        because(WriteFailed("state.json could not be written."), NO_ROOM),
        because(SandboxFailed("The box could not be made."), NO_ROOM),
        GitFailed(
            "`git commit` failed.",
            output="fatal: unable to write new index file: No space left on device",
        ),
        GitFailed(
            "`git add` failed.",
            output="fatal: sha1 file 'index.lock' write error. Out of diskspace",
        ),
        DiskFull("full"),
    ],
)
def test_whatever_comes_from_a_full_disk_is_told_as_one(error: Exception, tmp_path: Path) -> None:
    assert is_full(error)
    with pytest.raises(DiskFull) as told, told_when_full((tmp_path,)):
        raise error
    assert str(error) in told.value.message
    assert "Make room" in hint_of(told.value)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EACCES, "Permission denied"),
        GitFailed("`git commit` failed.", output="fatal: bad object"),
        ModelUnavailable("The provider said: No space left on device"),
        ValueError("No space left on device"),
    ],
)
def test_nothing_else_is(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)) as raised, told_when_full((tmp_path,)):
        raise error
    assert raised.value is error


def test_a_disk_with_room_is_no_full_one_whether_the_folder_is_there_or_not(tmp_path: Path) -> None:
    assert not without_room(tmp_path)
    assert not without_room(tmp_path / "not" / "there" / "yet")
    assert without_room(Path("/proc"))
