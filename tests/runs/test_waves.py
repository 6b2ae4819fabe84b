"""Tasks of a wave are worked on at the same time, each in a tree of its own, and merged in the
order of the plan.
"""

import asyncio
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.agent.models.base import ModelCall
from forge_bot.engine.reports import BudgetRaised
from forge_bot.errors import ModelUnavailable
from forge_bot.runs.this_process import Outcome, now
from tests.runs.wave_scene import Answer, Planned, Stage, Talker, done, replaced, task_of, wrote

POEM = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


def stage(tmp_path: Path, parallel: int = 4) -> Stage:
    made = Stage.made(tmp_path / "repo", {"poem.txt": POEM, "README.md": "# A poem\n"}, parallel)
    made.start()
    return made


TWO = (Planned("1", ("a.txt",)), Planned("2", ("b.txt",)))


def test_the_first_call_of_a_wave_is_answered_only_after_the_second_arrived_and_both_land(
    tmp_path: Path,
) -> None:
    here = stage(tmp_path)
    arrived = defaultdict[str, asyncio.Event](asyncio.Event)

    async def implement(call: ModelCall) -> Answer:
        task = task_of(call)
        arrived[task].set()
        await asyncio.wait_for(arrived["2"].wait(), 30)
        return done(wrote("a.txt" if task == "1" else "b.txt", task))

    outcome, _ = here.go_on(Talker(TWO, implement))
    assert outcome is Outcome.DONE
    assert {"a.txt": "1", "b.txt": "2"}.items() <= here.files().items()


def test_tasks_are_merged_in_the_order_of_the_plan_whichever_answers_first(tmp_path: Path) -> None:
    here = stage(tmp_path)
    second_answered = asyncio.Event()

    async def implement(call: ModelCall) -> Answer:
        if task_of(call) == "1":
            await asyncio.wait_for(second_answered.wait(), 30)
            return done(wrote("a.txt", "1"))
        second_answered.set()
        return done(wrote("b.txt", "2"))

    here.go_on(Talker(TWO, implement))
    assert here.landed() == ["1", "2"]


def test_changes_to_different_places_of_one_file_are_merged(tmp_path: Path) -> None:
    here = stage(tmp_path)

    async def implement(call: ModelCall) -> Answer:
        old, new = ("one\n", "ONE\n") if task_of(call) == "1" else ("nine\n", "NINE\n")
        return done(replaced("poem.txt", old, new))

    talker = Talker(TWO, implement)
    assert here.go_on(talker)[0] is Outcome.DONE
    assert here.files()["poem.txt"] == POEM.replace("one", "ONE").replace("nine", "NINE").strip()
    assert len(talker.asked("2")) == 1


def test_a_task_that_clashes_with_another_is_done_again_on_the_merged_files(tmp_path: Path) -> None:
    here = stage(tmp_path)

    async def implement(call: ModelCall) -> Answer:
        task = task_of(call)
        if task == "2" and "another task" in call.messages[-1].text.lower():
            return done(replaced("poem.txt", "ONE by 1\n", "ONE by 1 and 2\n"))
        return done(replaced("poem.txt", "one\n", f"ONE by {task}\n"))

    talker = Talker(TWO, implement)
    outcome, run = here.go_on(talker)
    assert outcome is Outcome.DONE
    assert here.files()["poem.txt"].startswith("ONE by 1 and 2\n")
    assert len(talker.asked("1")) == 1
    assert len(talker.asked("2")) == 2
    assert here.landed() == ["1", "2"]
    assert run.state.usage.calls == 4


def test_a_model_that_is_gone_for_one_task_loses_nothing_of_the_other_and_the_rest_goes_on_with_the_same_question(
    tmp_path: Path,
) -> None:
    here = stage(tmp_path)
    gone = True

    async def implement(call: ModelCall) -> Answer:
        if task_of(call) == "2" and gone:
            raise ModelUnavailable("The model is asleep.")
        return done(wrote("a.txt" if task_of(call) == "1" else "b.txt", task_of(call)))

    talker = Talker(TWO, implement)
    with pytest.raises(ModelUnavailable):
        here.go_on(talker)
    assert here.landed() == ["1"]
    gone = False
    assert here.go_on(talker)[0] is Outcome.DONE
    assert here.landed() == ["1", "2"]
    before, after = talker.asked("2")
    assert before.messages == after.messages
    assert len(talker.asked("1")) == 1


def test_agents_of_a_wave_see_the_files_as_they_were_when_it_began(tmp_path: Path) -> None:
    here = stage(tmp_path)
    first_landed = asyncio.Event()
    seen: list[str] = []

    async def implement(call: ModelCall) -> Answer:
        if task_of(call) == "1":
            return done(replaced("poem.txt", "five\n", "FIVE\n"))
        if len(call.messages) == 2:
            # Answered only when the first task has been committed.
            while "Forge-Task: 1" not in here.git("log", "-1", "--format=%B", here.branch):  # noqa: ASYNC110 - another process's work
                await asyncio.sleep(0.02)
            first_landed.set()
            return {
                "requests": [
                    {
                        "provider": "read_file",
                        "params_json": '{"path": "poem.txt"}',
                        "reasoning": "see",
                    }
                ],
                "actions": [],
            }
        seen.append(call.messages[-1].text)
        return done(wrote("b.txt", "2"))

    assert here.go_on(Talker(TWO, implement))[0] is Outcome.DONE
    assert first_landed.is_set()
    assert "five" in seen[0]
    assert "FIVE" not in seen[0]
    assert "FIVE" in here.files()["poem.txt"]


@pytest.mark.slow
def test_a_wave_stops_at_the_budget_within_it_and_goes_on_with_more(tmp_path: Path) -> None:
    here = Stage.made(tmp_path / "repo", {"poem.txt": POEM})
    here.start(budget=Decimal("0.60"))

    async def implement(call: ModelCall) -> Answer:
        return done(wrote(f"{task_of(call)}.txt", task_of(call)))

    tasks = [Planned(str(number), (f"{number}.txt",)) for number in range(1, 7)]
    # The worst case of one call of this model is more than a third of the budget, so not all four
    # of a wave can be under way.
    talker = Talker(tasks, implement, name="anthropic:claude-sonnet-4-5", cost=Decimal("0.10"))
    outcome, run = here.go_on(talker)
    assert outcome is Outcome.BUDGET
    assert run.state.budget.spent == Decimal("0.10") * len(talker.calls) <= Decimal("0.60")

    more = BudgetRaised(key="more", at=now(), amount=Decimal(5), by="ann", via="terminal")
    outcome, run = here.go_on(talker, lambda _run: more)
    assert outcome is Outcome.DONE
    assert len(talker.calls) == 7
    assert {f"{number}.txt" for number in range(1, 7)} <= here.files().keys()
