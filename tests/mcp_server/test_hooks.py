"""Hooks of a host, asked over stdin as the host asks them."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.host import hosting

TASK = "Nobody is on call before the start"


def hook(sample: Sample, event: str, **payload: Any) -> tuple[int, str]:
    words = [sys.executable, "-m", "forge_bot", "hook", event]
    said = json.dumps({"cwd": str(sample.path), **payload})
    done = subprocess.run(words, input=said, capture_output=True, text=True, check=False, cwd=sample.path)
    return done.returncode, done.stderr


@pytest.mark.promise("mcp-hooks", "cli-hook")
async def test_nothing_is_stopped_where_no_run_is_under_way(sample: Sample) -> None:
    assert hook(sample, "pre-tool", tool_name="Write", tool_input={"file_path": "rota/schedule.py"}) == (0, "")
    assert hook(sample, "stop") == (0, "")


async def test_before_the_implementation_only_the_runs_folder_is_written(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
        folder = host.workspace
    code, why = hook(sample, "pre-tool", tool_name="Edit", tool_input={"file_path": str(sample.path / "rota" / "schedule.py")})
    assert (code, "phase-1" in why) == (2, True)
    assert hook(sample, "pre-tool", tool_name="Write", tool_input={"file_path": f"{folder}/analysis.md"}) == (0, "")
    assert hook(sample, "pre-tool", tool_name="Write", tool_input={"file_path": f"{folder}/reports.jsonl"})[0] == 2
    code, why = hook(sample, "post-tool", tool_name="Agent", tool_response="All done.")
    assert (code, "analysis.md is not there yet" in why) == (2, True)
    code, why = hook(sample, "stop")
    assert (code, "pipeline_next_action" in why) == (2, True)
    assert hook(sample, "stop", stop_hook_active=True) == (0, "")


@pytest.mark.promise("mcp-hooks")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("git commit -m x", 2),
        ("cd rota && git -c a=b commit -qm x", 2),
        ("git checkout main", 2),
        ("git switch --quiet master", 2),
        ("git push --force-with-lease", 2),
        ("git checkout -b fix/main-menu", 0),
        ("git log --grep 'git commit'", 0),
        ("echo main", 0),
        ("git status", 0),
    ],
)
async def test_commands_that_would_leave_the_run_are_stopped(sample: Sample, command: str, code: int) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
    assert hook(sample, "pre-tool", tool_name="Bash", tool_input={"command": command})[0] == code


async def test_a_call_that_cannot_be_read_is_stopped_only_where_a_run_could_be_harmed(sample: Sample) -> None:
    words = [sys.executable, "-m", "forge_bot", "hook", "pre-tool"]

    def broken() -> int:
        return subprocess.run(words, input="{", capture_output=True, text=True, check=False, cwd=sample.path).returncode

    assert broken() == 0
    async with hosting(sample) as host:
        await host.begin(TASK)
    assert broken() == 2
