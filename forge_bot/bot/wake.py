"""The scheduled job: it lists the runs that wait, from their records, decides by their state and
the time what is to be done, and lets those go on that can. It asks no model and has no key; jobs
of the usual workflow do the work.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import PurePosixPath
from typing import NamedTuple

from pydantic import ValidationError

from forge_bot.bot.comments.reply import reply
from forge_bot.bot.job_context import JobContext, begin, job_repository
from forge_bot.bot.review_threads import requested_changes
from forge_bot.bot.supervised_worker import tell_jobs
from forge_bot.bot.thread import Thread, awaited
from forge_bot.engine.reports import REPORT, FollowUpAsked, Paused, PauseReason, RunStarted
from forge_bot.engine.state import State
from forge_bot.errors import ForgeError
from forge_bot.forge import (
    COMMENT_ANCHOR,
    WORKFLOW,
    Forge,
    connect,
    show_error,
    show_notice,
    write_summary,
)
from forge_bot.forge.types import UNANSWERED
from forge_bot.gate.events import issue_of_branch
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, raw_file, resolve_run, run_standing, runs
from forge_bot.runs.model_access import Payment, cap_windows, is_switched_off, month_of, paid_since
from forge_bot.runs.open_run import open_run
from forge_bot.runs.this_process import now
from forge_bot.settings.approvals import read_code_owners
from forge_bot.settings.config import Config, load_config
from forge_bot.store.run_folder import REPORTS, STATE, read_reports
from forge_bot.values import Frozen

_OF_THREAD = ("comment-", "label-")
"""The beginnings of the key of a run's first report, where the thread began it."""

_MOST = 50
"""Steps of one look. GitHub limits what is written in a minute; the rest is for the next look."""


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

    UNLABEL = "its question is answered"
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


def wake() -> int:
    """Look at all runs that wait, once; return 1 if GitHub refused something."""
    around = begin()
    repository = job_repository(around)
    tell_jobs(repository, around.environ)
    config = load_config(repository.root)
    if not config.wakes.enabled:
        show_notice("nothing was looked at: wakes.enabled is false in .forge/config.yml")
        return 0
    with connect(around.step.repository, around.step.token, around.step.api) as forge:
        look = _Look(repository, config, forge, around)
        lines = [*look.wake_all()]
    for line in lines or ["no run waits for anything that is over"]:
        show_notice(line)
    write_summary(around.step.summary, "\n".join(f"- {line}" for line in lines))
    return int(look.refused)


class _Look:
    """One look at the runs of a repository."""

    def __init__(
        self,
        repository: Repository,
        config: Config,
        forge: Forge,
        around: JobContext,
    ) -> None:
        self.repository = repository
        self.config = config
        self.forge = forge
        self.inputs, self.environ, self.commands = around.inputs, around.environ, around.commands
        self.refused = False
        self.at = now()
        self.remind_after = timedelta(days=config.wakes.remind_after_days)
        self.label = f"{around.inputs.label}:{UNANSWERED}"
        self._asked_by: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._open_pulls: Mapping[str, int] = {}

    def wake_all(self) -> Iterator[str]:
        """Do what is due, and yield a line about each step."""
        paid = paid_since(self.repository, month_of(self.at))
        labelled = set(self.forge.issues_labelled(self.label))
        self._open_pulls = self.forge.open_pulls()
        waiting = [
            run for info in runs(self.repository) for run in self._read(info, paid, labelled)
        ]
        for issue in labelled - {run.issue for run in waiting if run.labelled}:
            yield from self._do(issue, WakeStep.UNLABEL)
        answered: dict[str, datetime] = {}
        for payment in paid:
            answered[payment.model] = max(payment.at, answered.get(payment.model, payment.at))
        wakes = decide_wakes(
            waiting,
            self.at,
            remind_after=self.remind_after,
            switched_off=is_switched_off(self.environ),
            answered=answered,
        )
        for step in wakes[:_MOST]:
            yield from self._do(step.run.issue, step.step, step.run.run)

    # -- how the runs stand
    # ----------------------------------------------------------------------------------------------

    def _read(
        self, info: RunInfo, paid: tuple[Payment, ...], labelled: set[int]
    ) -> Iterator[WaitingRun]:
        """Yield how a run stands, if its thread leads it and it waits for something."""
        issue = issue_of_branch(info.branch)
        pull = self._open_pulls.get(info.merge_branch, 0)
        if info.kept or issue is None or (info.ended and not pull):
            return
        with suppress(ForgeError, ValidationError):
            raw = raw_file(self.repository, info, REPORTS) or b""
            first = REPORT.validate_json(raw.partition(b"\n")[0])
            if not isinstance(first, RunStarted) or not first.key.startswith(_OF_THREAD):
                return
            if info.ended:
                reports = read_reports(raw, REPORTS)
                asked = [one for one in reports if isinstance(one, FollowUpAsked)]
                thread = Thread(self.forge, issue, self.inputs)
                review = requested_changes(thread, pull, asked)
                # What a job finds nothing in is not looked at by jobs of weeks.
                new = review is not None and self.at - review.at < timedelta(days=1)
                yield WaitingRun(issue=issue, run=info.name, reviewed=new)
                return
            state = State.model_validate_json(raw_file(self.repository, info, STATE) or b"")
            self._asked_by[info.name] = first.by
            run = WaitingRun(
                issue=issue,
                run=info.name,
                pause=state.pause if state.gate is None else None,
                room=self._has_room(state, first.by, paid),
                batch=run_standing(self.repository, info).waits_for == "batch",
            )
            yield self._with_question(run, state, labelled)

    def _has_room(self, state: State, by: str, paid: tuple[Payment, ...]) -> bool:
        pause = state.pause
        if pause is None or pause.why is not PauseReason.CAP:
            return False
        windows = cap_windows(self.config.caps, paid, by, self.at)
        return all(window.left >= pause.dollars for window in windows)

    def _with_question(self, run: WaitingRun, state: State, labelled: set[int]) -> WaitingRun:
        """Return a run with what its thread says of an open question that is old."""
        gate = state.gate
        if gate is None:
            return run
        shown = [show for show in gate.shown if COMMENT_ANCHOR in show.via]
        if not shown or self.at - shown[-1].at < self.remind_after:
            return run
        self._places[run.run] = f"{run.run}/{gate.name}/{gate.round}"
        if run.issue in labelled:
            return run.replace(asked=shown[-1].at, labelled=True)
        if self.forge.issue(run.issue).closed_at is not None:
            return run
        thread = Thread(self.forge, run.issue, self.inputs)
        reminder = thread.written("reply", occasion="reminder", to=self._places[run.run])
        return run.replace(
            asked=shown[-1].at,
            reminded=reminder.created_at if reminder is not None else None,
        )

    # -- what is done
    # ----------------------------------------------------------------------------------------------

    def _do(self, issue: int, step: WakeStep, run: str = "") -> Iterator[str]:
        line = f"#{issue}: {step}"
        try:
            match step:
                case WakeStep.UNLABEL:
                    self.forge.remove_label(issue, self.label)
                case WakeStep.GO_ON if self.forge.issue(issue).closed_at is not None:
                    return
                case WakeStep.GO_ON:
                    branch = self.repository.default_branch() or "main"
                    workflow = PurePosixPath(WORKFLOW).name
                    self.forge.dispatch(workflow, branch, {"issue": str(issue)})
                case WakeStep.REMIND:
                    self._remind(issue, run)
                case WakeStep.LABEL:
                    self.forge.add_label(issue, self.label)
        except ForgeError as error:
            self.refused = True
            show_error(f"{line}: {error.message}")
        else:
            yield line

    def _remind(self, issue: int, run: str) -> None:
        """Call those who may answer by the rules on approvals; without such, who began the run."""
        info = resolve_run(self.repository, run)
        self.repository.take_over(info.branch)
        owners = read_code_owners(self.repository.root)
        thread = Thread(self.forge, issue, self.inputs, self.config.approvals, owners)
        with open_run(self.repository, resolve_run(self.repository, run), self.config) as opened:
            people = awaited(opened, thread)
        words = reply(
            "reminder",
            commands=self.commands,
            who=self._asked_by[run],
            people=people,
            days=self.config.wakes.remind_after_days,
        )
        self.forge.comment(issue, words.comment(self._places[run]))
