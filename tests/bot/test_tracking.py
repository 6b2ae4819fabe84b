"""The tracking comment: the next move on top, everything else below, always the same size of
thing.
"""

import pytest

from forge_bot.bot.comments.reply import RunView, next_move, reply
from forge_bot.bot.comments.tracking_comment import exit_code, tracking
from forge_bot.engine.state import TaskState, TaskStatus
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.fit_comment import LIMIT, size
from forge_bot.interaction.markers import read_marker
from forge_bot.interaction.pull_request import pull_request
from forge_bot.runs.this_process import Outcome
from forge_bot.values import TaskId, TaskSpec
from tests.bot import scene
from tests.bot.reading import acts, elements, everything, shown


def first_words(comment: str) -> str:
    return everything(elements(comment, "strong")[0])


def test_no_table_is_wider_than_a_telephone() -> None:
    """A telephone shows about 45 characters beside the frames of three cells; the words of a cell
    wrap, and those of code wrap at blanks and at `<wbr>` alone. Names of tests stand in a table of
    two columns.
    """
    made = scene.until(scene.bench(), "checkpoint-a")
    made.reject("Say what happens at the end of the calendar.")
    sent_back = scene.view(scene.until(made, "pr-creation").state)
    texts = [pull_request(view, {}).body for view in (sent_back, scene.delivered())]
    views = (scene.at_work(), scene.design_waits(), scene.done(), sent_back)
    texts += map(tracking, views)
    tables = [table for text in texts for table in elements(text.replace("<wbr>", " "), "table")]
    assert len(tables) > len(texts)
    for table in tables:
        columns = len([*table.iter("th")])
        assert columns <= 3, everything(table)
        for cell in table.iter("td"):
            longest = max(map(len, everything(cell).replace("-", "- ").split()), default=0)
            assert longest <= (30 if columns == 2 else 20), everything(cell)


def test_a_thousand_tasks_fit() -> None:
    state = scene.at_work().state
    tasks = tuple(
        TaskState(
            spec=TaskSpec(id=TaskId(str(number)), title=f"Fixes #{number} for @ann: <b>`x|y`" * 4),
            status=TaskStatus.PENDING,
        )
        for number in range(1_000)
    )
    said = tracking(scene.view(state.replace(tasks=tasks)))
    assert size(said) <= LIMIT
    assert acts(said) == []
    assert "more tasks found no room here" in said
    assert read_marker(said) is not None


def test_a_stranger_s_title_branch_or_effort_reason_does_nothing() -> None:
    view = scene.at_work()
    hostile = "</details> @ann fixes #1 `|` <img src=x> ![p](u) https://github.com/o/r/issues/1"
    state = view.state.replace(
        title=hostile, effort_reason=hostile, base_branch="a`b|c", branch="feature/(x)-@ann"
    )
    view = view.model_copy(update={"state": state, "estimate": hostile})
    assert acts(tracking(view)) == []
    assert len(elements(tracking(view), "details")) == 1
    assert f"[`feature/(x)-@ann`]({view.links.tree})" in tracking(view)


@pytest.mark.parametrize(
    ("view", "outcome"),
    [
        (scene.done, Outcome.DONE),
        (scene.design_waits, Outcome.WAITING),
        (scene.budget_used_up, Outcome.BUDGET),
        (scene.abandoned, Outcome.ABANDONED),
        (
            lambda: scene.in_trouble(
                reply("unexpected", links=scene.LINKS, commands=CommandNames())
            ),
            Outcome.FAILED,
        ),
        (
            lambda: scene.in_trouble(
                reply("key_missing", links=scene.LINKS, commands=CommandNames(), secret="KEY")
            ),
            Outcome.REFUSED,
        ),
    ],
)
def test_comment_and_exit_code_say_the_same(view: object, outcome: Outcome) -> None:
    look = view() if callable(view) else view
    assert isinstance(look, RunView)
    move = next_move(look)
    assert move.outcome is outcome
    green = {Outcome.DONE, Outcome.WAITING, Outcome.BUDGET, Outcome.ABANDONED}
    assert exit_code(outcome) == (0 if outcome in green else outcome.value)
    assert shown(move.headline) in shown(tracking(look))


def test_what_is_in_the_way_of_an_answer_does_not_hide_the_question() -> None:
    trouble = reply(
        "key_refused",
        links=scene.LINKS,
        commands=CommandNames(repeat="/forge ask …"),
        secret="KEY",
    )
    said = tracking(scene.design_waits().model_copy(update={"trouble": trouble}))
    assert first_words(said) == "The model's provider does not accept the key."
    assert "Your turn: please read design.md and decide." in shown(said)
    assert "/approve 50753fa" in shown(said)
