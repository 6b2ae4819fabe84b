"""One model, a function of the prompt, through the command line, a Temporal server, the bot and MCP:
the same run.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from mcp import Client, StdioServerParameters

from forge_bot.runs.run import ACCEPTED
from tests.bot.stage import Stage, heard
from tests.fakes.github import FakeGitHub
from tests.fakes.mind import NAME, REVISED, Mind
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Host, Json
from tests.mcp_server.loop import Loop


def clone(stage: Stage, folder: Path) -> tuple[Path, dict[str, str]]:
    """A person's clone of what the stage's repository holds now, with a remote of its own; and
    their environment.
    """
    folder.mkdir()
    path = folder / "rota"
    subprocess.run(
        ["git", "clone", "-q", "--bare", str(stage.repo.bare.path), str(folder / "remote.git")],
        check=True,
    )
    subprocess.run(["git", "clone", "-q", str(folder / "remote.git"), str(path)], check=True)
    environ = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.org",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.org",
        "GH_HOST": stage.hub.url.removeprefix("http://"),
        "GITHUB_TOKEN": stage.hub.token("maint"),
        "GITHUB_API_URL": stage.hub.url,
        **stage.environ,
        "OPENAI_API_KEY": "sk-of-ann",
    }
    return path, environ


@dataclass(frozen=True)
class Way:
    """A whole run as one way left it on its branch."""

    files: dict[str, str]
    subjects: tuple[str, ...]

    @staticmethod
    def left(repository: Path) -> "Way":
        def git(*words: str) -> str:
            return subprocess.run(
                ["git", "-C", str(repository), *words], capture_output=True, text=True, check=True
            ).stdout

        branch = next(
            name
            for name in git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
            if name.startswith("feature/")
        )
        names = git("ls-tree", "-r", "--name-only", branch).splitlines()
        log = git("log", "--first-parent", "--reverse", "--format=%s", f"main..{branch}")
        return Way(
            {name: git("show", f"{branch}:{name}") for name in names}, tuple(log.splitlines())
        )

    def documents(self) -> dict[str, str]:
        """Everything but what is compared apart: the record with the statement on it, and the texts
        that say who asked and where it was delivered.
        """
        apart = {"state.json", "reports.jsonl", "evidence.json", "request.md", "pull-request.md"}
        return {
            name: text for name, text in self.files.items() if name.rpartition("/")[2] not in apart
        }

    def text(self, name: str) -> str:
        return next(text for path, text in self.files.items() if path.endswith(f"/{name}"))

    def request(self) -> tuple[dict[str, object], str]:
        """The request without who asked for it (`REQUEST_APART`), and its words."""
        _, front, body = self.text("request.md").split("---\n", 2)
        known: dict[str, object] = yaml.safe_load(front)
        return {name: value for name, value in known.items() if name not in REQUEST_APART}, body

    def state(self) -> Json:
        """state.json without times, ids and delivery."""
        return without_posting(compared(json.loads(self.text("state.json"))))


TIMES = {"at", "startedAt", "updatedAt", "durationMs"}
"""When something happened, and how long it took."""

DELIVERY = {
    "by": "who gave an answer: a login on GitHub, a user of the machine, a client",
    "via": "where they gave it",
    "digest": "is made of the request's hash, below",
    "requestHash": (
        "is made of author and address of the issue: MCP's contract does not ask for the author"
    ),
    "url": "MCP makes every address https; the GitHub of the tests speaks http",
    "author": "see requestHash",
    "pullRequestBranch": "see records",
    "records": "the bot and a client keep the record on the run's branch",
    "effortReason": "a label, an option or a person: each way is told the effort by another",
    "pullRequest": (
        "where the pull request is: nobody opens one at a terminal that was not told to push"
    ),
}
"""Keys of the state, wherever they stand, that say how a run was led and delivered; and why they
differ."""

REQUEST_APART = {
    "source_type",
    "source_id",
    "source_url",
    "source_author",
    "requested_by",
    "effort_reason",
    "request_hash",
}
"""The same, in the front matter of request.md."""

PUBLISHING = {"pr-creation", "post-to-source", "final-commit"}
"""Phases whose events in the log tell what was done outside, in the words of whoever did it."""


def compared(value: Any) -> Any:
    """A part of the state, without what is set aside."""
    if isinstance(value, list):
        return [compared(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    whole = cast("Json", value)
    kept = {
        name: compared(part)
        for name, part in whole.items()
        if name not in TIMES and name not in DELIVERY
    }
    if "inputTokens" in kept:
        # A client tells one number for all tokens, and one for all tasks of a wave: only the whole
        # run's sum says the same everywhere.
        kept = {
            "calls": kept["calls"],
            "model": kept["model"],
            "tokens": kept["inputTokens"] + kept["outputTokens"],
        }
    if "event" in kept:
        kept.pop("usage")
        kept["event"] = (
            ""
            if kept["phase"] in PUBLISHING
            else re.sub(r" by .* via \S+$|(?<=effort L): .*", "", kept["event"])
        )
    if "seen" in kept:
        # Keys of actions are made by the engine; those of beginnings, answers and showings are made
        # up where they happened.
        kept["seen"] = [
            (
                key
                if key.split(".")[0].split("-")[0]
                in {"phase", "final", "pr", "post", "setup", "checkpoint"}
                else ""
            )
            for key in kept["seen"]
        ]
        kept["seen"].sort()
    if "request.md" in kept:
        # Its front matter says who asked; its words are compared apart.
        kept["request.md"].pop("blob")
    return kept


POSTING = "post-to-source"
"""The question that an MCP client's person answers; a terminal without a person skips it, and the
bot posts in its own thread (docs/mcp.md)."""


def without_posting(state: Json) -> Json:
    """The state as if nobody had been asked whether to post: the question is one way's alone."""
    state["rounds"].pop(POSTING, None)
    state["decisions"] = [item for item in state["decisions"] if item["gate"] != POSTING]
    state["log"] = [item for item in state["log"] if item["phase"] != POSTING]
    state["seen"] = [key for key in state["seen"] if key and not key.startswith(POSTING)]
    later = ("final-commit", "completed")
    state["seen"] = [key for key in state["seen"] if not key.startswith(later)]
    return {**state, "step": 0}


def by_bot(stage: Stage) -> Way:
    """The whole run in the issue's thread."""
    for job in (stage.label(), heard(stage.say("/approve")), heard(stage.say("/approve"))):
        assert job.code == 0, job.log
    return Way.left(stage.repo.bare.path)


def by_command_line(
    path: Path, environ: Mapping[str, str], address: str, on: tuple[str, ...] = ()
) -> Way:
    """The whole run at a terminal, on this host or another one, whose program stands beside the
    real Python.
    """
    python = sys.executable if on else warm_python()
    for words, code in (
        (("run", address, "--effort", "L", "--yes", *on), 3),
        (("approve", "--by-script"), 3),
        (("approve", "--by-script"), 0),
    ):
        done = subprocess.run(
            [python, "-m", "forge_bot", *words],
            cwd=path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
    return Way.left(path)


async def by_client(path: Path, environ: dict[str, str], address: str, issue: Json) -> Way:
    """The whole run by a client that gives each prompt to the same loop."""
    process = StdioServerParameters(
        command=warm_python(), args=["-m", "forge_bot", "mcp"], env=environ, cwd=path
    )
    async with Client(process) as client:
        host = Host(client, path)
        arrived = await host.call("pipeline_init", arguments=address)
        handed = {name: arrived[name] for name in ("workspace", "source_id", "source_url", "flags")}
        confirmed = {"effort": "L"}
        ready = await host.call(
            "pipeline_init_with_context",
            **handed,
            external_context=issue,
            user_confirmation=confirmed,
        )
        host.workspace = ready["workspace"]
        host.git("checkout", "-q", "-b", ready["branch"])
        loop = Loop(host, NAME, path.parent)
        action = await loop.drive(await host.next())
        while action["type"] != "done":
            if action["type"] == "checkpoint":
                posting = action["name"] == "post-to-source"
                answer = "skip" if posting else f"approve {action['digest'][:12]}"
                reply: Json = {"user_response": answer}
            elif action["setup_only"]:
                host.git(*action["commands"][1:])
                reply = {"previous_action_complete": True, "action_id": action["action_id"]}
            else:
                reply = {
                    "previous_action_complete": True,
                    "action_id": action["action_id"],
                    "previous_output": "https://github.com/acme/widget/pull/2",
                }
            action = await loop.drive(await host.next(**reply))
    return Way.left(path)


@pytest.mark.slow
async def test_one_model_leads_to_one_run_by_four_ways(
    github: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Mind() as mind:
        stage = Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
        # What a client reports of a wave is tried together, elsewhere each task by itself.
        untried = {".forge/config.yml": "tries: {most: 0}\n"}
        stage.hub.commit(stage.repo, "main", untried)
        stage.environ = {"FORGE_BOT_MODEL": NAME, "OPENAI_BASE_URL": f"{mind.url}/v1"}
        for name, value in (*stage.environ.items(), ("OPENAI_API_KEY", "sk-of-ann")):
            monkeypatch.setenv(name, value)
        address = f"{stage.hub.url}/{stage.repo.full_name}/issues/{stage.issue.number}"
        clones = {name: clone(stage, tmp_path / name) for name in ("cli", "temporal", "mcp")}
        stage.hub.add_label(stage.repo, stage.issue, "forge:L", by="maint")
        bot = by_bot(stage)
        cli = by_command_line(*clones["cli"], address)
        server = by_command_line(*clones["temporal"], address, ("--on", "temporal", "--dev"))
        labels = [label.name for label in stage.issue.labels]
        issue = {
            "github_title": stage.issue.title,
            "github_body": stage.issue.body,
            "github_labels": labels,
        }
        mcp = await by_client(*clones["mcp"], address, issue)
    for way in (cli, server, mcp):
        assert way.documents() == bot.documents()
    assert bot.request() == cli.request() == server.request() == mcp.request()
    assert bot.state() == cli.state() == server.state() == mcp.state()
    # Terminal and thread froze the same issue, so their approvals are bound to the same bytes.
    assert [decision["digest"] for decision in json.loads(bot.text("state.json"))["decisions"]] == [
        decision["digest"] for decision in json.loads(cli.text("state.json"))["decisions"]
    ]
    # One commit for each report; beside them only those that keep what was shown, or put what a
    # worker handed over on both branches.
    shown = "forge-bot: gate shown"
    posted = {
        shown,
        ACCEPTED,
        "forge-bot: Post to Source",
        "forge-bot: publication asked",
        f"forge-bot: {POSTING} skip",
    }
    assert [
        [subject for subject in way.subjects if subject not in posted] for way in (bot, cli, server)
    ] == [[subject for subject in mcp.subjects if subject not in posted]] * 3
    # And it was a run with something in it.
    state = mcp.state()
    assert (
        state["rounds"]["phase-3b"],
        state["visits"]["phase-6/1"],
        state["visits"]["phase-6/2"],
    ) == (1, 2, 1)
    assert "# Nobody is on call before the first day." in mcp.files["rota/schedule.py"]
    assert REVISED in mcp.text("design.md")
    assert state["usage"] == {"calls": 15, "model": "mind", "tokens": 15 * 1100}
