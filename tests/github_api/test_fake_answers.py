"""Pages, entity tags, limits, moved things and faults, as clients of GitHub meet them."""

import http.client

import pytest

from tests.fakes.github import FakeGitHub
from tests.github_api.asking import Asking


def test_links_to_further_pages_name_the_repository_by_its_number(github: FakeGitHub) -> None:
    repo = github.repository()
    issue = github.issue(repo)
    for number in range(5):
        github.comment(issue, f"{number}")
    ask = Asking(github)
    first = ask("GET", "+/issues/1/comments?per_page=2")
    assert (
        f'<{github.url}/repositories/{repo.id}/issues/1/comments?per_page=2&page=2>; rel="next"'
        in first.headers["link"]
    )
    address = first.headers["link"].partition(">")[0].removeprefix(f"<{github.url}")
    second = ask("GET", address)
    assert [comment["body"] for comment in first.body + second.body] == ["0", "1", "2", "3"]
    last = ask("GET", "+/issues/1/comments?per_page=2&page=3")
    assert 'rel="next"' not in last.headers["link"]
    assert ask("GET", "+/issues/1/comments?per_page=1000").headers.get("link") is None


def test_what_did_not_change_is_not_sent_again_and_costs_nothing(github: FakeGitHub) -> None:
    issue = github.issue(github.repository())
    ask = Asking(github, github.token("ann"))
    first = ask("GET", "+/issues/1")
    again = ask("GET", "+/issues/1", If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"] == "1"
    issue.title = "Another"
    assert ask("GET", "+/issues/1", If_None_Match=first.headers["etag"]).status == 200


def test_a_limit_is_counted_down_and_then_holds(github: FakeGitHub) -> None:
    github.repository()
    ask = Asking(github, github.token("ann", limit=2))
    assert [ask("GET", "+").headers["x-ratelimit-remaining"] for _ in range(2)] == ["1", "0"]
    refused = ask("GET", "+")
    assert (refused.status, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert int(refused.headers["x-ratelimit-reset"]) > github.clock.seconds
    assert ask("GET", "/rate_limit").body["rate"]["remaining"] == 0


def test_a_renamed_repository_is_found_by_reading_and_redirects_what_writes(
    github: FakeGitHub,
) -> None:
    repo = github.repository()
    github.issue(repo)
    assert Asking(github, github.token("acme"))("PATCH", "+", {"name": "gadget"}).status == 200
    ask = Asking(github, github.token("ann"))
    assert (
        ask("GET", "+/issues/1").status,
        ask("POST", "+/issues/1/comments", {"body": "x"}).status,
    ) == (301, 307)
    address = ask("GET", "+/issues/1").headers["location"].removeprefix(github.url)
    assert address == f"/repositories/{repo.id}/issues/1"
    assert ask("GET", address).body["url"] == f"{github.url}/repos/acme/gadget/issues/1"


def test_a_transferred_issue_leads_on_and_a_deleted_one_is_gone(github: FakeGitHub) -> None:
    repo, other = github.repository(), github.repository("acme/other")
    issue, gone = github.issue(repo), github.issue(repo)
    github.comment(issue, "words")
    moved = github.transfer(repo, issue, other)
    gone.deleted = True
    ask = Asking(github, github.token("ann"))
    assert (
        ask("GET", "+/issues/1").headers["location"]
        == f"{github.url}/repositories/{other.id}/issues/{moved.number}"
    )
    assert ask("POST", "+/issues/1/comments", {"body": "x"}).status == 307
    assert (
        ask("GET", f"/repos/acme/other/issues/{moved.number}/comments").body[0]["body"] == "words"
    )
    assert (ask("GET", "+/issues/2").status, ask("GET", "+/issues/2").message) == (
        410,
        "This issue was deleted",
    )


def test_faults_strike_as_often_as_they_are_told_and_then_no_more(github: FakeGitHub) -> None:
    github.repository()
    ask = Asking(github)
    github.faults.status("GET /repos", 502, times=2)
    assert [ask("GET", "+").status for _ in range(3)] == [502, 502, 200]
    github.faults.secondary("GET /repos", 30)
    said = ask("GET", "+")
    assert (said.status, said.headers["retry-after"]) == (403, "30")
    assert "secondary rate limit" in said.message
    github.faults.secondary("GET /repos", 30, status=429)
    assert ask("GET", "+").status == 429


def test_a_lost_connection_is_a_reset_and_what_was_asked_may_have_been_done(
    github: FakeGitHub,
) -> None:
    issue = github.issue(github.repository())
    ask = Asking(github, github.token("ann"))
    for after, comments in ((False, 0), (True, 1)):
        github.faults.lost("POST", after=after)
        with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
            ask("POST", "+/issues/1/comments", {"body": "x"})
        assert len(issue.comments) == comments


def test_a_log_lies_at_another_host_which_takes_no_token(github: FakeGitHub) -> None:
    repo = github.repository()
    check = github.check(repo, repo.bare.head("main"), "test", "failure", log="boom\n")
    said = Asking(github, github.token("ann"))("GET", f"+/actions/jobs/{check.id}/logs")
    assert said.status == 302
    assert said.headers["location"].startswith(github.storage_url)
    path = said.headers["location"].removeprefix(github.storage_url)
    assert Asking(github)("GET", path).body == b"boom\n"
    assert Asking(github, "ghp_x")("GET", path).status == 403
    assert github.findings.pop() == "a token was sent to the host of the logs"


def test_a_workflow_is_started_with_inputs_that_it_knows(github: FakeGitHub) -> None:
    text = "name: Forge\non:\n  workflow_dispatch:\n    inputs:\n      issue: {}\n"
    repo = github.repository(
        files={".github/workflows/forge.yml": text, ".github/workflows/ci.yml": "on: push\n"}
    )
    ask = Asking(github, github.actions_token(repo, actions="write"))
    path = "+/actions/workflows/forge.yml/dispatches"
    assert ask("POST", path, {"ref": "main", "inputs": {"issue": "1"}}).status == 204
    assert (repo.dispatches[0].inputs, repo.dispatches[0].user.login) == (
        {"issue": "1"},
        "github-actions[bot]",
    )
    assert (
        ask("POST", path, {"ref": "main", "inputs": {"other": "1"}}).message
        == 'Unexpected inputs provided: ["other"]'
    )
    assert "trigger" in ask("POST", path.replace("forge", "ci"), {"ref": "main"}).message
    assert ask("POST", path.replace("forge", "none"), {"ref": "main"}).status == 404
