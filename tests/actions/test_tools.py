"""A tool of an MCP server in the shipped action: a call that may change something waits for a
person's word in the thread, is made once after `/approve`, and is reported when it is denied.
"""

import re

import pytest

from tests.actions.conftest import WORKFLOWS
from tests.actions.runner import Runner, consumer, missing
from tests.actions.test_action import green
from tests.bot.stage import SECRET, Job
from tests.bot.test_calls_in_threads import TOKEN, configured, made
from tests.cli.test_tools_in_a_run import ANALYST, CREATE, asks

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.slow,
]


def asked(runner: Runner, config: str = "") -> Job:
    """Begin a run whose analyst asks for a ticket; the workflow names what the server may have."""
    configured(runner, config)
    workflow = consumer().replace(
        "        with:\n", "        with:\n          server-variables: TICKETS_TOKEN\n"
    )
    secret = "          TICKETS_TOKEN: ${{ secrets.TICKETS_TOKEN }}\n"
    runner.files_here = {f"{WORKFLOWS}/forge-bot.yml": f"{workflow.rstrip()}\n{secret}"}
    runner.secrets = {"TICKETS_TOKEN": TOKEN}
    runner.model({(*ANALYST, "1.1"): asks(CREATE), (*ANALYST, "2.1"): asks(CREATE)})
    runner.hub.add_label(runner.repo, runner.issue, "forge:S", by="maint")
    return green(runner.label())


def test_a_tool_waits_for_an_approval_and_is_called_once(runner: Runner) -> None:
    first = asked(runner)
    (question,) = runner.said("checkpoint")
    assert '"text": "a ticket"' in question
    assert made(runner) == []
    second = green(runner.say("/approve"))
    assert made(runner) == [["create", {"text": "a ticket"}]]
    assert runner.state["calls"][0]["status"] == "done"
    third = green(runner.say("/approve"))
    assert len(made(runner)) == 1
    assert runner.state["currentPhaseStatus"] == "completed"
    seen = [*runner.files().values(), *runner.said(), *(job.log for job in (first, second, third))]
    assert not [text for text in seen if TOKEN in text or SECRET in text]


def test_a_tool_that_is_denied_is_not_called_and_reported(runner: Runner) -> None:
    asked(runner, "capabilities: {deny: [mcp_tickets_create]}\n")
    assert made(runner) == []
    assert runner.state["gate"]["name"] == "checkpoint-a"
    assert "| `mcp_tickets_create` | 1 call, 1 denied" in runner.said("tracking")[-1]


def test_a_tool_that_a_person_declines_is_not_called_and_reported(runner: Runner) -> None:
    asked(runner)
    green(runner.say("/reject No tickets, please"))
    assert made(runner) == []
    assert runner.state["calls"][0]["status"] == "declined"
    told = runner.said("tracking")[-1]
    assert re.search(r"\| `mcp_tickets_create` \| .*1 declined by a person", told)
