"""A run that is killed at any record boundary ends as if nothing had happened, and asks no question
again that was answered.
"""

import dataclasses
import random
from collections import Counter

import pytest

from forge_bot.git.revisions import ENDED
from forge_bot.store.run_folder import REPORTS
from tests.fakes import script
from tests.recovery.conftest import Told
from tests.recovery.kills import (
    KILLED,
    REFUSED,
    Boundary,
    compare,
    killed_at,
    survives,
    undisturbed,
)
from tests.recovery.play import EXPLANATION
from tests.recovery.scripts import MODEL, SHORT
from tests.recovery.world import World
from tests.runs.test_drafts import corrected, drafted, edit
from tests.runs.test_next_document import ANALYST

REPORT, STATE = Boundary("file", "reports.jsonl"), Boundary("file", "state.json")
JOURNAL, DESIGN = Boundary("file", "journal.jsonl"), Boundary("file", "design.md")
HEARD = Boundary("file", "journal.jsonl", 2)
BEGUN, ANSWERED = Boundary("model before", ""), Boundary("model after", "")
REFS, MOVED = Boundary("git before", "update-ref"), Boundary("git after", "update-ref")
COMMIT, INDEX = Boundary("git after", "commit-tree"), Boundary("git before", "reset")
TREE = Boundary("git after", "worktree")


@pytest.mark.parametrize(
    ("part", "boundaries"),
    [
        (0, (COMMIT, REFS, MOVED, TREE, REPORT, MOVED, BEGUN, JOURNAL, HEARD)),
        pytest.param(
            1,
            (REFS, MOVED, INDEX, REPORT, BEGUN, JOURNAL, ANSWERED, HEARD, STATE, COMMIT),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_run_that_is_killed_at_each_record_boundary_ends_the_same(
    short: Told, part: int, boundaries: tuple[Boundary, ...]
) -> None:
    world, parts = short
    assert survives(world, parts[part], boundaries) == len(boundaries)


def test_a_record_that_was_not_kept_before_a_kill_is_kept_by_the_next_command(short: Told) -> None:
    world, parts = short
    world.back("end")
    world.git("update-ref", "-d", f"{ENDED}{world.here.name}")
    code, said = world.forge("resume", *MODEL)
    assert (code, "RUN-002" in said) == (REFUSED, True), said
    assert world.standing() == parts[-1].standing


@pytest.mark.slow
def test_a_repository_that_was_moved_after_a_kill_goes_on_from_the_same_transcript(
    short: Told,
) -> None:
    before, parts = short
    before.back("1")
    before.play.fresh()
    assert killed_at(before, parts[1].part.words, HEARD) == KILLED
    moved = dataclasses.replace(before, place="moved")
    before.path.rename(moved.path)
    try:
        assert moved.forge("resume", *MODEL)[0] == parts[1].part.code, moved.printed
        assert before.play.asked == parts[1].asked
        assert moved.open_calls() == 0
    finally:
        moved.path.rename(before.path)


@pytest.mark.slow
def test_an_answer_is_not_used_in_a_record_that_was_taken_back_and_answered_otherwise(
    short: Told,
) -> None:
    world, parts = short
    world.back("1")
    world.play.fresh()
    gate = world.git("rev-parse", "HEAD", folder=world.tree)
    assert killed_at(world, parts[1].part.words, HEARD) == KILLED
    world.git("reset", "-q", "--hard", gate, folder=world.tree)
    before = set(world.play.asked)
    assert world.forge("approve", "with", "a word in the notes", *MODEL)[0] == 3, world.printed
    asked = set(world.play.asked) - before
    assert all("a word in the notes" in question for question in asked)
    assert len(asked) >= len(parts[1].asked)
    assert max(world.play.asked.values()) == 1


@pytest.mark.slow
def test_an_answer_is_not_used_for_a_document_that_was_edited_after_the_kill(short: Told) -> None:
    world, parts = short
    world.back("1")
    world.play.fresh()
    assert killed_at(world, parts[1].part.words, HEARD) == KILLED
    first = Counter(world.play.asked)
    for document in (world.here / "analysis.md", world.here / "design.md"):
        if document.exists():
            document.write_text(document.read_text() + "\nAnd swaps stay as they are.\n")
    world.git("commit", "-qam", "edited by hand", folder=world.tree)
    assert world.forge("resume", *MODEL)[0] == 0, world.printed
    again = [question for question in world.play.asked if "And swaps stay" in question]
    assert again
    assert not first.keys() & set(again)


@pytest.mark.slow
@pytest.mark.parametrize("boundary", [HEARD, STATE])
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
@pytest.mark.parametrize("part", range(4))
def test_a_long_run_that_is_killed_again_and_again_ends_the_same(long: Told, part: int) -> None:
    world, parts = long
    # The same boundaries every time, so that a failure can be looked at again.
    chosen = random.Random(part)  # noqa: S311
    kinds = (REPORT, STATE, JOURNAL, COMMIT, MOVED, REFS, INDEX, BEGUN, ANSWERED, DESIGN)
    boundaries = [
        Boundary(kind.kind, kind.name, chosen.randint(1, 2)) for kind in chosen.choices(kinds, k=8)
    ]
    survives(world, parts[part], boundaries)


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
def test_a_review_that_is_killed_after_it_wrote_the_design_anew_loses_nothing(
    world: World,
) -> None:
    correction = corrected("APPROVE_WITH_NOTES", edit("The design.", "The design, corrected."))
    text = script.document(*script.HEADINGS["architect"], title="The design.")
    first = drafted(design=str(text["artifact_markdown"]))
    world.play.first = {ANALYST: first, "design-reviewer": correction}
    (asked, *_) = undisturbed(world, SHORT)
    assert "# The design, corrected." in asked.standing.artifacts["design.md"]
    written = Boundary("file", "design.md", 2)
    assert survives(world, asked, (written, written)) == 2
