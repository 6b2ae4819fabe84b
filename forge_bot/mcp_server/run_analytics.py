"""Figures of runs, estimates, and lessons of a project's earlier runs."""

from collections import Counter
from typing import Literal

from pydantic import JsonValue

from forge_bot.engine.state import State, TaskState
from forge_bot.errors import BadArguments, BadPipeline
from forge_bot.knowledge.history import History
from forge_bot.knowledge.past_runs import REPORTS, DocumentNames, ReviewReports, read_reported
from forge_bot.mcp_server.served_folders import ServedFolder
from forge_bot.runs.finding_runs.ended_records import newest_records
from forge_bot.runs.finding_runs.files_of_run import raw_file
from forge_bot.runs.finding_runs.snapshot_of_run import RunSnapshot
from forge_bot.runs.past_runs.estimate import estimate
from forge_bot.runs.past_runs.past_run_reader import history_at
from forge_bot.sentences import say
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.values import Effort, Severity, Tier

About = Literal["runs", "patterns", "friction"]

_MOST = 50
_SHOWN = 5
_ALL = 100_000


def search(
    root: ServedFolder, query: str, about: About, limit: int
) -> tuple[dict[str, JsonValue], ...]:
    """Return earlier runs that resemble a text, repeated findings of reviewers, or places where
    runs got stuck.
    """
    past, count = _history(root), min(max(limit, 1), _MOST)
    match about:
        case "runs":
            return tuple(entry.model_dump(mode="json") for entry in past.similar(query, count))
        case "patterns":
            return tuple(entry.model_dump(mode="json") for entry in past.patterns(query, (), count))
        case "friction":
            return tuple({"description": point} for point in past.friction(query, count))


def numbers_of_run(found: RunSnapshot) -> dict[str, JsonValue]:
    """Return the figures of one run."""
    raw = raw_file(found.repository, found.info, REPORTS) or b""
    reported = read_reported(raw.decode("utf-8", "replace"))
    return {**_summary(found.state), **_of_all_rounds(reported)}


def numbers_of_effort(root: ServedFolder, effort: str) -> dict[str, JsonValue]:
    """Return the estimate for a run of this effort. Raises BadArguments."""
    try:
        wanted = Effort(effort.strip().upper())
    except ValueError:
        raise BadArguments(
            say("client.run_analytics.no_such_effort", effort=effort, efforts=", ".join(Effort))
        ) from None
    config = root.config
    pipeline = load_pipeline(config.pipeline, root.repository.root)
    models = {tier: config.model_for(tier) for tier in Tier}
    head, records = root.repository.commit_id("HEAD"), newest_records(root.repository)
    found = estimate(root.repository, head, pipeline, wanted, models, records=records)
    # The keys of the other numbers, and not those of the run's own files.
    return found.model_dump(mode="json", by_alias=False)


def numbers_of_project(root: ServedFolder) -> dict[str, JsonValue]:
    """Return the figures of all runs together."""
    known = root.runs()
    past = _history(root)
    said = past.patterns("", (), _ALL)
    efforts: dict[str, JsonValue] = {}
    for info in known:
        efforts[info.effort] = sum(other.effort == info.effort for other in known)
    findings: list[JsonValue] = [
        entry.model_dump(mode="json") for entry in said if not entry.by_person
    ]
    rejections: list[JsonValue] = [
        entry.model_dump(mode="json") for entry in said if entry.by_person
    ]
    return {
        "runs": len(known),
        "completed": sum(info.status == "completed" for info in known),
        "abandoned": sum(info.status == "abandoned" for info in known),
        "waiting": sum(info.waiting for info in known),
        "by_effort": efforts,
        "most_common_findings": findings[:_SHOWN],
        "most_common_rejections": rejections[:_SHOWN],
    }


def _history(root: ServedFolder) -> History:
    """Return the history of a project. Where its pipeline cannot be read, their states and
    reports still tell.
    """
    try:
        documents = DocumentNames.of(load_pipeline(root.config.pipeline, root.repository.root))
    except BadPipeline:
        documents = DocumentNames()
    repository = root.repository
    return history_at(
        repository, repository.commit_id("HEAD"), documents, newest_records(repository)
    )


def _summary(state: State) -> dict[str, JsonValue]:
    findings = [finding for record in state.artifacts.values() for finding in record.findings]
    return {
        "effort": state.effort.value,
        "flow_template": state.flow_template,
        "total_tokens": state.usage.input_tokens + state.usage.output_tokens,
        "total_duration_ms": state.usage.duration_ms,
        "cost_usd": str(state.usage.cost) if state.usage.cost is not None else None,
        "calls": state.usage.calls,
        "phases_executed": len(
            [phase for phase in state.completed_phases if phase not in state.skipped_phases]
        ),
        "phases_skipped": len(state.skipped_phases),
        "retries": sum(max(count - 1, 0) for count in state.visits.values()),
        "review_findings": {
            severity.value: sum(finding.severity is severity for finding in findings)
            for severity in Severity
        },
        "tasks": _tasks(state.tasks),
    }


def _of_all_rounds(reported: ReviewReports) -> dict[str, JsonValue]:
    counts = Counter(finding.severity.value for _, finding in reported.findings)
    return {
        "review_findings_all_rounds": {
            severity.value: counts[severity.value] for severity in Severity
        },
        "rejections": [{"where": where, "notes": notes} for where, notes in reported.rejections],
    }


def _tasks(tasks: tuple[TaskState, ...]) -> dict[str, JsonValue]:
    counted: dict[str, JsonValue] = {}
    for task in tasks:
        counted[task.status.value] = sum(other.status is task.status for other in tasks)
    return counted
