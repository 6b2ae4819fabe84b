"""The profile of a tree is made once and kept beside git's own data; where what is kept is torn, it is made anew."""

import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.project_commands.kept_profiles import MOST_KEPT, profile_at
from forge_bot.settings import Config
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

FILES = {"pyproject.toml": b"[project]\nname = 'x'\nversion = '1'\n", "tests/test_x.py": b""}


def profile(repository: Repository) -> object:
    return profile_at(repository, repository.head().commit, Config())


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    mark = {"mark.txt": str(tmp_path).encode()}
    many = {
        f"src/part{number % 9}/file_{number}.py": f"def number_{number}(): pass\n".encode()
        for number in range(60)
    }
    return imported(tmp_path / "r", [("main", "", FILES | mark | many)])


def _cold(tmp_path: Path, repository: Repository) -> Repository:
    """The same repository at another place, as a process sees it that has asked nothing yet."""
    place = tmp_path / "moved" / repository.root.name
    place.parent.mkdir(exist_ok=True)
    repository.root.rename(place)
    return Repository.find(place)


def test_what_is_kept_is_the_same_and_no_file_is_searched_or_read(
    tmp_path: Path, repository: Repository
) -> None:
    made = profile(repository)
    again = _cold(tmp_path, repository)
    found: list[object] = []
    calls = started_by(lambda: found.append(profile(again)))
    assert found == [made]
    assert not any("grep" in call or "log" in call or "--batch-check" in call for call in calls)
    assert not any("ls-tree" in call or "cat-file" in call for call in calls)


def test_other_commands_in_the_configuration_make_another_profile(repository: Repository) -> None:
    commit = repository.head().commit
    config = Config.model_validate({"commands": {"test": [["true"]]}})
    assert profile_at(repository, commit, Config()) != profile_at(repository, commit, config)


@pytest.mark.parametrize("harm", ["torn", "empty", "other", "gone", "folder"])
def test_a_kept_file_that_is_of_no_use_is_made_anew(
    tmp_path: Path, repository: Repository, harm: str
) -> None:
    made = profile(repository)
    again = _cold(tmp_path, repository)
    (file,) = again.kept.glob("profile-*.json")
    whole = file.read_bytes()
    file.unlink()
    match harm:
        case "torn":
            file.write_bytes(whole[: len(whole) // 2])
        case "empty":
            file.write_bytes(b"")
        case "other":
            file.write_bytes(b'{"form": 0}')
        case "folder":
            file.mkdir()
        case _:
            pass
    assert profile(again) == made
    if harm != "folder":
        assert file.read_bytes() == whole


def test_where_nothing_can_be_written_the_answer_is_the_same(
    tmp_path: Path, repository: Repository
) -> None:
    made = profile(repository)
    again = _cold(tmp_path, repository)
    shutil.rmtree(again.kept)
    # Nobody, not even root, can make a file below a file.
    again.kept.write_bytes(b"")
    assert profile(again) == made


def test_processes_that_make_it_at_once_leave_one_whole_file(repository: Repository) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        found = list(processes.map(profile, [repository] * 2))
    (file,) = repository.kept.glob("profile-*")
    whole = file.read_bytes()
    assert found == [profile(repository)] * 2
    assert file.read_bytes() == whole


def test_no_more_than_a_few_are_kept(repository: Repository) -> None:
    commit = repository.head().commit
    for number in range(MOST_KEPT + 3):
        config = Config.model_validate({"commands": {"test": [["echo", str(number)]]}})
        profile_at(repository, commit, config)
    assert len(list(repository.kept.glob("profile-*"))) == MOST_KEPT


def test_a_partial_clone_fetches_nothing_for_what_is_kept(
    tmp_path: Path, repository: Repository
) -> None:
    source = ["git", "-C", str(repository.root), "config", "uploadpack.allowFilter", "true"]
    subprocess.run(source, check=True)
    place, address = tmp_path / "partial", repository.root.as_uri()
    words = ["git", "clone", "-q", "--no-checkout", "--filter=blob:none", address, str(place)]
    subprocess.run(words, check=True)
    partial = Repository.find(place)
    made = profile(repository)
    shutil.copytree(repository.kept, partial.kept)
    before = sorted((partial.common_dir / "objects").rglob("*"))
    assert profile(partial) == made
    assert sorted((partial.common_dir / "objects").rglob("*")) == before
