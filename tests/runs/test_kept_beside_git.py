"""The profile of a tree, and what is looked up in it for a request, are made once and kept beside git's own data; where what is kept is torn, they are made anew."""

import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.project_commands.kept_profiles import MOST_KEPT, profile_at
from forge_bot.runs.prompt_material.request_lookup import looked_up
from forge_bot.settings import Config
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by
from tests.fakes.sampled import sampled

FILES = {"pyproject.toml": b"[project]\nname = 'x'\nversion = '1'\n", "tests/test_x.py": b""}
REQUEST = "Say what comes after `number_7`\n\nThe rota is read from the end."


def profile(repository: Repository) -> object:
    return profile_at(repository, repository.head().commit, Config())


def lookup(repository: Repository) -> object:
    return looked_up(repository, repository.head().commit, REQUEST)


MADE: dict[str, Callable[[Repository], object]] = {"profile": profile, "lookup": lookup}


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


@pytest.mark.parametrize("kind", MADE)
def test_what_is_kept_is_the_same_and_no_file_is_searched_or_read(
    tmp_path: Path, repository: Repository, kind: str
) -> None:
    made = MADE[kind](repository)
    again = _cold(tmp_path, repository)
    found: list[object] = []
    calls = started_by(lambda: found.append(MADE[kind](again)))
    assert found == [made]
    assert not any("grep" in call or "log" in call or "--batch-check" in call for call in calls)
    if kind == "profile":
        assert not any("ls-tree" in call or "cat-file" in call for call in calls)


def test_other_commands_in_the_configuration_make_another_profile(repository: Repository) -> None:
    commit = repository.head().commit
    config = Config.model_validate({"commands": {"test": [["true"]]}})
    assert profile_at(repository, commit, Config()) != profile_at(repository, commit, config)


def test_another_request_is_looked_up_by_itself(repository: Repository) -> None:
    commit = repository.head().commit
    found = [looked_up(repository, commit, f"Say `number_{number}`") for number in (7, 8)]
    assert [each.defined for each in found] == [
        {f"number_{number}": [(f"src/part{number % 9}/file_{number}.py", 1)]} for number in (7, 8)
    ]


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("harm", ["torn", "empty", "other", "gone", "folder"])
def test_a_kept_file_that_is_of_no_use_is_made_anew(
    tmp_path: Path, repository: Repository, kind: str, harm: str
) -> None:
    made = MADE[kind](repository)
    again = _cold(tmp_path, repository)
    (file,) = again.kept.glob(f"{kind}-*.json")
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
    assert MADE[kind](again) == made
    if harm != "folder":
        assert file.read_bytes() == whole


@pytest.mark.parametrize("kind", MADE)
def test_where_nothing_can_be_written_the_answer_is_the_same(
    tmp_path: Path, repository: Repository, kind: str
) -> None:
    made = MADE[kind](repository)
    again = _cold(tmp_path, repository)
    shutil.rmtree(again.kept)
    # Nobody, not even root, can make a file below a file.
    again.kept.write_bytes(b"")
    assert MADE[kind](again) == made


@pytest.mark.parametrize("kind", sampled(MADE, 2))
def test_processes_that_make_it_at_once_leave_one_whole_file(
    repository: Repository, kind: str
) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        found = list(processes.map(MADE[kind], [repository] * 2))
    (file,) = repository.kept.glob(f"{kind}-*")
    whole = file.read_bytes()
    assert found == [MADE[kind](repository)] * 2
    assert file.read_bytes() == whole


def test_no_more_than_a_few_are_kept(repository: Repository) -> None:
    commit = repository.head().commit
    for number in range(MOST_KEPT + 3):
        config = Config.model_validate({"commands": {"test": [["echo", str(number)]]}})
        profile_at(repository, commit, config)
        looked_up(repository, commit, f"{REQUEST} {number}")
    for kind in MADE:
        assert len(list(repository.kept.glob(f"{kind}-*"))) == MOST_KEPT


def test_what_changed_together_counts_anew_where_older_commits_were_fetched(
    tmp_path: Path, repository: Repository
) -> None:
    git = ["git", "-C", str(repository.root), "-c", "user.name=n", "-c", "user.email=e@x"]
    for number in range(3):
        (repository.root / "mark.txt").write_text(f"{number}\n", encoding="utf-8")
        subprocess.run([*git, "commit", "-qam", "x"], check=True)
    place, address = tmp_path / "shallow", repository.root.as_uri()
    subprocess.run(["git", "clone", "-q", "--depth", "1", address, str(place)], check=True)
    shallow = Repository.find(place)
    first = lookup(shallow)
    (before,) = shallow.kept.glob("lookup-*")
    subprocess.run(["git", "-C", str(place), "fetch", "-q", "--unshallow"], check=True)
    looked_up.cache_clear()
    assert lookup(shallow) == first
    assert len([*shallow.kept.glob("lookup-*")]) == 2
    assert before.is_file()


@pytest.mark.parametrize("kind", MADE)
def test_a_partial_clone_fetches_nothing_for_what_is_kept(
    tmp_path: Path, repository: Repository, kind: str
) -> None:
    source = ["git", "-C", str(repository.root), "config", "uploadpack.allowFilter", "true"]
    subprocess.run(source, check=True)
    place, address = tmp_path / "partial", repository.root.as_uri()
    words = ["git", "clone", "-q", "--no-checkout", "--filter=blob:none", address, str(place)]
    subprocess.run(words, check=True)
    partial = Repository.find(place)
    made = MADE[kind](repository)
    shutil.copytree(repository.kept, partial.kept)
    before = sorted((partial.common_dir / "objects").rglob("*"))
    assert MADE[kind](partial) == made
    assert sorted((partial.common_dir / "objects").rglob("*")) == before
