"""With `use_current_branch` the client's tree keeps its branch, which gets the accepted code; the
run's branch is a ref beside it.
"""

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, hosting

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
