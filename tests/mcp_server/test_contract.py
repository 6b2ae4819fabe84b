"""The four tools as hosts know them: every example of the contract, by its keys, words and
shapes.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting, two_tasks

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


async def test_an_issue_becomes_a_new_run_with_what_has_to_be_fetched(sample: Sample) -> None:
    async with hosting(sample) as host:
        said = await host.call(
            "pipeline_init", arguments=f"{ISSUE} --auto --effort=l", current_branch="main"
        )
    assert set(said) == {
        "workspace", "spec_name", "source_type", "source_url", "source_id", "core_text", "flags", "fetch_needed",
    }  # fmt: skip
    assert said["workspace"].endswith(f"-{said['spec_name']}")
    assert said["spec_name"] == "https-github-com-owner-repo-issues-42"
    assert (said["source_type"], said["source_url"], said["source_id"], said["core_text"]) == (
        "github_issue",
        ISSUE,
        "42",
        ISSUE,
    )
    assert said["flags"] == {
        "auto": True, "skip_pr": False, "debug": False, "discuss": False, "effort_override": "L", "current_branch": "main",
    }  # fmt: skip
    assert said["fetch_needed"]["type"] == "github"
    assert said["fetch_needed"]["fields"] == ["labels", "title", "body"]
    assert said["fetch_needed"]["instruction"].startswith(
        "fetch github issue fields before calling pipeline_init_with_context"
    )
    assert said["fetch_needed"]["command"] == [
        "gh",
        "issue",
        "view",
        ISSUE,
        "--json",
        "labels,title,body",
    ]


async def test_plain_words_need_nothing_fetched(sample: Sample) -> None:
    async with hosting(sample) as host:
        said = await host.call("pipeline_init", arguments=TASK)
    assert set(said) == {"workspace", "spec_name", "source_type", "core_text", "flags"}
    assert said["source_type"] == "text"
    assert said["flags"]["effort_override"] is None
    assert said["flags"]["current_branch"] == "main"


async def test_only_a_whole_address_makes_an_issue(sample: Sample) -> None:
    kinds = {
        ISSUE: ("github_issue", "42"),
        f"{ISSUE}#issuecomment-1": ("github_issue", "42"),
        "https://acme.atlassian.net/browse/SOA-123": ("jira_issue", "SOA-123"),
        "https://linear.app/acme/issue/ENG-7/fix-the-login": ("linear_issue", "ENG-7"),
        f"Do what {ISSUE} says": ("text", None),
    }
    async with hosting(sample) as host:
        said = {text: await host.call("pipeline_init", arguments=text) for text in kinds}
    assert {
        text: (each["source_type"], each.get("source_id")) for text, each in said.items()
    } == kinds


async def test_what_cannot_be_used_comes_back_as_errors(sample: Sample) -> None:
    texts = (
        "", "  ", "ab", "--auto", "https://example.com/x", "https://github.com/owner/repo/pull/1", f"{ISSUE}$(id)", f"{ISSUE};id",
        "Fix it --effort=XS", ".specs/no-such-run", "https://github.com/o/r/issues/0",
    )  # fmt: skip
    async with hosting(sample) as host:
        for text in texts:
            said = await host.call("pipeline_init", arguments=text)
            assert set(said) == {"errors"}, text
            assert said["errors"], text
            assert all(isinstance(error, str) for error in said["errors"])


async def test_too_short_an_input_is_told_in_the_known_words(sample: Sample) -> None:
    async with hosting(sample) as host:
        assert await host.call("pipeline_init", arguments="ab") == {
            "errors": ["input too short: minimum 3 characters required"]
        }


async def test_the_hosts_of_an_enterprise_server_are_configured(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://git.acme.test/owner/repo/issues/7"
    async with hosting(sample) as host:
        assert "errors" in await host.call("pipeline_init", arguments=url)
        monkeypatch.setenv("FORGE_BOT_GITHUB_HOSTS", "git.acme.test, other.test")
        assert (await host.call("pipeline_init", arguments=url))["source_id"] == "7"


async def test_the_folder_of_a_run_resumes_it(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.begin(TASK)
        for text in (
            ready["workspace"],
            f"{ready['workspace']}/",
            ready["workspace"].removeprefix(".specs/"),
        ):
            said = await host.call("pipeline_init", arguments=text)
            assert said == {
                "resume_mode": "auto",
                "workspace": ready["workspace"],
                "instruction": "call state_resume_info",
            }
        assert (await host.call("state_resume_info", workspace=said["workspace"]))[
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
        said = await host.call("pipeline_init", arguments=f"{ISSUE}#issuecomment-1")
        assert said == {
            "resume_mode": "auto",
            "workspace": ready["workspace"],
            "instruction": "call state_resume_info",
        }
        for other in (
            "https://github.com/owner/other/issues/42",
            "https://linear.app/acme/issue/ENG-42",
        ):
            assert "resume_mode" not in await host.call("pipeline_init", arguments=other)


# -- pipeline_init_with_context
# --------------------------------------------------------------------------------------------------


async def test_the_first_call_asks_for_confirmation(sample: Sample) -> None:
    async with hosting(sample) as host:
        said = await host.call(
            "pipeline_init_with_context",
            workspace=".specs/x",
            source_id="42",
            source_url=ISSUE,
            external_context=CONTEXT,
        )
    assert set(said) == {"needs_user_confirmation"}
    needs = said["needs_user_confirmation"]
    assert set(needs) == {
        "detected_effort", "effort_options", "current_branch", "is_main_branch", "enriched_request_body", "message",
    }  # fmt: skip
    assert (needs["current_branch"], needs["is_main_branch"]) == ("main", True)
    assert (
        needs["enriched_request_body"]
        == "Fix auth timeout in middleware\n\nrequests timeout after 30s"
    )
    assert needs["message"].startswith(f'Detected effort="{needs["detected_effort"]}"')
    assert list(needs["effort_options"]) == ["S", "M", "L"]
    for effort, option in needs["effort_options"].items():
        assert set(option) == {"skipped_phases", "recommended"}
        assert option["recommended"] == (effort == needs["detected_effort"])
    assert needs["effort_options"]["M"]["skipped_phases"] == [
        {"phase_id": "phase-4b", "label": "Tasks Review"},
        {"phase_id": "checkpoint-b", "label": "Human Reviews Tasks"},
    ]
    assert needs["effort_options"]["L"]["skipped_phases"] == []
    assert {"phase_id": "phase-2", "label": "Investigation"} in needs["effort_options"]["S"][
        "skipped_phases"
    ]


@pytest.mark.parametrize(
    ("context", "effort"),
    [
        (
            {
                "jira_summary": "Skip minutes job",
                "jira_description": "…",
                "jira_issue_type": "Bug",
                "jira_story_points": 3,
            },
            "S",
        ),
        (
            {
                "jira_summary": "Skip minutes job",
                "jira_description": "…",
                "jira_issue_type": "Epic",
                "jira_story_points": None,
            },
            "L",
        ),
        (
            {
                "jira_summary": "Skip minutes job",
                "jira_description": None,
                "jira_issue_type": "Sub-task",
            },
            "S",
        ),
        (
            {
                "github_title": "Skip minutes job",
                "github_body": None,
                "github_labels": [{"name": "effort: L"}],
            },
            "L",
        ),
        (
            {"linear_title": "Skip minutes job", "linear_description": "", "linear_estimate": 13},
            "L",
        ),
        ({"linear_title": "Skip minutes job", "linear_description": "", "linear_priority": 2}, "M"),
    ],
)
async def test_labels_points_and_type_say_how_much_effort(
    sample: Sample, context: Json, effort: str
) -> None:
    async with hosting(sample) as host:
        said = await host.call(
            "pipeline_init_with_context",
            workspace=".specs/x",
            source_id="SOA-123",
            external_context=context,
        )
    assert said["needs_user_confirmation"]["detected_effort"] == effort


async def test_a_discussion_comes_first_where_it_was_asked_for(sample: Sample) -> None:
    async with hosting(sample) as host:
        flags = (await host.call("pipeline_init", arguments=f"{TASK} --discuss"))["flags"]
        handed: Json = {"workspace": ".specs/x", "task_text": TASK, "flags": flags}
        said = await host.call("pipeline_init_with_context", **handed)
        assert set(said) == {"needs_discussion"}
        assert set(said["needs_discussion"]) == {"questions", "message"}
        assert len(said["needs_discussion"]["questions"]) == 3
        said = await host.call(
            "pipeline_init_with_context",
            **handed,
            discussion_answers="Nobody may be called by mistake",
        )
        body = said["needs_user_confirmation"]["enriched_request_body"]
        assert body == f"{TASK}\n\n## Discussion Answers\n\nNobody may be called by mistake"
        confirmed = {"effort": "S", "enriched_request_body": body}
        ready = await host.call("pipeline_init_with_context", **handed, user_confirmation=confirmed)
    assert "Nobody may be called by mistake" in ready["request_md_content"]


async def test_the_confirmation_begins_the_run(sample: Sample) -> None:
    async with hosting(sample) as host:
        handed: Json = {"workspace": ".specs/x", "source_id": "42", "source_url": ISSUE}
        await host.call("pipeline_init_with_context", **handed, external_context=CONTEXT)
        # The context need not be said again: the type of the source stays.
        confirmed = {
            "effort": "M",
            "workspace_slug": "fix-auth-timeout",
            "use_current_branch": False,
        }
        ready = await host.call("pipeline_init_with_context", **handed, user_confirmation=confirmed)
    assert set(ready) == {
        "ready", "workspace", "effort", "flow_template", "skipped_phases", "request_md_content", "branch", "create_branch",
    }  # fmt: skip
    assert ready["ready"] is True
    assert ready["workspace"].endswith("-42-fix-auth-timeout")
    assert (ready["effort"], ready["flow_template"], ready["skipped_phases"]) == (
        "M",
        "standard",
        ["phase-4b", "checkpoint-b"],
    )
    assert (ready["branch"], ready["create_branch"]) == ("feature/42-fix-auth-timeout", True)
    assert ready["request_md_content"].startswith("---\nsource_type: github_issue\n")
    assert sample.git("status", "--porcelain", "-uall").splitlines()[0].startswith("?? .specs/")


async def test_a_run_may_begin_on_the_branch_that_is_checked_out_but_not_on_the_main_one(
    sample: Sample,
) -> None:
    handed: Json = {
        "workspace": ".specs/x",
        "task_text": TASK,
        "user_confirmation": {"effort": "S", "use_current_branch": True},
    }
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match="would write to main"):
            await host.call("pipeline_init_with_context", **handed)
        host.git("checkout", "-q", "-b", "work")
        ready = await host.call("pipeline_init_with_context", **handed)
        assert (ready["branch"], ready["create_branch"]) == ("work", False)
        host.workspace = ready["workspace"]
        assert (await host.next())["phase"] == "phase-1"
        assert host.git("branch", "--format=%(refname:short)").splitlines() == ["main", "work"]


async def test_answers_and_a_confirmation_together_are_ambiguous(sample: Sample) -> None:
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match="together") as caught:
            await host.call(
                "pipeline_init_with_context",
                workspace=".specs/x",
                task_text=TASK,
                discussion_answers="a",
                user_confirmation={"effort": "S"},
            )
    assert caught.value.error["code"] == "MCP-001"


# -- the loop
# --------------------------------------------------------------------------------------------------


async def test_every_action_has_the_keys_of_its_type(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.begin(TASK, "S")
        spawn = await host.next()
        assert set(spawn) == ACTION | {
            "agent",
            "prompt",
            "model",
            "phase",
            "input_files",
            "output_file",
            "parallel_task_ids",
        }
        assert (spawn["type"], spawn["phase"], spawn["output_file"]) == (
            "spawn_agent",
            "phase-1",
            "analysis.md",
        )
        assert spawn["agent"] == "situation-analyst-investigator"
        assert spawn["model"] in {"haiku", "sonnet", "opus"}
        assert spawn["input_files"] == ["request.md"]
        assert spawn["parallel_task_ids"] is None
        assert (spawn["warning"], spawn["report_result"]) == ("", None)
        checkpoint = await host.drive(spawn)
        assert set(checkpoint) == ACTION | {"name", "phase", "present_to_user", "options", "digest"}
        assert (checkpoint["type"], checkpoint["name"], checkpoint["options"]) == (
            "checkpoint",
            "checkpoint-a",
            ["approve", "reject"],
        )
        assert "## Human Reviews Design" in checkpoint["present_to_user"]
        write = await host.next(user_response="approve")
        assert set(write) == ACTION | {"phase", "path", "content", "setup_only"}
        assert (write["type"], write["path"], write["setup_only"]) == (
            "write_file",
            f"{ready['workspace']}/tasks.md",
            True,
        )
        assert write["content"].startswith("# Tasks")
        done = await host.drive(write)
        assert set(done) == ACTION | {"summary", "summary_path"}
        assert done["type"] == "done"
        assert done["summary"] == "Pipeline completed: 12 phases, 7 skipped"
        assert done["summary_path"] == f"{ready['workspace']}/summary.md"
        assert (sample.path / done["summary_path"]).is_file()


async def test_the_prompt_has_its_layers_and_lists_paths_only(sample: Sample) -> None:
    async with hosting(sample) as host:
        ready = await host.begin("Nobody is on call before the start: SECRET-OF-THE-REQUEST", "M")
        action = await host.drive(await host.next(), "architect")
    prompt, folder = action["prompt"], ready["workspace"]
    places = [
        prompt.index(heading)
        for heading in ("## Input Files", "## Output File", "## Repository Context", "# Architect")
    ]
    assert places == sorted(places)
    inputs = prompt.split("## Input Files")[1].split("## Output File")[0]
    for name in ("request.md", "analysis.md"):
        assert f"\n- {folder}/{name}\n" in inputs
    assert f"## Output File\n\n- {folder}/design.md\n" in prompt
    assert "Test command: " in prompt.replace("**", "")
    assert "SECRET-OF-THE-REQUEST" not in prompt.split("## Input Files")[1].split(
        "## Repository Context"
    )[0].replace(folder, "")
    assert "## Similar Past Pipelines" not in prompt


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


@pytest.mark.parametrize("records", ["separate", "in-branch"])
async def test_a_publication_is_an_argument_list_for_the_host(
    sample: Sample, tmp_path: Path, records: str
) -> None:
    remote(sample, tmp_path)
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(f"records: {records}\n", encoding="utf-8")
    sample.git("add", ".forge")
    sample.git("commit", "-qm", "Settings")
    async with hosting(sample) as host:
        ready = await host.begin(TASK, "S")
        await host.drive(await host.next())
        push = await host.drive(await host.next(user_response="approve"))
        assert set(push) == ACTION | {"phase", "commands", "setup_only"}
        heads = host.git("branch", "--format=%(refname:short)").split()
        (offered,) = [each for each in heads if each not in {"main", ready["branch"]}] or [""]
        assert (offered != "") == (records == "separate")
        together = ["--atomic"] if offered else []
        names = [ready["branch"], *([offered] if offered else [])]
        assert push["commands"] == ["git", "push", *together, "--set-upstream", "origin", *names]
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
        with pytest.raises(Refusal, match="MCP-006"):
            await host.next(previous_action_complete=True)
        url = "https://github.com/owner/repo/pull/7"
        after = await host.next(
            previous_action_complete=True, action_id=create["action_id"], previous_output=f"{url}\n"
        )
        assert after["phase"] == "final-summary"


async def test_a_negative_review_stands_beside_the_next_action(sample: Sample) -> None:
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("design-reviewer", "*", "1"): script.review(
                "REVISE", "[CRITICAL] Missing error handling"
            ),
        }
        await host.begin(TASK, "M")
        review = await host.drive(await host.next(), "design-reviewer")
        host.perform(review)
        action = await host.next(
            previous_action_complete=True, previous_tokens=15000, previous_duration_ms=45000
        )
        assert action["report_result"] == {
            "next_action_hint": "revision_required",
            "verdict_parsed": "REVISE",
            "findings": [{"severity": "CRITICAL", "description": "Missing error handling"}],
            "warning": "",
            "display_message": "Design Review: REVISE",
        }
        assert (action["type"], action["phase"], action["agent"]) == (
            "spawn_agent",
            "phase-3",
            "architect",
        )


async def test_a_report_of_its_own_records_without_the_next_action(sample: Sample) -> None:
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("design-reviewer", "*", "*"): script.review(
                "APPROVE_WITH_NOTES", "[MINOR] Consider adding context"
            ),
        }
        await host.begin(TASK, "M")
        review = await host.drive(await host.next(), "design-reviewer")
        host.perform(review)
        call: dict[str, Any] = {"workspace": host.workspace, "phase": "phase-3b"}
        said = await host.call(
            "pipeline_report_result", **call, tokens_used=15000, duration_ms=45000, model="opus"
        )
        assert said == {
            "state_updated": True,
            "artifact_written": "review-design.md",
            "verdict_parsed": "APPROVE_WITH_NOTES",
            "findings": [{"severity": "MINOR", "description": "Consider adding context"}],
            "next_action_hint": "proceed",
            "warning": "",
            "display_message": "Design Review: APPROVE_WITH_NOTES",
        }
        again = await host.call("pipeline_report_result", **call)
        assert again["state_updated"] is False
        assert (await host.next())["name"] == "checkpoint-a"


# -- what these tests stand on
# --------------------------------------------------------------------------------------------------


def remote(sample: Sample, tmp_path: Path) -> None:
    """A bare remote named origin, with main in it."""
    sample.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    sample.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    sample.git("push", "-q", "origin", "main")
