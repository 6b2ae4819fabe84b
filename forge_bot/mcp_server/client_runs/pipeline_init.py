"""`pipeline_init`: what the input is, and whether a run of it exists. Nothing is written."""

from collections.abc import Mapping

from forge_bot.errors import ForgeError
from forge_bot.gate.task_flags import TaskFlags, read_task_flags
from forge_bot.mcp_server.client_runs.issue_context import (
    Origin,
    fetch_needed,
    origin_of,
    run_named,
)
from forge_bot.mcp_server.client_runs.preferences import Preferences
from forge_bot.mcp_server.served_folders import ServedFolder
from forge_bot.mcp_server.tool_schemas import InitErrors, InitFlags, NewRunProposal, Resumed
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.resolve_run import checked_out
from forge_bot.runs.finding_runs.snapshot_of_run import run_snapshot
from forge_bot.runs.wall_clock import now
from forge_bot.sentences import say
from forge_bot.store import SPECS, slug, workspace_name
from forge_bot.values import Effort

_GO_ON = "call state_resume_info"
_RESUME = "resume"
"""A switch that hosts pass on and that changes nothing: a run that exists is found anyway."""


def handle_init(
    root: ServedFolder,
    arguments: str,
    current_branch: str,
    preferences: Preferences,
    environ: Mapping[str, str],
) -> NewRunProposal | Resumed | InitErrors:
    """Return the meaning of a host's arguments: a new run, one that exists, or nothing that
    could be used.
    """
    said = read_task_flags(arguments.replace("\0", ""), also=(_RESUME,))
    core, problems = said.text, said.problems
    origin = origin_of(core, environ)
    if origin.problem:
        problems = (*problems, origin.problem)
    if (known := _known(root, core, origin)) is not None:
        return Resumed(workspace=f"{SPECS}/{known.name}", instruction=_GO_ON)
    if origin.type == "workspace":
        problems = (
            *problems,
            say("client.pipeline_init.holds_no_run", folder=core),
        )
    if problems:
        return InitErrors(errors=problems)
    name = workspace_name(now().date(), "", slug(core))
    return NewRunProposal(
        workspace=f"{SPECS}/{name}",
        spec_name=name.partition("-")[2],
        source_type=origin.type,
        source_url=origin.url or None,
        source_id=origin.id or None,
        core_text=core,
        flags=_flags(said, preferences).replace(
            current_branch=current_branch or checked_out(root.repository)
        ),
        fetch_needed=fetch_needed(origin),
    )


def _flags(said: TaskFlags, preferences: Preferences) -> InitFlags:
    """Return the given flags, completed by the person's preferences."""
    return InitFlags(
        auto="auto" in said.switches or preferences.auto,
        skip_pr="nopr" in said.switches or preferences.nopr,
        debug="debug" in said.switches or preferences.debug,
        discuss="discuss" in said.switches or preferences.discuss,
        batch="batch" in said.switches,
        effort_override=Effort(said.effort) if said.effort is not None else preferences.effort,
        budget=said.budget.dollars,
        budget_tokens=said.budget.tokens,
        pipeline=said.pipeline or "",
        scope=said.scope,
    )


def _known(root: ServedFolder, core: str, origin: Origin) -> RunInfo | None:
    """Return the run that the input names, or the run under way for the same issue."""
    every = root.runs()
    name = run_named(core) if origin.type == "workspace" else core
    if named := next((info for info in every if name in {info.name, info.branch}), None):
        return named
    if origin.id:
        mark = f"-{slug(origin.id)}-"
        return next(
            (
                info
                for info in every
                if mark in info.name and not info.ended and _is_of(root, info, origin)
            ),
            None,
        )
    return None


def _is_of(root: ServedFolder, info: RunInfo, origin: Origin) -> bool:
    """Return whether a run is about this very issue: other trackers and repositories have the same
    numbers.
    """
    try:
        source = run_snapshot(root.repository, info, root.config).state.source
    except ForgeError:
        return False
    return source.type == origin.type and _place(source.url) == _place(origin.url)


def _place(url: str) -> str:
    return url.partition("://")[2].rstrip("/").casefold()
