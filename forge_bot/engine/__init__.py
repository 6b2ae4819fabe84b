"""The deterministic pipeline. It has no files, no network and no clock.

A host asks it for the next action and reports the result.

state = start(pipeline, RunStarted(...))
action = next_action(pipeline, state)
state = advance(pipeline, state, report)
"""

from forge_bot.engine.actions import (
    Action,
    Checkpoint,
    Done,
    Exec,
    HumanGate,
    PersonAction,
    SpawnAgent,
    WorkAction,
    WriteFile,
)
from forge_bot.engine.advance import advance, fold, start
from forge_bot.engine.drive import Host, carry_out, drive, no_reports
from forge_bot.engine.next_action import next_action
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import REPORT, Report
from forge_bot.engine.state import SCHEMA_VERSION, State

__all__ = [
    "REPORT",
    "SCHEMA_VERSION",
    "Action",
    "Checkpoint",
    "Done",
    "Exec",
    "Host",
    "HumanGate",
    "PersonAction",
    "Pipeline",
    "Report",
    "SpawnAgent",
    "State",
    "WorkAction",
    "WriteFile",
    "advance",
    "carry_out",
    "drive",
    "fold",
    "next_action",
    "no_reports",
    "start",
]
