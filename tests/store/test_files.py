"""Files that are whole or not there, and paths that stay inside."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.errors import PathEscapes, RunBusy, WriteFailed
from forge_bot.store.files import held, inside, write_whole
from forge_bot.store.run_folder import branch_name, slug, workspace_name

# -- names
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the auth timeout in middleware", "fix-the-auth-timeout-in-middleware"),
        ("Naïve Café: crème brûlée", "naive-cafe-creme-brulee"),
        ("リトライを追加してください", "リトライを追加してください"),
        ("Ошибка входа", "ошибка-входа"),
        ("Add OAuth login (Google & GitHub)", "add-oauth-login-google-github"),
        ("x" * 200, "x" * 48),
    ],
)
def test_a_title_gives_a_name_people_recognise(title: str, name: str) -> None:
    assert slug(title) == name


@given(st.text(max_size=300))
def test_every_title_gives_a_name_that_paths_and_branches_take(title: str) -> None:
    name = slug(title)
    assert 0 < len(name) <= 48
    assert "/" not in name
    assert not name.startswith((".", "-"))
    assert not name.endswith((".", "-", ".lock"))
    assert not any(character in name for character in " ~^:?*[\\\0\n\t")


def test_workspace_and_branch_carry_date_source_and_slug() -> None:
    assert workspace_name(date(2026, 4, 1), "42", "fix-auth") == "20260401-42-fix-auth"
    assert workspace_name(date(2026, 4, 1), "", "fix-auth") == "20260401-fix-auth"
    assert branch_name("SOA-123", "auth") == "feature/soa-123-auth"


# -- writing
# --------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_in_one_step_and_nothing_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "design.md"
    write_whole(file, "one")
    write_whole(file, "two")
    assert file.read_text() == "two"
    assert [path.name for path in file.parent.iterdir()] == ["design.md"]


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("old")
    file.chmod(0o755)
    write_whole(file, "new")
    assert file.stat().st_mode & 0o777 == 0o755


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "folder"
    file.mkdir()
    (file / "inside").write_text("kept")
    with pytest.raises(WriteFailed):
        write_whole(file, "new")
    assert (file / "inside").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


# -- staying inside
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a\\b", "a\0b"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathEscapes):
        inside(tmp_path, path)


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path)
    with pytest.raises(PathEscapes):
        inside(tmp_path / "root", "link/secret")


# -- one writer
# --------------------------------------------------------------------------------------------------


def test_a_second_writer_is_told_who_is_there(tmp_path: Path) -> None:
    lock = tmp_path / "run.lock"
    with held(lock, "the run x", "process 7 on here"):
        with (
            pytest.raises(RunBusy, match=r"the run x: process 7 on here\."),
            held(lock, "the run x", "me"),
        ):
            pass
        assert (tmp_path / "run.holder").read_text() == "process 7 on here"
    (tmp_path / "run.holder").write_text("process 8, which died here")
    with held(lock, "the run x", "process 9"):
        assert (tmp_path / "run.holder").read_text() == "process 9"
    assert not (tmp_path / "run.holder").exists()


def test_a_lock_goes_with_its_process_however_it_ends(tmp_path: Path) -> None:
    lock = tmp_path / "run.lock"
    code = f"""
import os
from pathlib import Path
from forge_bot.store.files import held
with held(Path({str(lock)!r}), "x"):
    os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -9
    with held(lock, "x"):
        pass
