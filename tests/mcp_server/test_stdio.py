"""Whole runs over stdin and stdout, by a client that knows nothing but the actions it gets."""

import asyncio
import json
import re
import sys
from typing import Any

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Host, Json, over_stdio, two_tasks

TASK = "Nobody is on call before the start"


def steps(host: Host) -> list[str]:
    """What was asked, in order: phases with their tasks, and gates."""
    said: list[str] = []
    for action in host.asked:
        tasks = ",".join(action.get("parallel_task_ids") or ())
        said.append(
            " ".join(
                filter(None, (action.get("name") or action.get("phase") or action["type"], tasks))
            )
        )
    return [
        step
        for place, step in enumerate(said)
        if place == 0 or host.asked[place]["action_id"] != host.asked[place - 1]["action_id"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_small_run_with_auto_and_without_a_pull_request(sample: Sample, mode: str) -> None:
    async with over_stdio(sample, python=sys.executable, mode=mode) as host:
        await host.begin(f"{TASK} --auto --nopr", "S")
        done = await host.drive(await host.next())
        assert done["type"] == "done"
        assert steps(host) == [
            "phase-1", "phase-3", "phase-3b", "phase-4", "phase-5", "phase-7", "final-verification", "final-summary", "done",
        ]  # fmt: skip
        assert host.git("status", "--porcelain") == ""
        state: Json = json.loads(
            (host.path / host.workspace / "state.json").read_text(encoding="utf-8")
        )
        assert state["currentPhaseStatus"] == "completed"
        assert [decision["via"] for decision in state["decisions"]] == ["auto"]
        # Our own process ran the tests: three of them failed before, and none more does now.
        before, after = state["baseline"][0], state["verification"]["results"][0]
        assert (before["tests"], after["tests"], state["verification"]["red"]) == (11, 12, False)
        assert before["failures"] == after["failures"]


@pytest.mark.slow
async def test_a_large_run_with_revise_fail_reject_a_wave_and_a_human_gate(sample: Sample) -> None:
    tasks = two_tasks()
    plan = str(tasks["task-decomposer", "*", "*"]["artifact_markdown"])
    human = (
        "\n## Task 3: Tell the team\nmode: human_gate\ndepends_on: [1, 2]\n\nAcceptance"
        " criteria:\n- [ ] AC-1: told\n"
    )
    answers = {
        **script.usual(),
        **tasks,
        ("task-decomposer", "*", "*"): {"artifact_markdown": plan + human},
        ("design-reviewer", "*", "1"): script.review("REVISE", "[CRITICAL] The end is missing"),
        ("impl-reviewer", "*", "task 1, 1"): script.review(
            "FAIL", "[MAJOR] Not tested", extra=["Acceptance Criteria"]
        ),
        ("implementer", "*", "task 1, 2"): script.change(),
    }
    async with over_stdio(sample) as host:
        host.answers = answers
        await host.begin(TASK, "L")
        gate = await host.drive(await host.next())
        assert gate["name"] == "checkpoint-a"
        gate = await host.drive(await host.next(user_response="reject keep the old name"))
        gate = await host.drive(await host.next(user_response="approve", digest=gate["digest"]))
        assert gate["name"] == "checkpoint-b"
        gate = await host.drive(await host.next(user_response="approve"))
        assert gate["type"] == "human_gate"
        done = await host.drive(await host.next(user_response="done", action_id=gate["action_id"]))
        assert done["type"] == "done"
        assert steps(host) == [
            "phase-1", "phase-2", "phase-3", "phase-3b", "phase-3", "phase-3b", "checkpoint-a",
            "phase-3", "phase-3b", "checkpoint-a", "phase-4", "phase-4b", "checkpoint-b",
            "phase-5 1,2", "phase-6 1,2", "phase-5", "phase-6", "task-3", "phase-7", "final-verification", "final-summary", "done",
        ]  # fmt: skip
        assert host.git("status", "--porcelain") == ""


async def test_a_run_goes_on_after_the_server_went_away_and_a_report_never_came(
    sample: Sample,
) -> None:
    async with over_stdio(sample) as host:
        await host.begin(TASK, "M")
        lost = await host.drive(await host.next(), "investigator")
        host.perform(lost)
    async with over_stdio(sample, host.workspace) as host:
        resumed = await host.call("state_resume_info", workspace=host.workspace)
        assert (resumed["currentPhase"], resumed["instruction"]) == (
            "phase-2",
            "call pipeline_next_action",
        )
        same = await host.next()
        assert (same["action_id"], same["prompt"]) == (lost["action_id"], lost["prompt"])
        # What the agent wrote before the server went away counts, with and without its name.
        after = await host.next(previous_action_complete=True)
        assert after["phase"] == "phase-3"


async def test_two_clients_at_once_lose_no_report(sample: Sample) -> None:
    async with over_stdio(sample) as one:
        await one.begin(TASK, "M")
        action = await one.next()
        async with over_stdio(sample, one.workspace) as other:
            one.perform(action)
            said: dict[str, Any] = {
                "previous_action_complete": True,
                "action_id": action["action_id"],
            }
            answers = await asyncio.gather(
                *(host.next(**said) for host in (one, other, one, other))
            )
            assert {answer["phase"] for answer in answers} == {"phase-2"}
            assert sum(answer["report_result"] is not None for answer in answers) == 1
        log = one.git("log", "--format=%s").splitlines()
        assert log.count("forge-bot: Situation Analysis") == 1


async def test_nothing_but_the_protocol_stands_on_stdout(sample: Sample) -> None:
    words = ("-m", "forge_bot", "mcp", "--repo", str(sample.path))
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "pipeline_init", "arguments": {"arguments": TASK}},
    }
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[Json] = []
    for message, answered in ((opening, True), (told, False), (call, True)):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        await process.stdin.drain()
        if answered:
            lines.append(json.loads(await process.stdout.readline()))
    process.stdin.close()
    rest = await process.stdout.read()
    assert await process.wait() == 0
    assert [line["id"] for line in lines] == [1, 2]
    assert lines[0]["result"]["capabilities"]["tools"]["listChanged"] is True
    assert rest == b""


@pytest.mark.slow
async def test_a_line_that_is_no_message_is_answered_and_the_next_one_is_served(
    sample: Sample,
) -> None:
    words = ("-m", "forge_bot", "mcp", "--repo", str(sample.path))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None

    async def answer(line: bytes) -> Json:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line + b"\n")
        await process.stdin.drain()
        return json.loads(await asyncio.wait_for(process.stdout.readline(), 60))

    def call(id_: int, text: str) -> bytes:
        params = {"name": "pipeline_init", "arguments": {"arguments": text}}
        return json.dumps(
            {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
        ).encode()

    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    await answer(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    )
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n\n  \n')
    for line, id_, code in (
        (b"hello", None, -32700),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, None, -32700),
        (b'{"jsonrpc": "2.0", "id": 7, "params": {}}', 7, -32600),
        (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', "x", -32600),
        (b"[1, 2]", None, -32600),
    ):
        said = await answer(line)
        assert (said["id"], said["error"]["code"]) == (id_, code), line[:40]
    # What JSON can spell and text cannot hold, and bytes that are no UTF-8, come in with a sign in
    # their place.
    for id_, line in (
        (2, call(2, "Fix the \ud800 thing")),
        (3, call(3, "Fix the XX thing").replace(b"XX", b"\xff")),
    ):
        said = await answer(line)
        assert (said["id"], said["result"]["structuredContent"]["core_text"]) == (
            id_,
            "Fix the \ufffd thing",
        )
    assert await answer(b'{"jsonrpc": "2.0", "id": 4, "method": "ping"}') == {
        "jsonrpc": "2.0",
        "id": 4,
        "result": {},
    }
    process.stdin.close()
    assert (await process.stdout.read(), await process.wait()) == (b"", 0)


async def test_a_client_that_vanishes_in_the_middle_of_a_call_loses_nothing(sample: Sample) -> None:
    config = sample.path / ".forge" / "config.yml"
    config.parent.mkdir()
    config.write_text("commands:\n  test: [[sleep, '300']]\n", encoding="utf-8")
    sample.git("add", ".forge")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "slow tests")
    async with over_stdio(sample) as host:
        await host.begin(TASK, "S")
    words = ("-m", "forge_bot", "mcp", "--repo", str(sample.path))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    call = {
        "name": "pipeline_next_action",
        "arguments": {"workspace": host.workspace},
        "_meta": {"progressToken": 1},
    }
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()
    # Progress says that the slow command is running now.
    while b"sleep 300" not in await process.stdout.readline():
        pass
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 60) == 0
    record = (sample.path / host.workspace / "reports.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["type"] for line in record.splitlines()] == ["run_started"]


async def test_the_same_words_lead_to_the_same_documents_as_on_the_command_line(
    sample: Sample,
) -> None:
    revise = script.review("REVISE", "[CRITICAL] The end is missing")
    # The command line's script counts turns too.
    different = {("design-reviewer", "*", "1.1"): revise}
    answers = {**script.usual(), ("design-reviewer", "*", "1"): revise}
    words = [
        "-m",
        "forge_bot",
        "run",
        TASK,
        "--effort",
        "M",
        "--model",
        sample.model(different),
        "--branch",
        "by-cli",
        "--yes",
    ]
    process = await asyncio.create_subprocess_exec(
        warm_python(), *words, cwd=sample.path, stdout=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 3
    process = await asyncio.create_subprocess_exec(
        warm_python(),
        "-m",
        "forge_bot",
        "approve",
        "--by-script",
        "--run",
        "by-cli",
        "--model",
        sample.model(different),
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0
    own = sample.branch
    async with over_stdio(sample) as host:
        host.answers = answers
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        assert (await host.drive(await host.next(user_response="approve")))["type"] == "done"
    mine = host.path / host.workspace
    folder = next(
        name for name in host.git("ls-tree", "-r", "--name-only", own, ".specs").splitlines()
    ).rpartition("/")[0]
    theirs = {
        name.rpartition("/")[2]: host.git("show", f"{own}:{name}")
        for name in host.git("ls-tree", "-r", "--name-only", own, ".specs").splitlines()
    }
    assert {path.name for path in mine.iterdir()} == set(theirs)
    for name, text in theirs.items():
        own = (mine / name).read_text(encoding="utf-8").strip()
        if name.endswith(".md") and name not in {"request.md", "pull-request.md"}:
            assert own.replace(mine.name, folder.rpartition("/")[2]) == text, name
    before, after = (
        json.loads(re.sub(r'"durationMs": \d+', '"durationMs": 0', text))
        for text in (theirs["state.json"], (mine / "state.json").read_text(encoding="utf-8"))
    )
    for key in (
        "currentPhase",
        "completedPhases",
        "skippedPhases",
        "rounds",
        "visits",
        "tasks",
        "risks",
    ):
        assert before[key] == after[key], key
    assert {
        name: record["blob"] for name, record in before["artifacts"].items() if name != "request.md"
    } == {
        name: record["blob"] for name, record in after["artifacts"].items() if name != "request.md"
    }
    assert host.git("diff", "by-cli", "HEAD", "--", ".", ":!.specs") == ""
