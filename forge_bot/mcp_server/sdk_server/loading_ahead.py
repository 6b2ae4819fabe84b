"""Load the modules for a client's first calls while the client is idle.

Each part is a step of its own. A call, or a disconnect, waits at most for the end of one step.
numpy takes much memory, so the first search among past runs imports it.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from forge_bot.mcp_server.service_calls import LazyService

Step = Callable[[], object]

_BEFORE_THE_SERVICE = (
    "forge_bot.engine",
    "forge_bot.knowledge",
    "forge_bot.agent.loop",
    "forge_bot.runs.project_commands.project",
    "forge_bot.runs.prompt_material.prompt_context",
    "forge_bot.runs.agent_work.agents",
    "forge_bot.runs.local_host",
    "forge_bot.mcp_server.service",
)


def steps(service: LazyService) -> tuple[Step, ...]:
    """Return the steps in the order in which a client needs the loaded modules."""
    return (
        *(partial(import_module, name) for name in _BEFORE_THE_SERVICE),
        # Pydantic builds a class at its first use, and two threads should not build the same one:
        # nobody gets the service meanwhile.
        *(partial(service.before_calls, build) for build in (_pipeline, _records, _answers)),
        partial(_folders, service),
        partial(service.before_calls, _findings),
    )


def _folders(service: LazyService) -> None:
    """Let git find the served repositories, which raises where one is none."""
    _ = service().roots.all


def _pipeline() -> None:
    from forge_bot.settings import Config
    from forge_bot.settings.load_pipeline import load_pipeline

    load_pipeline(Config().pipeline, None)


def _records() -> None:
    from forge_bot.engine.reports import REPORT
    from forge_bot.engine.state import State
    from forge_bot.runs.finding_runs.find_runs import RunInfo

    REPORT.rebuild()
    State.model_rebuild()
    RunInfo.model_rebuild()


def _answers() -> None:
    from forge_bot.mcp_server.side_tool_results import Orientation, ResumeInfo, RunList

    for answer in (Orientation, RunList, ResumeInfo):
        answer.model_rebuild()


def _findings() -> None:
    from forge_bot.knowledge.history import Similar
    from forge_bot.knowledge.past_runs import PastRun
    from forge_bot.mcp_server.side_tool_results import Findings

    for found in (PastRun, Similar, Findings):
        found.model_rebuild()
