"""The four tools as hosts know them: every example of the contract, by its keys, words and
shapes.
"""

from pathlib import Path

import pytest

from tests.fakes import script
from tests.fakes.rows import rows
from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting, two_tasks

ROWS = rows(__file__)

TASK = "Nobody is on call before the start"
ISSUE = "https://github.com/owner/repo/issues/42"
ACTION = {"type", "action_id", "warning", "display_message", "report_result"}
CONTEXT = {
    "github_labels": ["bug", "priority-high"],
    "github_title": "Fix auth timeout in middleware",
    "github_body": "requests timeout after 30s",
}


# -- pipeline_init
# --------------------------------------------------------------------------------------------------


async def test_only_a_whole_address_makes_an_issue(sample: Sample) -> None:
    kinds = {
        ISSUE: ("github_issue", "42"),
        f"{ISSUE}#issuecomment-1": ("github_issue", "42"),
        "https://acme.atlassian.net/browse/SOA-123": ("jira_issue", "SOA-123"),
        f"Do what {ISSUE} says": ("text", None),
    }
    async with hosting(sample) as host:
        answer = {text: await host.call("pipeline_init", arguments=text) for text in kinds}
    assert {
        text: (item["source_type"], item.get("source_id")) for text, item in answer.items()
    } == kinds


async def test_what_cannot_be_used_comes_back_as_errors(sample: Sample) -> None:
    texts = (
        "", "  ", "ab", "--auto", "https://example.com/x", "https://github.com/owner/repo/pull/1", f"{ISSUE}$(id)", f"{ISSUE};id",
        "Fix it --effort=XS", ".specs/no-such-run", "https://github.com/o/r/issues/0",
    )  # fmt: skip
    async with hosting(sample) as host:
        for text in texts:
            answer = await host.call("pipeline_init", arguments=text)
            assert set(answer) == {"errors"}, text
            assert answer["errors"], text
            assert all(isinstance(error, str) for error in answer["errors"])


async def test_the_hosts_of_an_enterprise_server_are_configured(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://git.acme.test/owner/repo/issues/7"
    async with hosting(sample) as host:
        assert "errors" in await host.call("pipeline_init", arguments=url)
        monkeypatch.setenv("GH_HOST", "git.acme.test")
        assert (await host.call("pipeline_init", arguments=url))["source_id"] == "7"


async def test_the_folder_of_a_run_resumes_it(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.begin(TASK)
        for text in (
            ready["workspace"],
            f"{ready['workspace']}/",
            ready["workspace"].removeprefix(".specs/"),
        ):
            answer = await host.call("pipeline_init", arguments=text)
            assert answer == {
                "resume_mode": "auto",
                "workspace": ready["workspace"],
                "instruction": "call state_resume_info",
            }
        assert (await host.call("state_resume_info", workspace=answer["workspace"]))[
            "currentPhase"
        ] == "setup"


async def test_the_same_issue_resumes_its_run_and_another_of_the_same_number_does_not(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        handed: Json = {"workspace": ".specs/x", "source_url": ISSUE, "external_context": CONTEXT}
        ready = await host.call(
            "pipeline_init_with_context", **handed, user_confirmation={"effort": "S"}
        )
        answer = await host.call("pipeline_init", arguments=f"{ISSUE}#issuecomment-1")
        assert answer == {
            "resume_mode": "auto",
            "workspace": ready["workspace"],
            "instruction": "call state_resume_info",
        }
        other = "https://github.com/owner/other/issues/42"
        assert "resume_mode" not in await host.call("pipeline_init", arguments=other)


# -- pipeline_init_with_context
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("context", "effort"), ROWS["labels_points_and_type_say"])
async def test_labels_points_and_type_say_how_much_effort(
    sample: Sample, context: Json, effort: str
) -> None:
    async with hosting(sample) as host:
        answer = await host.call(
            "pipeline_init_with_context",
            workspace=".specs/x",
            source_id="SOA-123",
            external_context=context,
        )
    assert answer["needs_user_confirmation"]["detected_effort"] == effort


# -- the loop
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_wave_is_one_action_for_several_agents(sample: Sample) -> None:
    answers = {**script.usual(), **two_tasks()}
    async with hosting(sample) as host:
        host.answers = answers
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        action = await host.drive(await host.next(user_response="approve"), "implementer")
        assert action["parallel_task_ids"] == ["1", "2"]
        assert action["output_file"] == "impl-{task}.md"
        assert "# Task 1\n" in action["prompt"]
        assert "# Task 2\n" in action["prompt"]


@pytest.mark.slow
async def test_a_publication_is_an_argument_list_for_the_host(
    sample: Sample, tmp_path: Path
) -> None:
    remote(sample, tmp_path)
    async with hosting(sample) as host:
        ready = await host.begin(TASK, "S")
        await host.drive(await host.next())
        push = await host.drive(await host.next(user_response="approve"))
        assert set(push) == ACTION | {"phase", "commands", "setup_only"}
        heads = host.git("branch", "--format=%(refname:short)").split()
        (offered,) = [item for item in heads if item not in {"main", ready["branch"]}]
        names = [ready["branch"], offered]
        together = ["--set-upstream", "origin", *names]
        assert push["commands"] == ["git", "push", *together]
        assert (push["type"], push["phase"], push["setup_only"]) == ("exec", "pr-creation", True)
        with pytest.raises(Refusal, match="not at its remote"):
            await host.next(previous_action_complete=True, action_id=push["action_id"])
        host.git(*push["commands"][1:])
        create = await host.next(
            previous_action_complete=True, previous_setup_only=True, action_id=push["action_id"]
        )
        assert create["report_result"]["next_action_hint"] == "setup_continue"
        assert create["commands"][:5] == ["gh", "pr", "create", "--head", names[-1]]
        assert create["commands"][-4:-1:2] == ["--title", "--body"]
        assert create["setup_only"] is False
        url = "https://github.com/owner/repo/pull/7"
        after = await host.next(
            previous_action_complete=True, action_id=create["action_id"], previous_output=f"{url}\n"
        )
        assert after["phase"] == "final-summary"


# -- what these tests stand on
# --------------------------------------------------------------------------------------------------


def remote(sample: Sample, tmp_path: Path) -> None:
    """A bare remote named origin, with main in it."""
    sample.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    sample.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    sample.git("push", "-q", "origin", "main")
