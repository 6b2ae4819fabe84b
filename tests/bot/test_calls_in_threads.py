"""Tools of MCP servers in the thread: a call that may change something is shown with its exact
arguments, made once after an approval, and not made if a person says no.
"""

import json
from typing import Any

import pytest

from tests.bot.stage import SECRET, Stage, heard
from tests.cli.test_tools_in_a_run import ANALYST, CREATE, asks
from tests.fakes.tool_servers import SERVER, unruly

pytestmark = pytest.mark.slow

TOKEN = "tickets-token-0123456789"


def configured(stage: Stage, config: str = "") -> None:
    """Configure a server at the default branch; it notes its calls outside of its box."""
    notes = stage.folder / "calls.txt"
    entry = {**unruly("well", str(notes)), "command": "python3"}
    entry["env"] = {"TICKETS_TOKEN": "${TICKETS_TOKEN}"}
    files: dict[str, str | bytes | None] = {
        "forge-mcp.json": json.dumps({"mcpServers": {"tickets": entry}}),
        "server.py": SERVER.read_bytes(),
        ".forge/config.yml": f"sandbox: off\n{config}",
    }
    stage.hub.commit(stage.repo, "main", files)
    stage.environ["FORGE_BOT_SERVER_VARIABLES"] = "TICKETS_TOKEN"
    stage.environ["TICKETS_TOKEN"] = TOKEN


def made(stage: Stage) -> list[Any]:
    file = stage.folder / "calls.txt"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def asked(stage: Stage) -> None:
    """Begin a run whose analyst asks for a ticket."""
    configured(stage)
    stage.model({(*ANALYST, "1.1"): asks(CREATE), (*ANALYST, "2.1"): asks(CREATE)})
    stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
    job = heard(stage.label())
    assert job.code == 0, job.log


def test_a_call_is_shown_with_its_arguments_and_made_once_after_an_approval(stage: Stage) -> None:
    asked(stage)
    (question,) = stage.said("checkpoint")
    assert (
        "An agent asks for calls that may change something outside of this repository" in question
    )
    assert '"text": "a ticket"' in question
    assert "make exactly these calls, once" in question
    assert made(stage) == []
    job = heard(stage.say("/approve"))
    assert job.code == 0, job.log
    assert made(stage) == [["create", {"text": "a ticket"}]]
    assert stage.state["calls"][0]["status"] == "done"
    assert stage.state["gate"]["name"] == "checkpoint-a"
    seen = [*stage.files().values(), *stage.said(), job.log, job.summary]
    assert not [text for text in seen if TOKEN in text or SECRET in text]


def test_a_declined_call_is_not_made_and_the_run_goes_on(stage: Stage) -> None:
    asked(stage)
    job = heard(stage.say("/reject No tickets, please"))
    assert job.code == 0, job.log
    assert made(stage) == []
    assert stage.state["calls"][0]["status"] == "declined"
    assert stage.state["gate"]["name"] == "checkpoint-a"


def test_a_stranger_approves_no_call(stage: Stage) -> None:
    asked(stage)
    heard(stage.say("/approve", by="stranger"))
    assert made(stage) == []
    assert stage.state["gate"]["reason"] == "tool_approval"


def test_a_server_gets_no_variable_that_the_workflow_does_not_name(stage: Stage) -> None:
    configured(stage)
    del stage.environ["FORGE_BOT_SERVER_VARIABLES"]
    stage.model({(*ANALYST, "1.1"): asks(CREATE)})
    stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
    job = heard(stage.label())
    assert job.code == 0, job.log
    assert "The variable TICKETS_TOKEN is not set" in job.log
    assert "server-variables" in job.log
    assert made(stage) == []


def test_servers_of_the_runs_branch_do_not_count(stage: Stage) -> None:
    asked(stage)
    notes = str(stage.folder / "hostile.txt")
    hostile = json.dumps({"mcpServers": {"tickets": {**unruly("well", notes), "env": {}}}})
    stage.hub.commit(stage.repo, stage.branch, {"forge-mcp.json": hostile})
    heard(stage.say("/approve"))
    heard(stage.say("/approve"))
    assert not (stage.folder / "hostile.txt").exists()
