"""`pipeline_init`: what the input is, and whether a run of it exists. Nothing is written."""

from collections.abc import Mapping

from pydantic import JsonValue

from forge_bot.errors import ForgeError
from forge_bot.gate.flags import TaskFlags, read_task_flags
from forge_bot.mcp_server.client_runs.issue_context import fetch_needed, run_named, source_of
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import InitFlags
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.resolve_run import checked_out
from forge_bot.runs.finding_runs.snapshot_of_run import run_snapshot
from forge_bot.runs.wall_clock import now
from forge_bot.store import SPECS, slug, workspace_name
from forge_bot.values import Effort, Source

_RESUME = "resume"
"""A switch that hosts pass on and that changes nothing: a run that exists is found anyway."""


def handle_init(
    served: ServedRepository, arguments: str, current_branch: str, environ: Mapping[str, str]
) -> dict[str, JsonValue]:
    """Return the meaning of a host's arguments: a new run, one that exists, or nothing that
    could be used.
    """
    task = read_task_flags(arguments.replace("\0", ""), also=(_RESUME,))
    core, problems = task.text, list(task.problems)
    source = source_of(core, environ)
    if isinstance(source, str):
        problems.append(source)
        source = Source()
    if (known := _known(served, core, source)) is not None:
        return {
            "resume_mode": "auto",
            "workspace": f"{SPECS}/{known.name}",
            "instruction": "call state_resume_info",
        }
    if source.type == "workspace":
        problems.append(
            f"{core} holds no run: name one of run_list, or say in words what is to be done"
        )
    if problems:
        return {"errors": [*problems]}
    name = workspace_name(now().date(), "", slug(core))
    proposal: dict[str, JsonValue] = {
        "workspace": f"{SPECS}/{name}",
        "spec_name": name.partition("-")[2],
        "source_type": source.type,
        "source_url": source.url,
        "source_id": source.id,
        "core_text": core,
        "flags": _flags(task, current_branch or checked_out(served.repository)),
        "fetch_needed": fetch_needed(source),
    }
    return {key: value for key, value in proposal.items() if value}


def _flags(task: TaskFlags, current_branch: str) -> dict[str, JsonValue]:
    flags = InitFlags(
        auto="auto" in task.switches,
        skip_pr="nopr" in task.switches,
        debug="debug" in task.switches,
        discuss="discuss" in task.switches,
        batch="batch" in task.switches,
        effort_override=Effort(task.effort) if task.effort is not None else None,
        budget=task.budget.dollars,
        budget_tokens=task.budget.tokens,
        pipeline=task.pipeline or "",
        scope=task.scope,
        current_branch=current_branch,
    )
    return flags.model_dump(mode="json")


def _known(served: ServedRepository, core: str, source: Source) -> RunInfo | None:
    """Return the run that the input names, or the run under way for the same issue."""
    every = served.runs()
    name = run_named(core) if source.type == "workspace" else core
    if named := next((info for info in every if name in {info.name, info.branch}), None):
        return named
    if not source.id:
        return None
    mark = f"-{slug(source.id)}-"
    alike = (info for info in every if mark in info.name and not info.ended)
    return next((info for info in alike if _is_of(served, info, source)), None)


def _is_of(served: ServedRepository, info: RunInfo, source: Source) -> bool:
    """Return whether a run is about this very issue: other trackers and repositories have the same
    numbers.
    """
    try:
        state = run_snapshot(served.repository, info, served.config).state
    except ForgeError:
        return False
    same_place = _place(state.source.url) == _place(source.url)
    return state.source.type == source.type and same_place


def _place(url: str) -> str:
    return url.partition("://")[2].rstrip("/").casefold()
