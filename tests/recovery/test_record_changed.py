"""Tests that the record of a run is appended to only where it is the one that was read, and that a
damaged one can be restored.
"""

import json

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, SHORT
from tests.recovery.world import World


def records(world: World) -> list[dict[str, object]]:
    return [json.loads(line) for line in (world.here / "reports.jsonl").read_text().splitlines()]


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


def test_a_record_that_contradicts_itself_is_restored_from_the_newest_commit_that_can_be_read(
    short: Told,
) -> None:
    world, parts = short
    world.back("end")
    world.play.count("", 0, lambda: None)
    damage(world, committed=True)
    for words in (
        ("status",),
        ("resume", *MODEL),
        ("approve", *MODEL),
        ("retry", *MODEL),
        ("abandon",),
    ):
        code, said = world.forge(*words)
        assert code == 1, said
        assert "STATE-001" in said
        assert "forge-bot repair" in said
    before = world.git("rev-parse", world.branch)
    code, said = world.forge("repair")
    assert code == 0, said
    assert "published" in said, "what is lost is named"
    assert world.git("merge-base", before, world.branch) == before, "the branch only grows"
    assert world.git("status", "--porcelain", folder=world.tree) == ""
    assert world.to_the_end([SHORT[1].words]) in {0, 5}, world.printed
    assert world.forge("status")[0] == 0
    standing = world.standing()
    assert standing.code == parts[1].standing.code
    assert standing.artifacts.keys() == parts[1].standing.artifacts.keys()


@pytest.mark.slow
def test_what_a_person_committed_or_left_in_the_tree_survives_the_repair(short: Told) -> None:
    world, _ = short
    world.back("end")
    world.play.count("", 0, lambda: None)
    (world.tree / "mine.txt").write_text("mine\n")
    world.git("add", "mine.txt", folder=world.tree)
    world.git("commit", "-qm", "my own commit", folder=world.tree)
    damage(world, committed=True)
    (world.tree / "later.txt").write_text("not committed\n")
    code, said = world.forge("repair")
    assert code == 0, said
    assert (world.tree / "mine.txt").read_text() == "mine\n"
    ref = next(word for word in said.split() if word.startswith("refs/forge-bot/rescued/"))
    assert world.git("show", f"{ref}:later.txt") == "not committed"


@pytest.mark.slow
@pytest.mark.parametrize("journal", ["kept", "gone"])
def test_what_lost_reports_cost_counts_once_where_replies_are_kept_and_is_never_forgotten(
    short: Told, journal: str
) -> None:
    world, _ = short
    world.back("1")
    start = world.git("rev-parse", "HEAD", folder=world.tree)
    paid = usage(world)
    world.back("end")
    world.play.count("", 0, lambda: None)
    whole = usage(world)
    # A branch whose commits were made one commit, with a record that cannot be read.
    file = world.here / "reports.jsonl"
    file.write_text("{ broken\n" + file.read_text())
    world.git("reset", "-q", "--soft", start, folder=world.tree)
    world.git("add", "-A", folder=world.tree)
    world.git("commit", "-qm", f"all\n\nForge-Run: {world.here.name}", folder=world.tree)
    if journal == "gone":
        for kept in world.state.rglob("journal.jsonl"):
            kept.unlink()
    code, said = world.forge("repair")
    assert code == 0, said
    assert ("in this machine's journal" in said) == (journal == "kept"), said
    assert ("Their cost still counts" in said) == (journal == "gone"), said
    assert usage(world) == (paid if journal == "kept" else whole)
    assert world.to_the_end([SHORT[1].words]) == 0, world.printed
    lost = {name: whole[name] - paid[name] for name in whole}
    again = {name: lost[name] if journal == "gone" else 0 for name in whole}
    assert usage(world) == {name: whole[name] + again[name] for name in whole}


def usage(world: World) -> dict[str, int]:
    """Return the calls and tokens that count for the run."""
    state = json.loads((world.here / "state.json").read_text())
    total = state["usage"]
    return {name: total.get(name, 0) for name in ("calls", "input_tokens", "output_tokens")}


def damage(world: World, *, committed: bool) -> None:
    """Leave a record as an older version did: a last report that does not follow from those before
    it.
    """
    file = world.here / "reports.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    kinds = [json.loads(line)["type"] for line in lines]
    cut = len(kinds) - 1 - kinds[::-1].index("commands_ran")
    file.write_text(
        "".join((*lines[:cut], json.dumps({**json.loads(lines[-1]), "key": "later"}) + "\n"))
    )
    (world.here / "state.json").unlink()
    if committed:
        world.git("add", "-A", folder=world.tree)
        world.git("commit", "-qm", f"work\n\nForge-Run: {world.here.name}", folder=world.tree)
