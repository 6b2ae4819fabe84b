"""The client's work tree: only what an agent changed for its task is committed, and nothing of the
client's is touched; and the prompts that are files there.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from mcp import Client

from forge_bot.mcp_server.sdk_server.server import make_server
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, hosting, two_tasks

TASK = "Nobody is on call before the start"


async def at(host: Host, agent: str) -> Json:
    """The run where this agent is asked: a new small one, or that of the sample."""
    if not (host.path / ".specs").is_dir():
        await host.begin(TASK)
        action = await host.next()
    else:
        action = await host.asked_now()
    action = await host.drive(action, agent)
    while action["type"] == "checkpoint":
        action = await host.drive(await host.next(user_response="approve"), agent)
    return action


def files(host: Host, commit: str = "HEAD") -> set[str]:
    """What a commit changed outside the run's own folder."""
    names = host.git("diff", "--name-only", f"{commit}^", commit).splitlines()
    return {name for name in names if not name.startswith(".specs/")}


async def test_a_run_needs_a_clean_tree_to_begin(sample: Sample) -> None:
    (sample.path / "notes.txt").write_text("mine\n", encoding="utf-8")
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match="uncommitted changes") as caught:
            await host.begin(TASK)
    assert caught.value.error["code"] == "GIT-004"
    assert "git stash" in str(caught.value)
    assert not (sample.path / ".specs").exists()


@pytest.mark.slow
async def test_what_was_there_before_the_agent_began_stays_the_clients_own(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        await at(host, "implementer")
        # Between two answers, while the action of the implementer is not handed out yet.
    async with hosting(clients_approved_sample) as host:
        host.workspace = ".specs/" + next((clients_approved_sample.path / ".specs").iterdir()).name
        (clients_approved_sample.path / "mine.txt").write_text("a note\n", encoding="utf-8")
        rewound = await host.call(
            "run_control", workspace=host.workspace, operation="retry", phase="phase-5"
        )
        assert (
            rewound["currentPhase" if "currentPhase" in rewound else "current_phase"] == "phase-5"
        )
        action = await host.next()
        host.perform(action)
        await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert files(host) == {"rota/schedule.py", "tests/test_before.py"}
        assert (clients_approved_sample.path / "mine.txt").read_text(encoding="utf-8") == "a note\n"
        await host.drive(await host.next())
        assert host.git("status", "--porcelain") == "?? mine.txt"


@pytest.mark.slow
async def test_an_analyst_that_changes_code_is_refused_and_the_report_is_not_lost(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        host.perform(action := await host.next())
        source = sample.path / "rota" / "schedule.py"
        before = source.read_text(encoding="utf-8")
        source.write_text(f"{before}# touched\n", encoding="utf-8")
        with pytest.raises(Refusal, match=r"rota/schedule\.py") as caught:
            await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert caught.value.error["node_id"] == "analysis.md"
        assert caught.value.error["dependency_ids"] == ["request.md"]
        source.write_text(before, encoding="utf-8")
        after = await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert after["phase"] == "phase-3"


@pytest.mark.slow
async def test_a_change_to_protected_paths_waits_for_a_person_outside_of_the_tree(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "*"): script.change(script.GUARD, script.TEST, script.WORKFLOW),
        }
        host.perform(action := await at(host, "implementer"))
        asked = await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert (asked["type"], asked["name"]) == ("checkpoint", "checkpoint-c")
        assert ".github/workflows/ci.yml" in asked["present_to_user"]
        assert host.git("status", "--porcelain") == ""
        assert files(host) == set()
        await host.next(user_response="approve", digest=asked["digest"])
        assert (clients_approved_sample.path / ".github" / "workflows" / "ci.yml").is_file()
        assert files(host) == {".github/workflows/ci.yml"}
        assert host.git("diff", "--name-only", "main...HEAD", "--", ".", ":!.specs").split() == [
            ".github/workflows/ci.yml",
            "rota/schedule.py",
            "tests/test_before.py",
        ]


async def test_files_of_a_wave_go_to_the_task_that_declares_them(
    clients_medium_sample: Sample,
) -> None:
    async with hosting(clients_medium_sample) as host:
        host.answers = {**script.usual(), **two_tasks()}
        host.perform(action := await at(host, "implementer"))
        review = await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert (files(host, "HEAD^"), files(host)) == (
            {"rota/schedule.py"},
            {"tests/test_before.py"},
        )
        assert (review["phase"], review["parallel_task_ids"]) == ("phase-6", ["1", "2"])
        assert review["prompt"].count("The change under review is `git diff ") == 2
        assert "HEAD -- rota/schedule.py`" in review["prompt"]


async def test_project_commands_run_in_a_tree_of_their_own(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        (sample.path / "build.log").write_text("mine\n", encoding="utf-8")
        await host.next()
        assert (sample.path / "build.log").is_file()
        assert host.git("worktree", "list").count("\n") == 0


INVESTIGATION = script.document(
    "Root Cause or Integration Points", "Edge Cases and Risks", "Impact", "Open Questions"
)["artifact_markdown"]


@asynccontextmanager
async def by_path(sample: Sample) -> AsyncGenerator[Host]:
    """A client of a server that hands out paths."""
    async with Client(make_server(sample.path, by_path=True)) as client:
        yield Host(client, sample.path)


async def test_a_prompt_is_a_file_that_git_does_not_see_until_the_run_is_over(
    sample: Sample,
) -> None:
    async with by_path(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        prompt = (host.path / action["prompt_path"]).read_text(encoding="utf-8")
        assert len(prompt) == action["prompt_characters"]
        assert "## Input Files" in prompt
        assert action["prompt_path"] in action["prompt"]
        assert ".prompts" not in host.git("status", "--porcelain", "--untracked-files=all")
        await host.drive(action)
        done = await host.drive(await host.next(user_response="approve"))
        assert done["type"] == "done"
        assert "write_file" not in {asked["type"] for asked in host.asked}
        assert not list((host.path / ".specs").glob(".prompts/*/*"))


@pytest.mark.slow
async def test_each_agent_of_a_wave_has_a_prompt_of_its_own(sample: Sample) -> None:
    async with by_path(sample) as host:
        host.answers = {**script.usual(), **two_tasks()}
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        wave = await host.drive(await host.next(user_response="approve"), "implementer")
        first, second = (
            (host.path / wave["prompt_path"].replace("{task}", task)).read_text(encoding="utf-8")
            for task in wave["parallel_task_ids"]
        )
        assert "Task 1: Nobody before the start" in first
        assert "Task 1: Nobody before the start" not in second


async def test_one_agent_may_write_further_documents_and_each_is_read(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK, "M")
        action = await host.next()
        assert "/design.md` too, files of their own" in action["prompt"]
        host.perform(action)
        host.write("investigation.md", "# Investigation\n")
        with pytest.raises(Refusal, match="Impact: the heading is missing"):
            await report(host, action)
        host.write("investigation.md", str(INVESTIGATION))
        after = await report(host, action)
        assert after["agent"] == "architect"


async def report(host: Host, action: Json) -> Json:
    """The action after a report."""
    return await host.next(previous_action_complete=True, action_id=action["action_id"])
