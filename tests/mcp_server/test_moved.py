"""A run that begins in Actions, goes on at a client on a laptop, and ends in Actions: nothing
twice, nothing lost, and who did what.
"""

import json
import os
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.bot.stage import Stage, heard
from tests.fakes.github import FakeGitHub
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Host, Json

pytestmark = pytest.mark.slow

BOT, ANN = "forge-bot", "Ann"


def cloned(stage: Stage, folder: Path) -> tuple[Path, dict[str, str]]:
    """A person's clone of the stage's repository, and their environment."""
    path = folder / "rota"
    token = stage.hub.token("maint")
    address = f"{stage.hub.url}/{stage.repo.full_name}.git".replace(
        "://", f"://x-access-token:{token}@"
    )
    environ = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        **{
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", ANN), ("EMAIL", "ann@example.org"))
        },
    }
    subprocess.run(["git", "clone", "-q", address, str(path)], check=True, env=environ)
    for name in ("name", "email"):
        subprocess.run(
            [
                "git",
                "-C",
                str(path),
                "config",
                f"user.{name}",
                environ[f"GIT_AUTHOR_{name.upper()}"],
            ],
            check=True,
        )
    return path, environ


@asynccontextmanager
async def laptop(stage: Stage, folder: Path) -> AsyncGenerator[Host]:
    """A client in a clone."""
    path, environ = cloned(stage, folder)
    process = StdioServerParameters(
        command=warm_python(), args=["-m", "forge_bot", "mcp"], env=environ, cwd=path
    )
    async with Client(process) as client:
        yield Host(client, path)


async def taken_up(host: Host, stage: Stage) -> Json:
    """The run in the clone, found by its name and gone on with on its branch."""
    found = await host.call("pipeline_init", arguments=f".specs/{workspace(stage)}")
    assert found["resume_mode"] == "auto"
    host.workspace = found["workspace"]
    info = await host.call("state_resume_info", workspace=host.workspace)
    assert info["instruction"] == f"git switch {stage.branch}, then call pipeline_next_action"
    host.git("switch", "-q", stage.branch)
    return await host.next()


def workspace(stage: Stage) -> str:
    return next(name.split("/")[1] for name in stage.files() if name.startswith(".specs/"))


def history(stage: Stage) -> list[tuple[str, str]]:
    """Who made which commit of the run, oldest first; those that only keep the record left out."""
    told = stage.repo.bare.git("log", "--reverse", "--format=%an\t%s", f"main..{stage.branch}")
    rows = [
        (line.split("\t")[0], line.split("\t")[1].removeprefix("forge-bot: "))
        for line in told.splitlines()
    ]
    return [row for row in rows if row[1] != "keep the record"]


def nothing_twice(stage: Stage) -> None:
    """Each report once, each action done once, no commit that is not the run's."""
    keys = [json.loads(line)["key"] for line in stage.document("reports.jsonl").splitlines()]
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    actions = stage.repo.bare.git(
        "log", "--format=%(trailers:key=Forge-Action,valueonly,separator=)", f"main..{stage.branch}"
    ).split()
    assert [action for action, count in Counter(actions).items() if count > 1] == []
    runs = stage.repo.bare.git(
        "log", "--format=%(trailers:key=Forge-Run,valueonly,separator=)", f"main..{stage.branch}"
    ).split()
    assert set(runs) == {workspace(stage)}


async def test_what_a_client_approved_is_asked_again_before_a_pull_request(
    github: FakeGitHub, tmp_path: Path
) -> None:
    stage = Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    github.add_label(stage.repo, stage.issue, "forge:M", by="maint")
    assert stage.label().code == 0
    asked = stage.state["gate"]["digest"]
    async with laptop(stage, tmp_path / "laptop") as host:
        gate = await taken_up(host, stage)
        # The same question, word for word bound to the same bytes.
        assert (gate["type"], gate["digest"]) == ("checkpoint", asked)
        push = await host.drive(await host.next(user_response=f"approve {asked[:7]}"))
        assert (push["phase"], push["commands"][:2]) == ("pr-creation", ["git", "push"])
        host.git(*push["commands"][1:])
    woken = heard(stage.say("/forge status"))
    assert woken.code == 0, woken.log
    assert stage.state["gate"]["reason"] == "unverified_approval"
    assert [issue for issue in stage.repo.issues.values() if issue.pull] == []
    assert "unverified" in stage.said("checkpoint")[-1]

    assert heard(stage.say("/approve")).code == 0
    assert stage.state["currentPhaseStatus"] == "completed"
    assert stage.pull.pull is not None
    decisions = [
        (each["answer"], each["by"], each["via"].partition("#")[0].rpartition("/")[0])
        for each in stage.state["decisions"]
    ]
    assert decisions == [
        ("approve", "mcp, unverified", ""),
        ("approve", "maint", f"{stage.hub.url}/{stage.repo.full_name}/issues"),
    ]
    assert [
        (who, [subject for _, subject in rows])
        for who, rows in groupby(history(stage), key=itemgetter(0))
    ] == [
        (
            BOT,
            [
                "start “`rota who` names somebody for days before the rota starts”",
                "Situation Analysis",
                "Investigation",
                "Design",
                "Design Review",
            ],
        ),
        (
            ANN,
            [
                "checkpoint-a approve",
                "Task Decomposition",
                "task 1, Nobody before the start",
                "review of task 1, Nobody before the start",
                "Comprehensive Review",
                "the project's commands ran",
                "Final Verification",
            ],
        ),
        (
            BOT,
            [
                "an approval is asked again",
                "checkpoint-c approve",
                "PR Creation",
                "Final Summary",
                "Post to Source",
                "Final Commit",
            ],
        ),
    ]
    nothing_twice(stage)


async def test_a_version_that_only_a_client_showed_is_shown_in_the_thread_before_it_can_be_approved_there(
    github: FakeGitHub, tmp_path: Path
) -> None:
    stage = Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    assert stage.label().code == 0
    async with laptop(stage, tmp_path / "laptop") as host:
        first = await taken_up(host, stage)
        gate = await host.drive(await host.next(user_response="reject: keep the old name"))
        assert (gate["name"], gate["digest"] != first["digest"]) == ("checkpoint-a", True)
        host.git("push", "-q", "origin", stage.branch)
    # Whoever says this has read the first version at most.
    assert heard(stage.say("/approve")).code == 0
    assert stage.state["currentPhaseStatus"] == "awaiting_human"
    assert len(stage.said("checkpoint")) == 2
    assert gate["digest"][:7] in stage.said("checkpoint")[-1]
    assert heard(stage.say("/approve")).code == 0
    assert stage.state["currentPhaseStatus"] == "completed"
    assert stage.pull.pull is not None
    assert [(each["answer"], each["by"]) for each in stage.state["decisions"]] == [
        ("reject", "mcp, unverified"),
        ("approve", "maint"),
    ]
    assert [who for who, _ in groupby(history(stage), key=itemgetter(0))] == [BOT, ANN, BOT]
    nothing_twice(stage)
