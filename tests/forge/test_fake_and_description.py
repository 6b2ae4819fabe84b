"""The fake is held against GitHub's own description, and the check is one that can fail."""

from typing import Any

import pytest

from tests.fakes.github import FakeGitHub
from tests.fakes.github.calls import ROUTES
from tests.fakes.github.description import description
from tests.fakes.github.payloads import EVENTS


def test_the_description_holds_just_what_the_fake_answers() -> None:
    described = {
        (method.upper(), path)
        for path, methods in description().whole["paths"].items()
        for method in methods
    }
    assert described == {(route.method, route.template) for route in ROUTES}
    assert set(description().whole["x-webhooks"]) == set(EVENTS)
    assert description().whole["info"]["title"] == "reduced from @octokit/openapi@23.0.2"


@pytest.mark.parametrize("event", EVENTS)
def test_a_payload_fits_the_description_of_its_webhook(github: FakeGitHub, event: str) -> None:
    github.user("acme", "Organization")
    repo = github.repository(files={"a": "1", ".github/workflows/ci.yml": "name: CI\non: push\n"})
    head = github.commit(repo, "feature/x", {"a": "2"})
    issue = github.issue(repo, labels=["forge"])
    github.label(repo, "forge")
    parts: dict[str, Any] = {"issue": issue}
    if event.startswith("issue-comment"):
        parts = {"comment": github.comment(issue, "/forge")}
    elif event.endswith("completed"):
        parts = {"check": github.check(repo, head, "test", "failure", log="boom")}
    elif event == "issues-labeled":
        parts["label"] = "forge"
    name, _, action = event.rpartition("-")
    payload = github.payload(f"{name.replace('-', '_')}.{action}", repo, "maint", **parts)
    assert payload["sender"]["login"] == "maint"
    assert payload["repository"]["full_name"] == "acme/widget"
    assert payload["organization"]["login"] == "acme"
    assert payload["action"] == action
