"""A run that is killed at any boundary ends as if nothing had happened, and asks no question again
that was answered.
"""

import random

import pytest

from forge_bot.store import RECORD_BRANCHES
from forge_bot.store.run_folder import REPORTS
from tests.fakes.sampled import sampled_rows
from tests.recovery.conftest import Told
from tests.recovery.play import EXPLANATION
from tests.recovery.scripts import MODEL
from tests.recovery.trials import (
    FILE,
    KILLED,
    KINDS,
    REFUSED,
    Boundary,
    Kind,
    between,
    compare,
    killed_at,
    spread,
    survives,
)

_CLOSE: dict[Kind, int] = {
    "git before": 70,
    "git after": 70,
    "file": 150,
    "power": 150,
    "model before": 1,
    "model after": 1,
}
"""How far a process of a run that is killed again and again gets, at most: well past its opening,
not to its end."""


@pytest.mark.parametrize(
    ("part", "boundaries"),
    sampled_rows(
        [
            (1, (Boundary("power", 150), Boundary("git before", 45), Boundary("file", 90))),
            (0, (Boundary("power", 120), Boundary("model before", 1))),
        ],
        2,
    ),
)
def test_a_run_that_is_killed_again_and_again_ends_the_same(
    short: Told, part: int, boundaries: tuple[Boundary, ...]
) -> None:
    world, parts = short
    assert survives(world, parts[part], boundaries) == len(boundaries)


def test_a_record_that_was_not_kept_before_a_kill_is_kept_by_the_next_command(short: Told) -> None:
    world, parts = short
    world.back("end")
    world.git("branch", "-D", RECORD_BRANCHES[0])
    code, said = world.forge("resume", *MODEL)
    assert (code, "RUN-002" in said) == (REFUSED, True), said
    assert world.standing() == parts[-1].standing


_ANSWERED = Boundary("file", 3, "journal.jsonl")
"""The model's answer to a person's question is in the journal."""

_RECORDED = Boundary("file", 1, "state.json")
"""What it cost is in the record too."""


@pytest.mark.slow
@pytest.mark.parametrize("boundary", [_ANSWERED, _RECORDED])
def test_a_question_that_is_killed_after_its_answer_came_is_shown_it_and_paid_once(
    short: Told, boundary: Boundary
) -> None:
    world, parts = short
    world.back(str(parts[1].number))
    world.play.fresh()
    question, reports = ("ask", "Which day is the first?", *MODEL), world.here / REPORTS
    assert killed_at(world, question, boundary) == KILLED
    if '"asked"' not in reports.read_text():
        assert world.forge(*question)[0] == 0
    assert EXPLANATION in world.printed
    assert reports.read_text().count('"asked"') == 1
    assert world.play.asked.total() == 1


@pytest.mark.slow
def test_a_question_that_is_killed_and_not_asked_again_is_counted_with_the_next_one(
    short: Told,
) -> None:
    world, parts = short
    world.back(str(parts[1].number))
    world.play.fresh()
    killed_at(world, ("ask", "Which day is the first?", *MODEL), _ANSWERED)
    assert world.forge("ask", "And which is the last?", *MODEL)[0] == 0
    asked = [each for each in world.standing().reports if each["type"] == "asked"]
    assert sum(each["usage"]["calls"] for each in asked) == world.play.asked.total() == 2


_THE_TRY = 1
"""The number of the implementer's first question after the design was approved: its edits are tried
before the next one."""


@pytest.mark.slow
def test_a_run_that_is_killed_while_edits_are_tried_runs_them_again_and_asks_nothing_twice(
    red: Told,
) -> None:
    world, parts = red
    tries = between(world, parts[1], _THE_TRY)
    assert len([each for each in tries if each.kind == "git before"]) >= 10
    boundary = random.Random(1).choice(tries)  # noqa: S311 - the same one every time
    assert survives(world, parts[1], (boundary,)) == 1


@pytest.mark.slow
def test_a_run_that_is_killed_after_a_try_reads_what_came_of_it(red: Told) -> None:
    world, parts = red
    assert survives(world, parts[1], (Boundary("model before", _THE_TRY + 1),)) == 1
    assert world.printed.count("sent back to the implementer") == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILE)
def test_a_run_that_is_killed_before_a_new_version_is_recorded_asks_no_model_about_it(
    sent_back: Told, kind: Kind
) -> None:
    world, parts = sent_back
    assert survives(world, parts[1], (Boundary(kind, 1, "design.md"),)) == 1
    assert "design.md was changed while no question was open" in world.printed


@pytest.mark.slow
def test_work_trees_of_tasks_that_a_killed_process_left_are_removed(short: Told) -> None:
    world, parts = short
    world.back(str(parts[1].number))
    world.play.fresh()
    # Killed after the task had landed: nobody would make its tree anew.
    world.git("worktree", "add", "-q", "--detach", str(world.tree.parent / "tasks" / "1"))
    assert world.forge(*parts[1].part.words)[0] == parts[1].part.code, world.printed
    compare(world, parts[1])


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_a_run_that_is_killed_at_any_boundary_of_a_try_ends_the_same(red: Told, share: int) -> None:
    world, parts = red
    # Every eleventh: all of them take an hour and a half.
    for boundary in between(world, parts[1], _THE_TRY)[11 * share :: 44]:
        survives(world, parts[1], (boundary,))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_rejection_that_is_killed_at_one_boundary_ends_the_same(
    sent_back: Told, kind: Kind
) -> None:
    world, parts = sent_back
    for boundary in spread(parts[1], (kind,), 40):
        survives(world, parts[1], (boundary,))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_killed_at_one_boundary_ends_the_same(
    long: Told, kind: Kind, part: int
) -> None:
    world, parts = long
    for boundary in spread(parts[part], (kind,), 5):
        survives(world, parts[part], (boundary,))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("luck", range(2))
def test_a_long_run_that_is_killed_again_and_again_ends_the_same(
    long: Told, part: int, luck: int
) -> None:
    world, parts = long
    # The same boundaries every time, so that a failure can be looked at again.
    chosen = random.Random(10 * part + luck)  # noqa: S311
    kinds: list[Kind] = [chosen.choice(KINDS) for _ in range(8)]
    survives(
        world, parts[part], [Boundary(kind, chosen.randint(1, _CLOSE[kind])) for kind in kinds]
    )
