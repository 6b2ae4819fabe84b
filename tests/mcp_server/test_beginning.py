"""How runs begin: once each, on a branch that can be made, from a tree that can carry them, with the words that were meant."""

import asyncio
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting

TASK = "Nobody is on call before the start"
ISSUE = "https://github.com/owner/repo/issues/42"
BEGIN = "pipeline_init_with_context"


def confirmed(task: str = TASK, **chosen: object) -> Json:
    """The arguments of a confirmation without anything before it."""
    return {"workspace": ".specs/x", "task_text": task, "user_confirmation": {"effort": "S", **chosen}}


def folders(sample: Sample) -> list[str]:
    """The folders of runs in the work tree."""
    return sorted(path.name for path in (sample.path / ".specs").iterdir()) if (sample.path / ".specs").exists() else []


# -- a run begins once --------------------------------------------------------------------------------------------


async def test_a_confirmation_that_comes_again_means_the_run_that_it_began(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.call(BEGIN, **confirmed())
        assert await host.call(BEGIN, **confirmed()) == ready
        assert len(folders(sample)) == 1
    async with hosting(sample) as host:
        assert await host.call(BEGIN, **confirmed()) == ready


async def test_two_confirmations_at_once_begin_one_run(sample: Sample) -> None:
    async with hosting(sample) as host:
        one, two = await asyncio.gather(host.call(BEGIN, **confirmed()), host.call(BEGIN, **confirmed()))
    assert one == two
    assert len(folders(sample)) == 1


async def test_after_the_first_action_a_confirmation_still_means_the_same_run_whose_branch_is_there_now(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.begin(TASK, git=False)
        await host.next()
        again = await host.call(BEGIN, **confirmed())
        assert again == {**ready, "create_branch": False}
        host.git("switch", "-q", "main")
        assert await host.call(BEGIN, **confirmed()) == again


async def test_after_the_first_report_the_same_words_begin_another_run(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.begin(TASK)
        host.perform(action := await host.next())
        await host.next(previous_action_complete=True, action_id=action["action_id"])
        other = await host.call(BEGIN, **confirmed())
    assert (other["workspace"], other["branch"]) == (f"{ready['workspace']}-2", f"{ready['branch']}-2")


async def test_runs_that_wait_for_their_branches_get_one_each(sample: Sample) -> None:
    async with hosting(sample) as host:
        small, large = [await host.call(BEGIN, **confirmed(effort=effort)) for effort in ("S", "L")]
        assert (small["effort"], large["effort"]) == ("S", "L")
        assert large["branch"] == f"{small['branch']}-2"
        listed = (await host.call("run_list"))["runs"]
        assert {run["branch"] for run in listed} == {small["branch"], large["branch"]}
        for ready in (small, large):
            host.git("switch", "-q", "main")
            host.workspace = ready["workspace"]
            assert (await host.next())["phase"] == "phase-1"
            assert host.git("branch", "--show-current") == ready["branch"]
        assert len((await host.call("run_list"))["runs"]) == 2


async def test_a_second_run_is_not_put_on_the_branch_of_one_that_is_under_way(sample: Sample) -> None:
    async with hosting(sample) as host:
        host.git("switch", "-q", "-c", "work")
        ready = await host.call(BEGIN, **confirmed(use_current_branch=True))
        assert await host.call(BEGIN, **confirmed(use_current_branch=True)) == ready
        with pytest.raises(Refusal, match=r"is under way on work\.\n.*leave use_current_branch out"):
            await host.call(BEGIN, **confirmed("Another task altogether", use_current_branch=True))
    assert len(folders(sample)) == 1


async def test_a_run_that_cannot_begin_leaves_nothing(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (blocked := tmp_path / "a-file").write_text("", encoding="utf-8")
    before = folders(sample)
    async with hosting(sample) as host:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("XDG_STATE_HOME", str(blocked))
            with pytest.raises(Refusal, match="could not be written"):
                await host.call(BEGIN, **confirmed())
        assert (folders(sample), host.git("status", "--porcelain")) == (before, "")
        assert (await host.call("run_list"))["runs"] == []
        ready = await host.call(BEGIN, **confirmed())
        assert not ready["workspace"].endswith("-2")
