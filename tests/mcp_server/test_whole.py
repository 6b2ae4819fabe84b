"""Whole runs over stdin and stdout, to the question whether the summary is posted and to the end."""

import subprocess
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, over_stdio

pytestmark = pytest.mark.slow

ISSUE = "https://github.com/acme/rota/issues/42"
PULL = "https://github.com/acme/rota/pull/43"


@pytest.fixture
def pushed(sample: Sample, tmp_path: Path) -> Sample:
    """The sample repository with a remote."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "remote.git")], check=True)
    sample.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    sample.git("push", "-q", "origin", "main")
    return sample


async def led(host: Host, action: Json, commands: list[list[str]]) -> Json:
    """Approve and perform until the run is over or asks whether to post; what the host is to run is
    kept and said to have opened the pull request.
    """
    while (action := await host.drive(action))["type"] != "done":
        if action.get("name") == "post-to-source":
            return action
        if action["type"] == "checkpoint":
            action = await host.next(user_response="approve", digest=action["digest"])
            continue
        commands.append(action["commands"])
        if action["setup_only"]:
            host.git(*action["commands"][1:])
        action = await host.next(
            previous_action_complete=True, action_id=action["action_id"], previous_output=PULL
        )
    return action


async def test_nothing_is_posted_to_the_issue_before_a_person_says_so(pushed: Sample) -> None:
    commands: list[list[str]] = []
    fetched = {"github_title": "`rota who` names somebody too early", "github_body": "It does."}
    async with over_stdio(pushed) as host:
        arrived = await host.call("pipeline_init", arguments=ISSUE, current_branch="main")
        handed = {name: arrived[name] for name in ("workspace", "source_id", "source_url", "flags")}
        ready = await host.call(
            "pipeline_init_with_context",
            **handed,
            external_context=fetched,
            user_confirmation={"effort": "S"},
        )
        host.workspace = ready["workspace"]
        host.git("checkout", "-q", "-b", ready["branch"])
        asked = await led(host, await host.next(), commands)
        assert (asked["type"], asked["options"]) == ("checkpoint", ["post", "skip"])
        assert "summary.md" in asked["present_to_user"]
        with pytest.raises(Refusal, match="takes post, skip"):
            await host.next(user_response="approve")
        with pytest.raises(Refusal, match="GATE-002"):
            await host.next(user_response="post", digest="0123456789ab")
        after = await led(host, await host.next(user_response="skip"), commands)
        assert after["type"] == "done"
    assert [words for words in commands if words[1:2] == ["issue"]] == []


async def test_a_run_on_the_persons_own_branch_asks_for_a_pull_request_into_the_default_one(
    pushed: Sample,
) -> None:
    pushed.git("switch", "-q", "-c", "mine")
    commands: list[list[str]] = []
    async with over_stdio(pushed) as host:
        await host.begin("Nobody is on call before the start", use_current_branch=True)
        await led(host, await host.next(), commands)
    (create,) = [words for words in commands if words[:3] == ["gh", "pr", "create"]]
    assert create[3:7] == ["--head", "mine", "--base", "main"]
