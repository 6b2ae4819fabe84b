"""What counts as a full disk."""

from pathlib import Path

from forge_bot.store.files import without_room


def test_a_disk_with_room_is_no_full_one_whether_the_folder_is_there_or_not(tmp_path: Path) -> None:
    assert not without_room(tmp_path)
    assert not without_room(tmp_path / "not" / "there" / "yet")
    assert without_room(Path("/proc"))
