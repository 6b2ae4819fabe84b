"""Decide what the scheduled job does with each run that waits, from its state and the time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from forge_bot.engine.reports import Paused, PauseReason
from forge_bot.values import Frozen

_DAY = timedelta(days=1)
"""A record that is further ahead was written before a clock was set back."""


class WaitingRun(Frozen):
    """A run that may wait, as its record and its thread have it."""

    issue: int
    run: str
    pause: Paused | None = None
    room: bool = False
    """Whether the caps allow the call now that they did not allow."""
    batch: bool = False
    reviewed: bool = False
    """Whether a review of its pull request requests changes that nobody has asked for yet."""
    asked: datetime | None = None
    """When the open question was shown last."""
    reminded: datetime | None = None
    labelled: bool = False


class WakeStep(StrEnum):
    """The step for one run. Nobody but a person answers a question."""

    GO_ON = "goes on"
    REMIND = "a reminder of its question"
    LABEL = "a label, since its question waits"


class RunWake(NamedTuple):
    """One step, and the run it is done for."""

    run: WaitingRun
    step: WakeStep


def decide_wakes(
    runs: Sequence[WaitingRun],
    now: datetime,
    *,
    remind_after: timedelta,
    switched_off: bool = False,
    answered: Mapping[str, datetime] | None = None,
) -> tuple[RunWake, ...]:
    """Return what is to be done now. `answered` has the time of the last answer of each model."""
    going = () if switched_off else _list_going(runs, now, answered or {})
    steps = ((run, _decide_question(run, now, remind_after)) for run in runs)
    return (
        *(RunWake(run, WakeStep.GO_ON) for run in going),
        *(RunWake(run, step) for run, step in steps if step is not None),
    )


def _list_going(
    runs: Sequence[WaitingRun], now: datetime, answered: Mapping[str, datetime]
) -> Iterator[WaitingRun]:
    limited: dict[str, list[WaitingRun]] = {}
    for run in runs:
        match run.pause:
            case None if run.batch or run.reviewed:
                yield run
            case None:
                pass
            case Paused(why=PauseReason.LIMIT) as pause:
                limited.setdefault(pause.model, []).append(run)
            case pause if pause.why is PauseReason.SWITCH or run.room or _is_over(pause, now):
                yield run
            case _:
                pass
    for model, group in limited.items():
        yield from _list_after_limit(group, now, answered.get(model))


def _list_after_limit(
    group: Sequence[WaitingRun], now: datetime, answered: datetime | None
) -> Iterable[WaitingRun]:
    """Return the runs that go on of those that wait for one model. After the limit one of them
    tries, at each hour another one; the others follow once the model has answered.
    """
    pauses = [run.pause for run in group if run.pause is not None]
    if not all(_is_over(pause, now) for pause in pauses):
        return ()
    last = max(pause.at for pause in pauses)
    if answered is not None and answered > last:
        return group
    return (group[int(now.timestamp() // 3600) % len(group)],)


def _is_over(pause: Paused, now: datetime) -> bool:
    return pause.until is None or now >= pause.until or now < pause.at - _DAY


def _decide_question(run: WaitingRun, now: datetime, remind_after: timedelta) -> WakeStep | None:
    if run.asked is None or run.labelled:
        return None
    if run.reminded is not None:
        return WakeStep.LABEL if now - run.reminded >= remind_after else None
    return WakeStep.REMIND if now - run.asked >= remind_after else None
