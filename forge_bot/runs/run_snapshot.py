"""Runs read without their locks: a snapshot of one, what it waits for, and what became
of all of them, by their records, git, and GitHub's pull requests. Nothing is changed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field, ValidationError

from forge_bot.engine import Pipeline, State
from forge_bot.engine.reports import Answered, ArtifactWritten, GateShown, Report, RunStarted
from forge_bot.errors import ForgeError, GitFailed
from forge_bot.git import Repository
from forge_bot.git.commit_history import last_commit_before, lines_touched
from forge_bot.git.revisions import HEADS, REMOTES, ref_target
from forge_bot.runs.find_runs import RunInfo, artifact_text, raw_file, runs
from forge_bot.settings.config import Config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import REPORTS, SPECS, STATE, read_reports, read_state
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from forge_bot.forge.types import PullRequest


class RunSnapshot(NamedTuple):
    """One run as it was when it was read."""

    repository: Repository
    info: RunInfo
    pipeline: Pipeline
    state: State

    def artifact(self, name: str) -> str | None:
        """The text of an artifact, or None."""
        return artifact_text(self.repository, self.info, name)


def run_snapshot(repository: Repository, info: RunInfo, config: Config) -> RunSnapshot:
    """Return the run, folded from its reports. Raise ReportsDamaged."""
    recorded = raw_file(repository, info, REPORTS) or b""
    return RunSnapshot(repository, info, *folded(repository, config, recorded, info.name))


def folded(repository: Repository, config: Config, raw: bytes, run: str) -> tuple[Pipeline, State]:
    """Return the pipeline that the first report names, and the state that all of them lead to.
    Raise ReportsDamaged.
    """
    place = f"{SPECS}/{run}/{REPORTS}"
    reports = read_reports(raw, place)
    first = reports[0] if reports else None
    named = first.pipeline if isinstance(first, RunStarted) else config.pipeline
    pipeline = load_pipeline(named, repository.root)
    return pipeline, read_state(pipeline, raw, place)


class RunFigures(Frozen):
    """The fate of one run."""

    run: str
    title: str
    effort: str
    status: str = Field(description="of the run")
    started_by: str
    started_at: datetime
    pull_request: str = Field(description="its address; empty without one")
    outcome: str = Field(default="", description="merged, closed or open; empty if not known")
    minutes: float | None = Field(default=None, description="from the run's start to the merge")
    minutes_waited: float = Field(description="how long its questions waited for people")
    dollars: Decimal | None = Field(description="None if the price of a model is not known")
    rounds: int = Field(description="reviews that sent work back")
    questions: int
    answers: dict[str, dict[str, int]] = Field(description="by person, then by answer")
    lines_added: int | None = Field(default=None, description="by the merge, where it is known")
    lines_touched: int | None = Field(
        default=None, description="of these, changed or gone when the days were over"
    )


class Statistics(Frozen):
    """The fates of all runs, the newest first. `unknown` says what could not be told, and why."""

    days: int = Field(description="after a merge, in which touched lines count")
    runs: tuple[RunFigures, ...]
    unknown: tuple[str, ...] = ()

    @property
    def answers(self) -> dict[str, Counter[str]]:
        """Return the answers of each person."""
        counted = dict[str, Counter[str]]()
        for run in self.runs:
            for person, answers in run.answers.items():
                counted.setdefault(person, Counter()).update(answers)
        return dict(sorted(counted.items()))


def run_statistics(
    repository: Repository, pulls: Mapping[str, "PullRequest"] | None, days: int, now: datetime
) -> Statistics:
    """Return what became of all runs. `pulls` are their pull requests by address, as GitHub knows
    them; None where it could not be asked.
    """
    figures, unknown = list[RunFigures](), list[str]()
    for info in runs(repository):
        try:
            figures.append(_figures(repository, info))
        except (ForgeError, ValidationError, IndexError):
            unknown.append(f"The record of {info.name} cannot be read.")
    if pulls is not None:
        figures = [_with_pull(repository, run, pulls, days, now) for run in figures]
    absent = sum(run.outcome == "merged" and run.lines_added is None for run in figures)
    if absent:
        unknown.append(f"Of {absent} merged changes this clone has not all commits.")
    figures.sort(key=lambda run: run.started_at, reverse=True)
    return Statistics(days=days, runs=tuple(figures), unknown=tuple(unknown))


def addresses(repository: Repository) -> tuple[str, ...]:
    """Return the addresses of the pull requests that the records name."""
    states = (raw_file(repository, info, STATE) for info in runs(repository))
    named = (re.search(rb'"pullRequest": *"(http[^"]+)"', raw or b"") for raw in states)
    return tuple(match[1].decode() for match in named if match)


def _figures(repository: Repository, info: RunInfo) -> RunFigures:
    """Return what the record of a run tells. Raises ReportsDamaged, ValidationError."""
    reports = read_reports(raw_file(repository, info, REPORTS) or b"", f"{info.name}/{REPORTS}")
    state = State.model_validate_json(raw_file(repository, info, STATE) or b"")
    answers = dict[str, Counter[str]]()
    for report in reports:
        if isinstance(report, Answered):
            answers.setdefault(report.by, Counter())[report.answer.value] += 1
    written = (report for report in reports if isinstance(report, ArtifactWritten))
    verdicts = (report.inspection.verdict for report in written)
    first = reports[0]
    return RunFigures(
        run=info.name,
        title=state.title,
        effort=state.effort.value,
        status=state.current_phase_status.value,
        started_by=first.by if isinstance(first, RunStarted) else "",
        started_at=state.started_at,
        pull_request=state.pull_request,
        minutes_waited=_waited(reports),
        dollars=state.usage.cost,
        rounds=sum(verdict is not None and not verdict.positive for verdict in verdicts),
        questions=sum(isinstance(report, GateShown) for report in reports),
        answers={person: dict(counts) for person, counts in answers.items()},
    )


def _waited(reports: Sequence[Report]) -> float:
    """Return the minutes between each question and its answer."""
    seconds, asked = 0.0, None
    for report in reports:
        if isinstance(report, GateShown):
            asked = asked or report.at
        elif isinstance(report, Answered) and asked is not None and not report.awaits_others:
            seconds += (report.at - asked).total_seconds()
            asked = None
    return round(max(seconds, 0) / 60, 1)


def _with_pull(
    repository: Repository,
    run: RunFigures,
    pulls: Mapping[str, "PullRequest"],
    days: int,
    now: datetime,
) -> RunFigures:
    pull = pulls.get(run.pull_request)
    if pull is None:
        return run
    run = run.replace(outcome=pull.state.value)
    if pull.merged_at is None:
        return run
    minutes = round((pull.merged_at - run.started_at).total_seconds() / 60, 1)
    run, until = run.replace(minutes=minutes), min(pull.merged_at + timedelta(days=days), now)
    with suppress(GitFailed):
        root, there = repository.root, f"{REMOTES}origin/{pull.base}"
        branch = there if ref_target(root, there) else f"{HEADS}{pull.base}"
        later = last_commit_before(root, branch, until.isoformat())
        added, touched = lines_touched(root, pull.merge_commit, later)
        return run.replace(lines_added=added, lines_touched=touched)
    return run
