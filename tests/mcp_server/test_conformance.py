"""The protocol's own suite, in both eras: what any server must do, the product does."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.programs import ROOT, programs

pytestmark = pytest.mark.clients

REVISIONS = ("2025-11-25", "2026-07-28")
ANY_SERVER = {
    "2025-11-25": (
        "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "resources-subscribe",
        "resources-unsubscribe", "prompts-list", "completion-complete", "server-sse-multiple-streams", "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "server-stateless", "tools-list", "resources-list", "prompts-list", "completion-complete", "server-sse-multiple-streams",
        "dns-rebinding-protection", "sep-2164-resource-not-found", "caching", "http-header-validation",
        "input-required-result-unsupported-methods",
    ),
}  # fmt: skip
"""Scenarios that need nothing of a server but that it is one."""

NEEDS_A_TOOL = {
    "sep-2575-server-rejects-undeclared-capability": "test_missing_capability",
    "sep-2575-missing-capability-http-400": "test_missing_capability",
    "sep-2575-http-server-no-independent-requests-on-stream": "test_streaming_elicitation",
    "sep-2575-server-no-log-without-loglevel": "test_logging_tool",
}
"""Checks among them that nobody can make of a server without this tool of the suite."""

Check = dict[str, Any]

_SCENARIO = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT.*")


@asynccontextmanager
async def served(sample: Sample) -> AsyncGenerator[str]:
    """The address of the product's server."""
    words = ("-m", "tests.mcp_server.conformance_server", str(sample.path))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}/mcp"
    finally:
        process.terminate()
        await process.wait()


async def checked(url: str, revision: str, folder: Path) -> tuple[int, dict[str, list[Check]], str]:
    """The suite's exit code, its checks by scenario, and what it said."""
    result = programs("conformance")
    suite = result.modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    words = (suite, "server", "--url", url, "--requirements", revision, "-o", folder)
    environ = {**os.environ, "HOME": str(folder)}
    out, err = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(
        result.node, *words, env=environ, stdout=out, stderr=err
    )
    answer = (await process.communicate())[0].decode(errors="replace")
    assert process.returncode is not None
    return process.returncode, results_in(folder), answer


def results_in(folder: Path) -> dict[str, list[Check]]:
    """The checks of each scenario, out of the suite's folders `server-SCENARIO-TIME`."""
    files = {_SCENARIO.sub(r"\1", file.parent.name): file for file in folder.glob("*/checks.json")}
    return {name: json.loads(file.read_bytes()) for name, file in files.items()}


def failures(checks: list[Check]) -> dict[str, str]:
    return {
        check["id"]: check.get("errorMessage", "")
        for check in checks
        if check["status"] == "FAILURE"
    }


def passed(checks: list[Check]) -> int:
    return sum(check["status"] == "SUCCESS" for check in checks)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_what_any_server_must_do_the_product_does(
    sample: Sample, tmp_path: Path, revision: str
) -> None:
    async with served(sample) as url:
        _, results, answer = await checked(url, revision, tmp_path / "results")
    for name in ANY_SERVER[revision]:
        wrong = failures(results[name])
        untold = {
            check
            for check, why in wrong.items()
            if f"does not list the diagnostic tool '{NEEDS_A_TOOL.get(check)}'" in why
        }
        assert {check: why for check, why in wrong.items() if check not in untold} == {}, (
            f"{name}: {answer[-3000:]}"
        )
        assert passed(results[name]) > len(untold), name
