"""One model, a function of the prompt, through the command line, a Temporal server, the bot and MCP:
the same run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

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
        return Way({name: git("show", f"{branch}:{name}") for name in names})

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
    digests = [
        [decision["digest"] for decision in json.loads(way.text("state.json"))["decisions"]]
        for way in (bot, cli)
    ]
    assert digests[0] == digests[1], "terminal and thread froze the same issue"
    # And it was a run with something in it.
    state = json.loads(mcp.text("state.json"))
    assert (
        state["rounds"]["phase-3b"],
        state["visits"]["phase-6/1"],
        state["visits"]["phase-6/2"],
        state["usage"]["calls"],
    ) == (1, 2, 1, 15)
    assert "# Nobody is on call before the first day." in mcp.files["rota/schedule.py"]
    assert REVISED in mcp.text("design.md")
