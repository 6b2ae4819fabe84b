"""A client as a host: it does the actions it gets with the texts of a script, and counts what it
was asked.
"""

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from forge_bot.mcp_server.sdk_server.client_sessions import SessionPolicy
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.server import make_server
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python

Json = dict[str, Any]


class Refusal(Exception):
    """A tool said no."""

    def __init__(self, result: CallToolResult) -> None:
        first = result.content[0]
        super().__init__(first.text if isinstance(first, TextContent) else str(first))
        self.error: Json = (result.meta or {})["error"]


@dataclass
class Host:
    """A scripted client in the work tree `path`."""

    client: Client
    path: Path
    answers: Mapping[tuple[str, str, str], script.Answer] = field(default_factory=script.usual)
    workspace: str = ""
    asked: list[Json] = field(default_factory=list[Json])
    visits: Counter[str] = field(default_factory=Counter[str])

    async def call(self, tool: str, **arguments: Any) -> Json:
        """The answer of a tool as JSON; raises Refusal."""
        result = await self.client.call_tool(tool, arguments)
        if result.is_error:
            raise Refusal(result)
        first = result.content[0]
        assert isinstance(first, TextContent)
        body: Json = json.loads(first.text)
        assert body == result.structured_content
        return body

    async def begin(
        self, task: str, effort: str = "S", *, git: bool = True, **confirmation: Any
    ) -> Json:
        """From words to a run that has begun, on its branch."""
        arrived = await self.call("pipeline_init", arguments=task)
        handed = {
            "workspace": arrived["workspace"],
            "flags": arrived["flags"],
            "task_text": arrived["core_text"],
        }
        needs = await self.call("pipeline_init_with_context", **handed)
        assert "needs_user_confirmation" in needs
        ready = await self.call(
            "pipeline_init_with_context",
            **handed,
            user_confirmation={"effort": effort, **confirmation},
        )
        self.workspace = ready["workspace"]
        if git and ready["create_branch"]:
            self.git("checkout", "-q", "-b", ready["branch"])
        return ready

    async def next(self, **said: Any) -> Json:
        """The next action."""
        action = await self.call("pipeline_next_action", workspace=self.workspace, **said)
        self.asked.append(action)
        return action

    async def drive(self, action: Json, *stops: str) -> Json:
        """Do one action after the other until one of these types or names comes, or a person is
        asked, or nothing is left.
        """
        while action["type"] in {"spawn_agent", "write_file"} and not {
            action["type"],
            action.get("phase"),
            action.get("agent"),
        } & {*stops}:
            self.perform(action)
            action = await self.next(
                previous_action_complete=True, action_id=action["action_id"], previous_tokens=1000
            )
        return action

    async def asked_now(self) -> Json:
        """What is asked by the run that another client has led there: a person, or an agent."""
        (folder,) = (self.path / ".specs").iterdir()
        self.workspace = str(folder.relative_to(self.path))
        return await self.next()

    def perform(self, action: Json) -> None:
        """Do what an action asks for, in the work tree."""
        if action["type"] == "write_file":
            (self.path / action["path"]).write_text(action["content"], encoding="utf-8")
            return
        for task in action["parallel_task_ids"] or [_task(action)]:
            self._work(action, task)

    def _work(self, action: Json, task: str) -> None:
        place = f"{action['agent']}/{action['phase']}/{task}"
        self.visits[place] += 1
        answer = self._answer(action["agent"], action["phase"], task, self.visits[place])
        for edit in cast("list[dict[str, str]]", answer.get("edits", [])):
            _edit(self.path, edit)
        name = action["output_file"].replace("{task}", task)
        self.write(name, str(answer["artifact_markdown"]))

    def write(self, name: str, text: str) -> None:
        """Write a document of the run."""
        (self.path / self.workspace / name).write_text(text, encoding="utf-8")

    def _answer(self, agent: str, phase: str, task: str, round_: int) -> script.Answer:
        rounds = (f"task {task}, {round_}", f"task {task}", str(round_), "*")
        keys = [(agent, where, which) for which in rounds for where in (phase, "*")]
        return next(self.answers[key] for key in keys if key in self.answers)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


def _task(action: Json) -> str:
    result = re.fullmatch(r"(?:impl|review)-([\w-]+)\.md", action["output_file"])
    return result[1] if result is not None and action["phase"] in {"phase-5", "phase-6"} else ""


def _edit(root: Path, edit: Mapping[str, str]) -> None:
    file = root / edit["path"]
    file.parent.mkdir(parents=True, exist_ok=True)
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(
        old.replace(edit["old"], edit["new"]) if edit["operation"] == "replace" else edit["new"],
        encoding="utf-8",
    )


@asynccontextmanager
async def hosting(sample: Sample, **more: Any) -> AsyncGenerator[Host]:
    """A client of a server that serves the sample repository, over the protocol but in one
    process.
    """
    async with hosting_in(sample.path, **more) as host:
        yield host


@asynccontextmanager
async def hosting_in(path: Path, **more: Any) -> AsyncGenerator[Host]:
    """The same for a repository at any place."""
    # Who hears of changes stays known to a server, and so does what its session may do.
    server = _idle.pop() if _idle and not more else make_server(path)
    server.folder = path
    vars(server).pop("service", None)
    async with Client(server, **more) as client:
        yield Host(client, path)
    if not more and server.policies.current == SessionPolicy():
        _idle.append(server)


_idle: list[ForgeServer] = []
"""Servers whose client has left: to make the tools of one takes as long as a short test."""


async def tools_of_ours() -> dict[str, Json]:
    """What a model must be told of each tool, by name."""
    return {tool.name: shape(tool.input_schema) for tool in await make_server(None).list_tools()}


def shape(parameters: Json) -> Json:
    """Which arguments there are, of what type and with which values, and which are needed."""
    known = {
        name: (item.get("type", "or null"), item.get("enum", []))
        for name, item in parameters["properties"].items()
    }
    return {"arguments": known, "required": parameters.get("required", [])}


def two_tasks() -> dict[tuple[str, str, str], script.Answer]:
    """Two tasks side by side: the change, and its test."""
    text = (
        "# Tasks\n\n## Task 1: Nobody before the start\nmode: parallel\nfiles:\n-"
        " rota/schedule.py\ndepends_on: []\n\nAcceptance criteria:\n- [ ] AC-1: None before the"
        " start\n\n## Task 2: A test of it\nmode: parallel\nfiles:\n-"
        " tests/test_before.py\ndepends_on: []\n\nAcceptance criteria:\n- [ ] AC-1: the test is"
        " there\n"
    )
    return {
        ("task-decomposer", "*", "*"): {"artifact_markdown": text},
        ("implementer", "*", "task 1"): script.change(script.GUARD),
        ("implementer", "*", "task 2"): script.change(script.TEST),
    }


@asynccontextmanager
async def over_stdio(
    sample: Sample, workspace: str = "", python: str = "", **more: Any
) -> AsyncGenerator[Host]:
    """A client of `forge-bot mcp` in a process of its own, as hosts start it."""
    words = ["-m", "forge_bot", "mcp", "--repo", str(sample.path)]
    process = StdioServerParameters(
        command=python or warm_python(), args=words, env=dict(os.environ), cwd=sample.path
    )
    async with Client(process, **more) as client:
        yield Host(client, sample.path, workspace=workspace)
