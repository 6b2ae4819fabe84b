"""Tests that the record of a run is added to only where it is the one that was read."""

import json

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, SHORT


@pytest.mark.slow
def test_a_branch_that_is_reset_while_a_process_works_stops_the_process_and_the_run_goes_on(
    short: Told,
) -> None:
    world, parts = short
    world.back("1")
    world.play.count("", 0, lambda: None)
    tree = world.tree

    def reset() -> None:
        world.git("reset", "-q", "--hard", "HEAD~1", folder=tree)

    world.play.count("before", 1, reset)
    code, said = world.forge("approve", *MODEL)
    assert code == 1, said
    assert "STATE-007" in said
    assert "forge-bot resume" in said
    world.play.count("", 0, lambda: None)
    assert world.forge("status")[0] == 0, world.printed
    assert world.to_the_end([SHORT[1].words]) == 0, world.printed
    assert world.standing().code == parts[1].standing.code


def test_a_record_that_contradicts_itself_is_told_with_the_way_back(short: Told) -> None:
    world, parts = short
    world.back("end")
    world.play.count("", 0, lambda: None)
    before = world.git("rev-parse", world.branch)
    file = world.here / "reports.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join((*lines[:3], json.dumps({**json.loads(lines[-1]), "key": "x"}) + "\n")))
    world.git("commit", "-qam", "damage", folder=world.tree)
    for words in (("status",), ("resume", *MODEL), ("abandon",)):
        code, said = world.forge(*words)
        assert code == 1, said
        assert "STATE-001" in said
        assert "git log BRANCH" in said
    world.git("reset", "-q", "--hard", before, folder=world.tree)
    assert world.to_the_end([SHORT[1].words]) in {0, 5}, world.printed
    assert world.standing() == parts[1].standing


@pytest.mark.slow
def test_another_branch_in_the_tree_of_the_run_is_left_and_the_run_goes_on(short: Told) -> None:
    world, parts = short
    world.back("1")
    world.play.count("", 0, lambda: None)
    tree = world.tree
    world.git("switch", "-qc", "mine", folder=tree)
    (tree / "mine.txt").write_text("mine\n")
    code, said = world.forge(*SHORT[1].words)
    assert code == 0, said
    assert "was checked out again" in said
    ref = next(word for word in said.split() if word.startswith("refs/forge-bot/rescued/"))
    assert world.git("show", f"{ref}:mine.txt") == "mine"
    world.git("branch", "-qD", "mine")
    assert world.standing() == parts[1].standing
