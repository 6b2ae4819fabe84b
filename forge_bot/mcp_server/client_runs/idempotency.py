"""Recognise a confirmation that was sent again, as after a lost answer: it means the run that it
began.
"""

import re

from forge_bot.engine import REPORT
from forge_bot.engine.reports import Prepared, RunStarted
from forge_bot.errors import BranchExists
from forge_bot.mcp_server.served_folders import ServedFolder
from forge_bot.runs.create_run import NewRun, request_of
from forge_bot.runs.finding_runs.files_of_run import raw_file
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.wall_clock import now
from forge_bot.sentences import say
from forge_bot.store import SPECS, workspace_name


def begun_before(root: ServedFolder, wanted: NewRun) -> RunInfo | None:
    """The run that this very beginning has led to, where its client has reported nothing yet."""
    # Without the day: a call may come again after midnight.
    stem = workspace_name(now().date(), wanted.draft.source.id, wanted.plan.slug).partition("-")[2]
    named = re.compile(rf"\d{{8}}-{re.escape(stem)}(?:-\d+)?")
    alike = (info for info in root.runs() if not info.ended and named.fullmatch(info.name))
    return next((info for info in alike if _is_fresh(root, info, wanted)), None)


def check_alone(root: ServedFolder, branch: str) -> None:
    """Raise BranchExists if a run is under way on the branch that another one is to work on."""
    if other := next(
        (
            info
            for info in root.runs()
            if info.branch == branch and not info.ended and not info.remote
        ),
        None,
    ):
        raise BranchExists(
            say("client.idempotency.run_in_progress", specs=SPECS, name=other.name, branch=branch),
            hint=(say("client.idempotency.continue_that_run", specs=SPECS, name=other.name)),
        )


def _is_fresh(root: ServedFolder, info: RunInfo, wanted: NewRun) -> bool:
    raw = raw_file(root.repository, info, "reports.jsonl") or b""
    try:
        first, *others = (
            REPORT.validate_json(line) for line in raw[: raw.rfind(b"\n") + 1].splitlines()
        )
    except ValueError:
        return False
    # Setup is our own work, so a client that has only asked for its first action has done nothing.
    if not isinstance(first, RunStarted) or any(
        not isinstance(report, Prepared) for report in others
    ):
        return False
    here = first.branch == first.base_branch
    return (first.request_hash, first.effort, first.flags, here) == (
        request_of(wanted).hash,
        wanted.plan.effort,
        wanted.flags,
        wanted.plan.here,
    )
