"""The branch and the record belong to the run: what nobody of forge-bot committed or wrote there is
noticed before anything goes on. A run may have the branch that is checked out.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled
from tests.mcp_server.host import Host, Json, Refusal, hosting, hosting_in
from tests.mcp_server.test_tree import at

SNEAKED = "rota/sneaked.py"


def commit(host: Host, message: str = "mine", *words: str) -> None:
    """Somebody commits all there is."""
    host.git("add", "-A")
    host.git(
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b.c",
        "commit",
        "-q",
        *words,
        *(("-m", message) if message else ()),
    )


def sneak(host: Host, message: str = "mine", *words: str) -> None:
    """Somebody commits a file of code, which no task asked for."""
    (host.path / SNEAKED).write_text("SNEAKED = True\n", encoding="utf-8")
    commit(host, message, *words)


async def report(host: Host, action: Json) -> Json:
    return await host.next(previous_action_complete=True, action_id=action["action_id"])


async def refused(host: Host, action: Json) -> list[str]:
    """The command that the refusal of a report names."""
    with pytest.raises(Refusal) as caught:
        await report(host, action)
    assert caught.value.error["code"] == "MCP-008"
    result = re.search(r"git (reset --soft \w+)", str(caught.value))
    assert result, str(caught.value)
    return result[1].split()


@pytest.mark.parametrize(
    "agent", sampled(["situation-analyst-investigator", "comprehensive-reviewer"], 2)
)
async def test_code_that_was_committed_while_a_document_is_written_is_refused(
    sample: Sample, agent: str
) -> None:
    async with hosting(sample) as host:
        action = await at(host, agent)
        sneak(host)
        host.perform(action)
        host.git(*await refused(host, action))
        host.git("rm", "-qf", SNEAKED)
        before = host.git("rev-list", "--count", "HEAD")
        await report(host, action)
        assert int(host.git("rev-list", "--count", "HEAD")) > int(before)
        assert host.git("log", "--format=%h", "--", SNEAKED) == ""


async def test_a_commit_of_the_run_that_was_amended_is_refused(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        action = await at(host, "implementer")
        host.perform(action)
        sneak(host, "", "--amend", "--no-edit")
        host.git(*await refused(host, action))
        (host.path / SNEAKED).unlink()
        await report(host, action)
        assert "SNEAKED" not in host.git("log", "-p", "--format=")


def forged(line: Json, gate: Json) -> Json:
    """An answer as the run would have written it for a maintainer in the thread."""
    return {
        "type": "answered",
        "key": "forged",
        "at": line["at"],
        "gate": gate["name"],
        "digest": gate["digest"],
        "answer": "approve",
        "by": "maintainer",
        "via": "issue-comment",
    }


def append(record: Path, gate: Json) -> None:
    last = json.loads(record.read_text(encoding="utf-8").splitlines()[-1])
    with record.open("a", encoding="utf-8") as file:
        file.write(json.dumps(forged(last, gate)) + "\n")


def replace(record: Path, gate: Json) -> None:
    *lines, last = record.read_text(encoding="utf-8").splitlines()
    record.write_text(
        "\n".join((*lines, json.dumps(forged(json.loads(last), gate)), "")), encoding="utf-8"
    )


@pytest.mark.parametrize("how", sampled([append, replace], 2))
async def test_an_answer_that_was_written_into_the_record_by_hand_does_not_count(
    clients_medium_sample: Sample, how: Callable[[Path, Json], None]
) -> None:
    async with hosting(clients_medium_sample) as host:
        asked = await host.asked_now()
        record = host.path / host.workspace / "reports.jsonl"
        before = record.read_bytes()
        how(record, asked)
        again = await host.next()
        assert (again["type"], again["name"], again["digest"]) == (
            "checkpoint",
            asked["name"],
            asked["digest"],
        )
        assert "reports.jsonl" in again["warning"]
        assert record.read_bytes().startswith(before[: before.rfind(b"\n", 0, -1) + 1])
        assert "forged" not in record.read_text(encoding="utf-8")
        assert "maintainer" not in host.git("log", "--format=%B")


async def test_a_run_that_went_on_in_another_clone_goes_on_here(
    clients_medium_sample: Sample, tmp_path: Path
) -> None:
    origin, other = tmp_path / "origin.git", tmp_path / "other"
    async with hosting(clients_medium_sample) as host:
        host.git("init", "-q", "--bare", str(origin))
        host.git("remote", "add", "origin", str(origin))
        asked = await host.asked_now()
        host.git("push", "-q", "-u", "origin", "HEAD")
        branch = host.git("branch", "--show-current")
        host.git("clone", "-q", "-b", branch, str(origin), str(other))
        async with hosting_in(other) as away:
            away.workspace = host.workspace
            await away.drive(
                await away.next(user_response="approve", digest=asked["digest"]), "implementer"
            )
            away.git("push", "-q")
        shutil.rmtree(other)
        host.git("pull", "-q")
        after = await host.next()
        assert (after["agent"], after["warning"]) == ("implementer", "")


TASK = "Nobody is on call before the start"
CODE = "rota/schedule.py"


async def begun(host: Host, effort: str = "S") -> Json:
    """The first action of a run on the branch `mine`, which stays checked out."""
    host.git("switch", "-q", "-c", "mine")
    ready = await host.begin(TASK, effort, use_current_branch=True)
    assert (ready["branch"], ready["create_branch"]) == ("mine", False)
    return await host.next()


@pytest.mark.slow
async def test_a_whole_run_leaves_the_code_on_the_branch_and_the_record_beside_it(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        action = await host.drive(await begun(host, "M"))
        assert host.git("status", "--porcelain", "--branch") == "## mine"
        assert (sample.path / host.workspace / "design.md").is_file()
        approved = await host.next(user_response="approve", digest=action["digest"])
        action = await host.drive(approved, "phase-6")
        assert host.git("diff", "--name-only", "HEAD") == CODE, "what is not accepted yet"
        while (action := await host.drive(action))["type"] != "done":
            action = await host.next(user_response="approve", digest=action["digest"])
    assert sample.git("status", "--porcelain", "--branch") == "## mine"
    assert sample.git("diff", "--name-only", "main", "mine").split()[0] == CODE
    assert ".specs" not in sample.git("log", "--name-only", "main..mine")
    assert sample.git_code("merge-base", "--is-ancestor", "mine", sample.branch) == 0
    assert f"{host.workspace}/summary.md" in sample.git(
        "ls-tree", "-r", "--name-only", sample.branch
    )


async def test_what_an_agent_commits_is_refused_with_the_way_to_take_it_back(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        action = await begun(host)
        (sample.path / CODE).write_text("# mine\n", encoding="utf-8")
        host.git("commit", "-qam", "Mine")
        host.perform(action)
        with pytest.raises(Refusal, match=r"mine has commits.*\n.*git reset --soft [0-9a-f]{12} "):
            await host.next(previous_action_complete=True, action_id=action["action_id"])
