"""Runs that look after themselves: the scheduled job, and what it decides over a month."""

import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from pydantic import ValidationError

from forge_bot.bot.supervised_worker import tell_jobs, watched_switch
from forge_bot.bot.wake import WaitingRun, WakeStep, decide_wakes
from forge_bot.engine.reports import Paused, PauseReason
from forge_bot.forge import WAKE_WORKFLOW, WORKFLOW
from forge_bot.git import Repository
from forge_bot.runs.model_access import SWITCH, SWITCH_FILE, is_switched_off
from tests.bot.kept import Kept
from tests.bot.stage import PERMISSIONS, Stage
from tests.fakes.agents import AgentServer

AT = datetime(2026, 11, 1, 9, 23, tzinfo=UTC)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)


def paused(why: PauseReason, until: datetime | None, *, at: datetime = AT) -> Paused:
    return Paused(key="p", at=at, why=why, until=until, model="m")


LIMIT, CAP, OFF = PauseReason.LIMIT, PauseReason.CAP, PauseReason.SWITCH
PRICED = "openai-chat:gpt-5"
ONE = WaitingRun(issue=1, run="one")
GO_ON, REMIND, LABEL = WakeStep.GO_ON, WakeStep.REMIND, WakeStep.LABEL


@pytest.mark.parametrize(
    ("change", "off", "step"),
    [
        ({}, False, None),
        ({"batch": True}, False, GO_ON),
        ({"batch": True}, True, None),
        ({"reviewed": True}, False, GO_ON),
        ({"pause": paused(LIMIT, AT + HOUR)}, False, None),
        ({"pause": paused(LIMIT, AT)}, False, GO_ON),
        ({"pause": paused(LIMIT, AT)}, True, None),
        ({"pause": paused(CAP, AT + HOUR)}, False, None),
        ({"pause": paused(CAP, AT + HOUR), "room": True}, False, GO_ON),
        ({"pause": paused(CAP, AT)}, False, GO_ON),
        ({"pause": paused(OFF, None)}, False, GO_ON),
        ({"pause": paused(OFF, None)}, True, None),
        # Written by a clock that was a year ahead, and was set back.
        ({"pause": paused(LIMIT, AT + 366 * DAY, at=AT + 365 * DAY)}, False, GO_ON),
        ({"asked": AT - WEEK + HOUR}, False, None),
        ({"asked": AT + WEEK}, False, None),
        ({"asked": AT - WEEK}, True, REMIND),
        ({"asked": AT - 30 * DAY, "reminded": AT - WEEK + HOUR}, False, None),
        ({"asked": AT - 30 * DAY, "reminded": AT - WEEK}, False, LABEL),
        ({"asked": AT - 99 * DAY, "reminded": AT - 50 * DAY, "labelled": True}, False, None),
    ],
)
def test_what_is_done_for_one_run(
    change: dict[str, object], off: bool, step: WakeStep | None
) -> None:
    wakes = decide_wakes([ONE.replace(**change)], AT, remind_after=WEEK, switched_off=off)
    assert [wake.step for wake in wakes] == ([step] if step else [])


def test_a_month_of_a_hundred_questions_has_at_most_one_reminder_for_each_and_no_answer() -> None:
    dice, steps = Random(7), dict[int, list[WakeStep]]()  # noqa: S311 - no secret
    runs = {
        number: WaitingRun(issue=number, run=str(number), asked=AT + dice.random() * 20 * DAY)
        for number in range(100)
    }
    for hour in range(30 * 24):
        # In the middle of the month a clock is three days behind for a while.
        now = AT + hour * HOUR - (3 * DAY if 300 < hour < 350 else timedelta())
        for number, step in (
            (wake.run.issue, wake.step)
            for wake in decide_wakes([*runs.values()], now, remind_after=WEEK)
        ):
            steps.setdefault(number, []).append(step)
            change = {"reminded": now} if step is REMIND else {"labelled": True}
            runs[number] = runs[number].replace(**change)
        if dice.random() < 0.02:
            answered = dice.randrange(100)
            runs[answered] = runs[answered].replace(asked=None)
    assert set(map(tuple, steps.values())) == {(REMIND,), (REMIND, LABEL)}
    assert len(steps) > 50


@dataclass
class Provider:
    """A provider whose account allows `most` answers in five hours."""

    most: int
    left: int = 0
    resets: datetime = AT
    refused: list[datetime] = field(default_factory=list[datetime])
    answered: dict[str, datetime] = field(default_factory=dict[str, datetime])

    def ask(self, now: datetime) -> Paused | None:
        if now >= self.resets:
            self.left, self.resets = self.most, now + 5 * HOUR
        if self.left:
            self.left -= 1
            self.answered["m"] = now
            return None
        self.refused.append(self.resets)
        return paused(LIMIT, self.resets, at=now)


def test_a_month_of_limits_lets_every_run_end_and_asks_once_after_each_refusal() -> None:
    provider = Provider(most=40)
    runs = {number: WaitingRun(issue=number, run=str(number)) for number in range(100)}
    to_do = dict.fromkeys(runs, 12)
    for hour in range(30 * 24):
        now = AT + hour * HOUR
        waiting = [run for number, run in runs.items() if to_do[number] and run.pause]
        awake = [
            wake.run.issue
            for wake in decide_wakes(waiting, now, remind_after=WEEK, answered=provider.answered)
        ]
        for number in range(100) if hour == 0 else awake:
            others = [run.pause for each, run in runs.items() if each != number and to_do[each]]
            told = [pause.until for pause in others if pause and pause.until and pause.until > now]
            pause = paused(LIMIT, max(told), at=now) if told else None
            while to_do[number] and not pause:
                pause = provider.ask(now)
                to_do[number] -= not pause
            runs[number] = runs[number].replace(pause=pause)
    assert set(to_do.values()) == {0}, "no run is dead of a limit"
    assert set(Counter(provider.refused).values()) == {1}, "nobody asks after the first refusal"


def test_a_worker_cannot_hold_other_runs_up_by_a_pause_without_end() -> None:
    with pytest.raises(ValidationError, match="31 days at most"):
        paused(LIMIT, AT + 32 * DAY)


# -- whole wakes
# --------------------------------------------------------------------------------------------------


def scheduled(stage: Stage) -> Stage:
    """A repository with the scheduled workflow."""
    stage.permissions = PERMISSIONS | {"actions": "write"}
    files = {WORKFLOW: "on: push\n", WAKE_WORKFLOW: "on: push\n"}
    stage.hub.commit(stage.repo, "main", files)
    return stage


@pytest.fixture
def woken(stage: Stage) -> Stage:
    return scheduled(stage)


@pytest.mark.slow
def test_an_old_question_gets_one_reminder_then_a_label_and_an_answer_takes_that_off(
    woken: Stage,
) -> None:
    # GitHub's time stands still in January, so that all that is written there is old.
    woken.hub.clock.goes_on, woken.hub.clock.seconds = False, 1_767_225_600
    approvals = "approvals: {by: [boss, maint]}\n"
    config = f"wakes: {{remind_after_days: 3}}\ncaps: {{day: 20}}\n{approvals}"
    woken.hub.commit(woken.repo, "main", {".forge/config.yml": config})
    woken.label()
    (facts,) = (line for line in woken.said("tracking")[0].splitlines() if "Spent" in line)
    assert "all runs: $0.00 of $20.00 today (UTC)" in facts.replace("\\", "")
    for _ in range(3):
        woken.wake()
        assert len(woken.said("reply occasion=reminder")) == 1
    (said,) = woken.said("reply occasion=reminder")
    assert "A question has waited here for 3 days" in said
    assert "@boss" in said
    assert [label.name for label in woken.issue.labels] == ["forge", "forge:unanswered"]
    assert woken.state["decisions"] == []
    woken.hub.clock.goes_on = True
    woken.say("/abandon")
    assert "is answered" in woken.wake()
    assert [label.name for label in woken.issue.labels] == ["forge"]
    assert woken.repo.dispatches == []


def test_a_review_that_requests_changes_wakes_a_run_that_is_done_unless_a_stranger_wrote_it(
    over: Kept, tmp_path: Path
) -> None:
    stage = scheduled(over.again(tmp_path))
    stage.hub.review(stage.pull, "CHANGES_REQUESTED", "Shorter!", by="stranger")
    stage.wake()
    assert stage.repo.dispatches == []
    stage.hub.review(stage.pull, "CHANGES_REQUESTED", "Name the day.", by="boss")
    stage.wake()
    assert [started.inputs for started in stage.repo.dispatches] == [{"issue": "1"}]


@pytest.mark.slow
def test_the_switch_stops_a_run_and_a_wake_without_it_lets_the_run_go_on(woken: Stage) -> None:
    woken.environ["FORGE_BOT_STOP"] = "until Monday"
    job = woken.label()
    assert (job.code, job.outcome) == (0, "waiting"), job.log
    (said,) = woken.said("reply occasion=switched-off")
    assert "FORGE_BOT_STOP" in said
    assert "goes on by itself once it is gone" in said
    woken.wake()
    assert woken.repo.dispatches == []
    woken.environ["FORGE_BOT_STOP"] = "  "
    assert "#1: goes on" in woken.wake()
    job = woken.dispatched()
    assert (job.code, woken.state["currentPhaseStatus"]) == (0, "awaiting_human"), job.log
    assert len(woken.said("reply")) == 1
    assert "no run waits" in woken.wake()


@pytest.mark.slow
def test_a_cap_is_said_with_its_amounts_and_a_higher_one_lets_the_next_look_go_on(
    woken: Stage,
) -> None:
    woken.hub.commit(woken.repo, "main", {".forge/config.yml": "caps: {person: 0.10}\n"})
    with AgentServer() as provider:
        woken.environ |= {"OPENAI_BASE_URL": f"{provider.url}/v1", "FORGE_BOT_MODEL": PRICED}
        job = woken.label()
        assert (job.code, job.outcome) == (0, "waiting"), job.log
        (said,) = woken.said("reply occasion=cap-reached")
        assert "$0.00 of $0.10 this month for maint" in said.replace("\\", "")
        assert provider.questions == []
        woken.wake()
        assert woken.repo.dispatches == []
        woken.hub.commit(woken.repo, "main", {".forge/config.yml": "caps: {person: 9}\n"})
        assert "#1: goes on" in woken.wake()
        job = woken.dispatched()
    assert (job.code, woken.state["currentPhaseStatus"]) == (0, "awaiting_human"), job.log
    assert Decimal(woken.state["usage"]["cost"]) > 0
    assert len(woken.said("reply")) == 1


def test_jobs_under_way_learn_of_the_switch_from_the_next_job_that_begins(tmp_path: Path) -> None:
    remote, here = tmp_path / "remote.git", tmp_path / "here"
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run([*git, "init", "-q", "--bare", remote], check=True)
    subprocess.run([*git, "clone", "-q", remote, here], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([*git, "-C", here, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    repository = Repository.find(here)
    with watched_switch(repository, 0.05) as file:
        worker = {SWITCH_FILE: str(file)}
        for told in ({}, {SWITCH: " "}):
            tell_jobs(repository, told)
            assert not is_switched_off(worker)
        tell_jobs(repository, {SWITCH: "yes"})
        ends = time.monotonic() + 30
        while not is_switched_off(worker):
            assert time.monotonic() < ends
        tell_jobs(repository, {SWITCH: ""})
    with watched_switch(repository, 0.05) as file:
        assert not is_switched_off({SWITCH_FILE: str(file)})


def test_a_schedule_that_is_off_looks_at_nothing(woken: Stage) -> None:
    off = {".forge/config.yml": "wakes: {enabled: false}\n"}
    woken.hub.commit(woken.repo, "main", off)
    assert "nothing was looked at" in woken.wake()
