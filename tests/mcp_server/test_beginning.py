"""How runs begin: once each, on a branch that can be made, from a tree that can carry them, with
the words that were meant.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting

TASK = "Nobody is on call before the start"
ISSUE = "https://github.com/owner/repo/issues/42"
BEGIN = "pipeline_init_with_context"


def confirmed(task: str = TASK, **chosen: object) -> Json:
    """The arguments of a confirmation without anything before it."""
    return {
        "workspace": ".specs/x",
        "task_text": task,
        "user_confirmation": {"effort": "S", **chosen},
    }


def folders(sample: Sample) -> list[str]:
    """The folders of runs in the work tree."""
    return (
        sorted(path.name for path in (sample.path / ".specs").iterdir())
        if (sample.path / ".specs").exists()
        else []
    )


# -- a run begins once
# --------------------------------------------------------------------------------------------------


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


async def test_a_second_run_is_not_put_on_the_branch_of_one_that_is_under_way(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        host.git("switch", "-q", "-c", "work")
        await host.call(BEGIN, **confirmed(use_current_branch=True))
        with pytest.raises(
            Refusal, match=r"is under way on work\.\n.*leave use_current_branch out"
        ):
            await host.call(BEGIN, **confirmed("Another task altogether", use_current_branch=True))
    assert len(folders(sample)) == 1


async def test_a_run_that_cannot_begin_leaves_nothing(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (blocked := tmp_path / "a-file").write_text("", encoding="utf-8")
    before = folders(sample)
    async with hosting(sample) as host:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("XDG_STATE_HOME", str(blocked))
            with pytest.raises(Refusal, match="Check free space and permissions"):
                await host.call(BEGIN, **confirmed())
        assert (folders(sample), host.git("status", "--porcelain")) == (before, "")
        assert (await host.call("run_list"))["runs"] == []
        ready = await host.call(BEGIN, **confirmed())
        assert not ready["workspace"].endswith("-2")


# -- from a tree that can carry it
# --------------------------------------------------------------------------------------------------


def known(sample: Sample) -> None:
    """Git has been told who works here; merges and rebases want to know it."""
    sample.git("config", "user.name", "Ann")
    sample.git("config", "user.email", "ann@example.org")


def merging(sample: Sample) -> None:
    """A merge with nothing left to commit but itself."""
    side(sample)
    sample.git("merge", "-q", "--no-commit", "-s", "ours", "side")


def side(sample: Sample) -> None:
    """A branch that has a commit of its own, and one on main."""
    known(sample)
    for branch in ("side", "main"):
        sample.git("switch", "-q", *(() if branch == "main" else ("-c",)), branch)
        (sample.path / "README.md").write_text(f"{branch}\n", encoding="utf-8")
        sample.git("commit", "-qam", branch)


def unborn(sample: Sample) -> None:
    """A repository with files and without a commit."""
    sample.git("update-ref", "-d", "HEAD")
    sample.git("rm", "-rq", "--cached", ".")


@pytest.mark.parametrize(
    ("prepared", "way_out"),
    [(merging, "git merge --continue"), (unborn, "git add -A && git commit")],
)
async def test_a_tree_in_the_middle_of_something_is_refused_with_the_way_out_of_that(
    sample: Sample, prepared: Callable[[Sample], None], way_out: str
) -> None:
    prepared(sample)
    async with hosting(sample) as host:
        with pytest.raises(Refusal) as caught:
            await host.call(BEGIN, **confirmed())
    assert way_out in str(caught.value)
    assert "stash" not in str(caught.value)
    assert folders(sample) == []


async def test_a_branch_that_cannot_be_made_where_the_tree_stands_now_comes_with_the_command_that_can(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        ready = await host.begin(TASK, git=False)
        side(sample)
        with pytest.raises(
            Refusal, match=rf"git switch -c {ready['branch']} [0-9a-f]{{12}}, then call again"
        ) as caught:
            await host.next()
        host.git(*str(caught.value).partition("commit: git ")[2].partition(", then")[0].split())
        assert (await host.next())["phase"] == "phase-1"


async def test_a_run_is_not_put_on_the_main_branch_and_the_argument_is_named(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        with pytest.raises(
            Refusal, match=r"use_current_branch would write to main\.\nLeave use_current_branch out"
        ) as caught:
            await host.call(BEGIN, **confirmed(use_current_branch=True))
        assert "--" not in str(caught.value)
        host.git("switch", "-q", "-c", "work")
        (sample.path / "README.md").write_text("mine\n", encoding="utf-8")
        with pytest.raises(Refusal, match="git stash -u") as caught:
            await host.call(BEGIN, **confirmed(use_current_branch=True))
        assert "--here" not in str(caught.value)
    assert folders(sample) == []


# -- with the words that were meant
# --------------------------------------------------------------------------------------------------


async def test_an_issue_of_any_tracker_is_read_by_its_plain_fields(sample: Sample) -> None:
    context = {"title": "Fix auth timeout", "body": "abc", "labels": ["bug"], "points": 2}
    url = "https://tracker.example/issue/7"
    handed: Json = {"workspace": ".specs/x", "external_context": context, "source_url": url}
    async with hosting(sample) as host:
        needs = (await host.call(BEGIN, **handed))["needs_user_confirmation"]
        assert needs["detected_effort"] == "S"
        ready = await host.call(BEGIN, **handed, user_confirmation={"effort": "S"})
        with pytest.raises(Refusal, match=r"Say in task_text.*title, body, labels") as caught:
            await host.call(BEGIN, workspace=".specs/y", external_context={"headline": "Fix"})
    assert "source_type: issue" in ready["request_md_content"]
    assert ready["request_md_content"].endswith("# Fix auth timeout\n\nabc\n")
    assert "forge-bot run" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (None, "abc"),
        ("Fix auth timeout\n\nabc", "abc"),
        ("Fix auth timeout\n\nabc, but not for admins", "abc, but not for admins"),
        ("Only for admins", "Only for admins"),
    ],
)
async def test_what_a_person_made_of_an_issue_is_what_the_run_is_about(
    sample: Sample, body: str | None, text: str
) -> None:
    context = {"github_title": "Fix auth timeout", "github_body": "abc", "github_labels": ["bug"]}
    handed: Json = {"workspace": ".specs/x", "source_url": ISSUE, "external_context": context}
    async with hosting(sample) as host:
        needs = (await host.call(BEGIN, **handed))["needs_user_confirmation"]
        assert "enriched_request_body" in needs["message"]
        chosen = {"effort": "S"} if body is None else {"effort": "S", "enriched_request_body": body}
        ready = await host.call(BEGIN, **handed, user_confirmation=chosen)
    front, _, request = ready["request_md_content"].removeprefix("---\n").partition("---\n")
    assert f"url: {ISSUE}" in front
    assert request == f"\n# Fix auth timeout\n\n{text}\n"
    assert ready["branch"] == "feature/42-fix-auth-timeout"
