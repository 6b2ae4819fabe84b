"""A profile is made once for a tree, kept beside git's own data, and made anew where that is torn."""

import json
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.kept_profiles import MOST_KEPT, kept_in, profile_at
from forge_bot.settings import Config
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

FILES = {"pyproject.toml": b"[project]\nname = 'x'\nversion = '1'\n", "tests/test_x.py": b""}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    mark = {"mark.txt": str(tmp_path).encode()}
    return imported(tmp_path / "r", [("main", "", FILES | mark)])


def _cold(tmp_path: Path, repository: Repository) -> Repository:
    """The same repository at another place, as a process sees it that has asked nothing yet."""
    place = tmp_path / "moved" / repository.root.name
    place.parent.mkdir(exist_ok=True)
    repository.root.rename(place)
    return Repository.find(place)


def test_a_kept_profile_is_the_same_and_no_file_is_listed_or_read(
    tmp_path: Path, repository: Repository
) -> None:
    commit = repository.head().commit
    made = profile_at(repository, commit, Config())
    assert made.layout
    again = _cold(tmp_path, repository)
    found: list[object] = []
    calls = started_by(lambda: found.append(profile_at(again, commit, Config())))
    assert found == [made]
    assert not any("ls-tree" in call or "cat-file" in call for call in calls)


def test_other_commands_in_the_configuration_make_another_profile(repository: Repository) -> None:
    commit = repository.head().commit
    config = Config.model_validate({"commands": {"test": [["true"]]}})
    assert profile_at(repository, commit, Config()) != profile_at(repository, commit, config)


@pytest.mark.parametrize("harm", ["torn", "empty", "version", "form", "gone", "folder"])
def test_a_kept_file_that_is_of_no_use_is_made_anew(
    tmp_path: Path, repository: Repository, harm: str
) -> None:
    commit = repository.head().commit
    made = profile_at(repository, commit, Config())
    again = _cold(tmp_path, repository)
    file = kept_in(again)
    whole = file.read_bytes()
    kept = json.loads(whole)
    file.unlink()
    match harm:
        case "torn":
            file.write_bytes(whole[: len(whole) // 2])
        case "empty":
            file.write_bytes(b"")
        case "version" | "form":
            kept[harm] = "0.0.0" if harm == "version" else 0
            kept["profiles"] = {name: made_up(each) for name, each in kept["profiles"].items()}
            file.write_text(json.dumps(kept))
        case "folder":
            file.mkdir()
        case _:
            pass
    assert profile_at(again, commit, Config()) == made
    if harm != "folder":
        assert file.read_bytes() == whole


def made_up(profile: dict[str, object]) -> dict[str, object]:
    return {**profile, "ci": "made up"}


def test_no_more_than_a_few_are_kept(repository: Repository) -> None:
    commit = repository.head().commit
    for number in range(MOST_KEPT + 3):
        config = Config.model_validate({"commands": {"test": [["echo", str(number)]]}})
        profile_at(repository, commit, config)
    assert len(json.loads(kept_in(repository).read_bytes())["profiles"]) == MOST_KEPT
