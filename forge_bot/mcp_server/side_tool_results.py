"""Results of the tools beside the loop."""

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from forge_bot.values import Frozen


class Orientation(Frozen):
    """The state of the project; `context_link` has the rest, and `other_contexts` that of further
    served folders.
    """

    runs: int
    waiting: int
    next: str
    context_link: str
    other_contexts: tuple[str, ...] = ()
    tier: Literal["L0", "L1", "L2"] = "L0"
    branch: str = ""
    under_way: tuple[dict[str, JsonValue], ...] = ()
    context: str = ""
    pipeline: str = Field(default="develop", exclude=True)


class GraphResult(Frozen):
    """An answer about the project's graph, in lines; `links` lead to more."""

    text: str
    count: int = 0
    links: tuple[str, ...] = Field(default=(), exclude=True)


class ResumeInfo(Frozen):
    """The state of one run, with the keys of state.json."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )

    workspace: str
    spec_name: str
    current_phase: str
    current_phase_status: str
    completed_phases: tuple[str, ...]
    skipped_phases: tuple[str, ...]
    effort: str
    flow_template: str
    auto_approve: bool
    skip_pr: bool
    debug: bool
    branch: str
    checked_out: bool
    rounds: dict[str, int]
    pending_tasks: tuple[str, ...]
    completed_tasks: tuple[str, ...]
    total_tasks: int
    total_tokens: int
    total_duration_ms: int
    outstanding: str
    instruction: str


class RunList(Frozen):
    """The runs of the served folders, newest first."""

    runs: tuple[dict[str, JsonValue], ...]


class Controlled(Frozen):
    """The result of a control call."""

    workspace: str
    operation: str
    current_phase: str
    status: str
    instruction: str


class Findings(Frozen):
    """The findings from earlier runs for a text."""

    results: tuple[dict[str, JsonValue], ...]
    runs: int


class Numbers(Frozen):
    """The figures of runs, or an estimate."""

    about: str
    numbers: dict[str, JsonValue]


class Validation(Frozen):
    """The check of a document against its phase; nothing is recorded."""

    artifact: str
    phase: str
    valid: bool
    problems: tuple[str, ...]
    verdict: str | None = None
    findings: tuple[dict[str, JsonValue], ...] = ()
    tasks: tuple[str, ...] = ()


class SavedPreferences(Frozen):
    """The saved preferences for new runs of this clone."""

    preferences: dict[str, JsonValue]
