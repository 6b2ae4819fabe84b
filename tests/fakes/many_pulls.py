"""Sixty runs that never were, on the GitHub of the tests: their records, and what became of their
pull requests. The same ones every time.
"""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from forge_bot.engine import start
from forge_bot.engine.reports import (
    REPORT,
    Answer,
    Answered,
    ArtifactWritten,
    GateShown,
    Report,
    RunStarted,
)
from forge_bot.engine.state import State
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import state_file
from forge_bot.values import Effort, Inspection, PhaseId, RunStatus, Usage, Verdict
from tests.fakes.github import FakeGitHub, Repository
from tests.fakes.github.state import Pull

BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
PEOPLE = ("maint", "boss", "ann")


@dataclass(frozen=True)
class MadeRun:
    """One run: how many lines it added, and when how many of them were changed."""

    number: int
    at: datetime
    outcome: str
    lines: int
    touched: int
    days_later: int
    minutes: int
    rejections: int
    dollars: Decimal
    by: str

    @property
    def name(self) -> str:
        return f"{self.at:%Y%m%d}-{self.number}-change"

    @property
    def merged_at(self) -> datetime:
        return self.at + timedelta(minutes=self.minutes)


def made_runs(count: int = 60, seed: int = 5) -> list[MadeRun]:
    """So many runs, one a day."""
    chance = random.Random(seed)  # noqa: S311 - the same runs each time, nothing secret
    return [
        MadeRun(
            number=number,
            at=BEGAN + timedelta(days=number),
            outcome=chance.choices(("merged", "closed", "open"), (6, 2, 1))[0],
            lines=(lines := chance.randint(4, 40)),
            touched=chance.choice((0, 0, 1, lines // 2)),
            days_later=chance.choice((2, 10, 30)),
            minutes=chance.randint(30, 3_000),
            rejections=chance.choice((0, 0, 1, 2)),
            dollars=Decimal(chance.randint(10, 400)) / 100,
            by=chance.choice(PEOPLE),
        )
        for number in range(1, count + 1)
    ]


def furnish(hub: FakeGitHub, repo: Repository, runs: list[MadeRun]) -> None:
    """Bring records, merges and pull requests of these runs into a repository."""
    main = repo.bare.head("main")
    stream = "".join(_commits(hub, repo, runs, main))
    command = ["git", "-C", str(repo.bare.path), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=stream.encode(), check=True)
    for run in runs:
        issue = hub.issue(repo, f"Change {run.number}", "", by="ann")
        assert issue.number == run.number
        merged = int(run.merged_at.timestamp()) if run.outcome == "merged" else None
        issue.pull = Pull(f"fix/{run.number}", "main", merged=merged, last_head=main)
        issue.pull.merge_commit = repo.bare.resolve(f"refs/made/{run.number}") if merged else ""
        issue.state = "open" if run.outcome == "open" else "closed"


def _commits(hub: FakeGitHub, repo: Repository, runs: list[MadeRun], main: str) -> Iterator[str]:
    """Yield git's import of the records, and of main in the order of time."""
    for run in runs:
        reports, state = _record(hub, repo, run)
        lines = b"".join(REPORT.dump_json(report) + b"\n" for report in reports).decode()
        folder = f".specs/{run.name}"
        files = {
            f"{folder}/reports.jsonl": lines,
            f"{folder}/state.json": state_file(state).decode(),
        }
        yield _commit(f"refs/forge-bot/runs/{run.name}", run.at, files, main)
    events = [(run.merged_at, run, 0) for run in runs if run.outcome == "merged"]
    events += [(at + timedelta(days=run.days_later), run, run.touched) for at, run, _ in events]
    before = main
    for at, run, touched in sorted(events, key=lambda event: event[0]):
        text = "".join(f"{line}{'!' * (line < touched)}\n" for line in range(run.lines))
        yield _commit("refs/heads/main", at, {f"src/{run.number}.txt": text}, before)
        before = ""
        if at == run.merged_at:
            yield f"reset refs/made/{run.number}\nfrom refs/heads/main\n\n"


def _commit(ref: str, at: datetime, files: dict[str, str], before: str) -> str:
    who = f"committer Ann <ann@example.com> {at.timestamp():.0f} +0000"
    start = f"from {before}\n" if before else ""
    changes = "".join(
        f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"
        for path, text in files.items()
    )
    return f"commit {ref}\n{who}\ndata 6\nChange\n{start}{changes}\n"


def _record(hub: FakeGitHub, repo: Repository, run: MadeRun) -> tuple[list[Report], State]:
    """Return the reports of a run and its last state: each rejection sends a review's work back."""
    pipeline = load_pipeline("develop", repo.bare.path)
    first = RunStarted(
        key="start", at=run.at, run=run.name, pipeline="develop", title=f"Change {run.number}",
        effort=Effort.S, effort_reason="made up", branch=f"feature/{run.number}-change",
        base_branch="main", base_commit="0" * 40, request_blob="0" * 40, request_hash="0" * 64,
        by=run.by,
    )  # fmt: skip
    reports: list[Report] = [first]
    gate, at = PhaseId("checkpoint-a"), run.at
    for round_ in range(run.rejections + 1):
        last = round_ == run.rejections
        verdict = Verdict.APPROVE if last else Verdict.REVISE
        at += timedelta(minutes=10)
        reports += [
            ArtifactWritten(
                key=f"written-{round_}", at=at, action_id=f"review.{round_}",
                phase=PhaseId("phase-3"), artifact="review-design.md", blob="0" * 40,
                inspection=Inspection(verdict=verdict),
            ),
            GateShown(key=f"shown-{round_}", at=at, gate=gate, digest=f"{round_}" * 64, via=""),
            Answered(
                key=f"answer-{round_}", at=at + timedelta(minutes=5), gate=gate,
                answer=Answer.APPROVE if last else Answer.REJECT, notes="" if last else "No.",
                by=run.by, via="",
            ),
        ]  # fmt: skip
    state = start(pipeline, first).replace(
        current_phase_status=RunStatus.COMPLETED,
        pull_request=f"{hub.url}/{repo.full_name}/pull/{run.number}",
        usage=Usage(calls=9, cost=run.dollars),
    )
    return reports, state
