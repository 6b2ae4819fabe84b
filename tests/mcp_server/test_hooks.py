"""Hooks of a host, asked over stdin as the host asks them."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from forge_bot.mcp_server.hooks import Event, answer_hook
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import hosting

TASK = "Nobody is on call before the start"


def hook(sample: Sample, event: str, **payload: Any) -> tuple[int, str]:
    return asked(sample, event, json.dumps({"cwd": str(sample.path), **payload}).encode())


def asked(sample: Sample, event: str, said: bytes) -> tuple[int, str]:
    words = [warm_python(), "-m", "forge_bot", "hook", event]
    done = subprocess.run(words, input=said, capture_output=True, check=False, cwd=sample.path)
    return done.returncode, done.stderr.decode()


async def test_nothing_is_stopped_where_no_run_is_under_way(sample: Sample) -> None:
    assert hook(
        sample, "pre-tool", tool_name="Write", tool_input={"file_path": "rota/schedule.py"}
    ) == (0, "")
    assert hook(sample, "stop") == (0, "")


@pytest.mark.slow
async def test_before_the_implementation_only_the_runs_folder_is_written(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
        folder = host.workspace
    code, why = hook(
        sample,
        "pre-tool",
        tool_name="Edit",
        tool_input={"file_path": str(sample.path / "rota" / "schedule.py")},
    )
    assert (code, "phase-1" in why) == (2, True)
    assert hook(
        sample, "pre-tool", tool_name="Write", tool_input={"file_path": f"{folder}/analysis.md"}
    ) == (0, "")
    assert (
        hook(
            sample,
            "pre-tool",
            tool_name="Write",
            tool_input={"file_path": f"{folder}/reports.jsonl"},
        )[0]
        == 2
    )
    code, why = hook(sample, "post-tool", tool_name="Agent", tool_response="All done.")
    assert (code, "analysis.md is not there yet" in why) == (2, True)
    code, why = hook(sample, "stop")
    assert (code, "pipeline_next_action" in why) == (2, True)
    assert hook(sample, "stop", stop_hook_active=True) == (0, "")


COMMANDS = {
    "git commit -m x": 2,
    "cd rota && git -c a=b commit -qm x": 2,
    "git checkout main": 2,
    "git switch --quiet master": 2,
    "git push --force-with-lease": 2,
    "git checkout -b fix/main-menu": 0,
    "/usr/bin/git commit -m x": 2,
    "(cd rota; git commit -am x)": 2,
    "bash -lc 'cd rota && git commit -m x'": 2,
    "echo $(git commit -m x)": 2,
    "git --git-dir .git --work-tree . commit -m x": 2,
    "git commit -m 'it does not close": 2,
    "git status\ngit merge other": 2,
    "env GIT_EDITOR=true git rebase other": 2,
    "git checkout other": 2,
    "git switch -": 2,
    "git push origin +HEAD": 2,
    "git push -uf origin HEAD": 2,
    "git push -u origin HEAD": 0,
    "git checkout other -- rota/schedule.py": 2,
    "git checkout -- rota/schedule.py": 0,
    "git restore rota/schedule.py": 0,
    "git commit-tree HEAD^{tree}": 0,
    "git diff | grep '^+' ; git push --follow-tags": 0,
    "git log --grep 'git commit'": 0,
    "echo main": 0,
    "git status": 0,
}


@pytest.mark.slow
async def test_commands_that_would_leave_the_run_are_stopped(sample: Sample) -> None:
    sample.git("branch", "other")
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()

    def judged(command: str) -> int:
        payload = {"cwd": str(sample.path), "tool_name": "Bash", "tool_input": {"command": command}}
        return answer_hook("pre-tool", StringIO(json.dumps(payload)))

    assert {command: judged(command) for command in COMMANDS} == COMMANDS


@pytest.mark.slow
async def test_a_call_that_cannot_be_read_is_stopped_only_where_a_run_could_be_harmed(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(folder: str = ".", said: str = "{") -> int:
        monkeypatch.chdir(sample.path / folder)
        return answer_hook("pre-tool", StringIO(said))

    assert broken() == 0
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
    assert [
        broken(said=said)
        for said in ("{", "[]", "[" * 100_000, '{"cwd": "/nowhere\\u0000"}', '"\\ud800"')
    ] == [2] * 5
    assert broken("rota") == 2
    assert broken("..") == 0
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(sample.path))
    assert broken("..") == 2
    assert asked(sample, "pre-tool", b"\xff")[0] == 2


@pytest.mark.slow
async def test_an_agent_that_works_beside_the_session_is_waited_for(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        launched = {"isAsync": True, "status": "async_launched", "agentId": "a1"}
        assert hook(sample, "post-tool", tool_name="Agent", tool_response=launched) == (0, "")
        at_work = [{"id": "a1", "type": "subagent", "status": "running"}]
        assert hook(sample, "stop", stop_hook_active=False, background_tasks=at_work) == (0, "")
        assert hook(sample, "stop", stop_hook_active=False, background_tasks=[])[0] == 2
        # The agent ends: this is where it can still write what it has only said.
        ends: dict[str, Any] = {
            "hook_event_name": "SubagentStop",
            "agent_type": "general-purpose",
            "stop_hook_active": False,
        }
        code, why = hook(sample, "post-tool", **ends)
        assert (code, "analysis.md is not there yet" in why) == (2, True)
        assert hook(sample, "post-tool", **{**ends, "stop_hook_active": True}) == (0, "")
        assert hook(sample, "post-tool", **{**ends, "agent_type": "Explore"}) == (0, "")
        host.perform(action)
        assert hook(sample, "post-tool", **ends) == (0, "")


def judged(folder: Path, path: str = "rota/schedule.py", event: Event = "pre-tool") -> int:
    payload = {"cwd": str(folder), "tool_name": "Write", "tool_input": {"file_path": path}}
    return answer_hook(event, StringIO(json.dumps(payload)))


def without_reports(run: Path) -> None:
    (run / "reports.jsonl").unlink()


def with_a_folder_in_their_place(run: Path) -> None:
    without_reports(run)
    (run / "reports.jsonl").mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda run: (run / "reports.jsonl").write_bytes(b""),
    "torn": lambda run: (run / "reports.jsonl").write_bytes(b'{"type": "run_started", "ke'),
    "in conflict": (
        lambda run: (run / "reports.jsonl").write_bytes(
            b"<<<<<<< HEAD\n" + (run / "reports.jsonl").read_bytes()
        )
    ),
    "broken later": (
        lambda run: (run / "reports.jsonl").write_bytes(
            (run / "reports.jsonl").read_bytes() + b"\xff\n"
        )
    ),
    "gone": without_reports,
    "no file": with_a_folder_in_their_place,
}


@pytest.mark.slow
async def test_a_record_that_cannot_be_read_stops_calls_until_a_person_brings_it_back(
    sample: Sample,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
    run, elsewhere = sample.path / host.workspace, tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for what, damage in DAMAGES.items():
        damage(run)
        capsys.readouterr()
        assert judged(sample.path) == 2, what
        said = capsys.readouterr().err
        assert f"{host.workspace}, cannot be read" in said, what
        # The end of a session is none of the things that are stopped for it.
        assert [judged(sample.path, event="stop"), judged(sample.path, event="post-tool")] == [
            0,
            0,
        ], what
        if (run / "reports.jsonl").is_dir():
            (run / "reports.jsonl").rmdir()
        way_out = re.search(r"git (restore .+?) - or", said)
        assert way_out is not None
        sample.git(*way_out[1].split())
        assert (judged(sample.path), judged(sample.path, f"{host.workspace}/analysis.md")) == (
            2,
            0,
        ), what
        assert "phase-1" in capsys.readouterr().err, what
    (run / "state.json").write_text("{", encoding="utf-8")
    assert (judged(sample.path), judged(sample.path, f"{host.workspace}/analysis.md")) == (2, 0)
    with_a_folder_in_their_place(run)
    assert judged(sample.path) == 2
    shutil.rmtree(run)
    assert judged(sample.path) == 0


@pytest.mark.slow
async def test_a_run_that_is_over_lets_go_even_if_part_of_its_record_is_broken(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
        assert judged(sample.path) == 2
        await host.call("run_control", workspace=host.workspace, operation="abandon")
    run = sample.path / host.workspace
    assert judged(sample.path) == 0
    (run / "state.json").write_text("{", encoding="utf-8")
    assert judged(sample.path) == 0
    sample.git("restore", "--", host.workspace)
    for what in ("empty", "gone"):
        DAMAGES[what](run)
        assert judged(sample.path) == 0, what
    # Nobody is on a branch while a commit is looked at; nothing that could be harmed is under way
    # there.
    sample.git("restore", "--", host.workspace)
    sample.git("switch", "-q", "--detach")
    assert judged(sample.path) == 0


@pytest.mark.slow
async def test_what_is_no_run_of_this_branch_stops_nothing(sample: Sample) -> None:
    other = sample.path / ".specs" / "20200101-other"
    other.mkdir(parents=True)
    (other / "state.json").write_text('{"version": 1, "specName": "other"}', encoding="utf-8")
    (other / "request.md").write_text("# Other\n", encoding="utf-8")
    assert judged(sample.path) == 0
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
    DAMAGES["empty"](sample.path / host.workspace)
    assert judged(sample.path) == 2
    sample.git("symbolic-ref", "HEAD", "refs/heads/main")
    assert judged(sample.path) == 0
