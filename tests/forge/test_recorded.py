"""The adapter over recorded exchanges, with the network blocked. They were recorded against the
GitHub of the tests:

    .venv/bin/pytest tests/forge/test_recorded.py --record-mode=rewrite

The addresses in them are api.github.com's, and no token is in them, so that the real one can be
recorded in their place.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from forge_bot.errors import NotOnGitHub, PermissionMissing
from forge_bot.forge.github.client import GitHub
from forge_bot.forge.types import NewPullRequest, PullState
from forge_bot.forge.types import Role as Rank
from tests.fakes.github import Exchange, FakeGitHub, Role
from tests.fakes.github.calls import matching
from tests.fakes.github.description import description
from tests.forge import never

pytestmark = [pytest.mark.vcr, pytest.mark.block_network(allowed_hosts=["nobody.invalid"])]
REAL = "https://api.github.com"
CASSETTES = sorted((Path(__file__).parent / "cassettes" / "test_recorded").glob("*.yaml"))
FORGE = ".github/workflows/forge-bot.yml"
_LOOPBACK = re.compile(rb"(?:http|git)://127\.0\.0\.1:\d+")
_PASSING = {"x-github-request-id", "date", "set-cookie", "x-oauth-scopes"}
_TOKENS = re.compile(
    r"gh[pousr]_[A-Za-z0-9_.-]{6,}|github_pat_|eyJ[A-Za-z0-9_-]{20,}|-----BEGIN|authorization",
    re.IGNORECASE,
)


def anonymous(request: Any) -> Any:
    """A request as it is kept: to the real host, without a token."""
    request.uri = _LOOPBACK.sub(REAL.encode(), request.uri.encode()).decode()
    return request


def settled(response: dict[str, Any]) -> dict[str, Any]:
    """An answer as it is kept: of the real host, without what differs from time to time."""
    body = _LOOPBACK.sub(REAL.encode(), response["body"]["string"])
    headers = {
        name: values for name, values in response["headers"].items() if name.lower() not in _PASSING
    }
    headers = {
        name: [_LOOPBACK.sub(REAL.encode(), value.encode()).decode() for value in values]
        for name, values in headers.items()
    }
    headers["Content-Length"] = [str(len(body))]
    return {**response, "headers": headers, "body": {"string": body}}


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    return {
        "filter_headers": ["Authorization", "User-Agent"],
        "before_record_request": anonymous,
        "before_record_response": settled,
        "decode_compressed_response": True,
        "match_on": ["method", "uri", "body"],
    }


Connect = Callable[..., GitHub]


@pytest.fixture
def connect(request: pytest.FixtureRequest, record_mode: str) -> Iterator[Connect]:
    """Connections as the bot with permissions: to the record, or to the GitHub of the tests while a
    record is made.
    """
    opened: list[GitHub] = []
    hub: FakeGitHub | None = request.getfixturevalue("github") if record_mode != "none" else None
    if hub:
        furnish(hub)

    def connected(**permissions: str) -> GitHub:
        token = (
            hub.actions_token(hub.found("acme", "widget"), **permissions) if hub else "ghs_replayed"
        )
        opened.append(GitHub("acme/widget", token, hub.url if hub else REAL, wait=never))
        return opened[-1]

    yield connected
    for each in opened:
        each.close()


def furnish(hub: FakeGitHub) -> None:
    """What stood on GitHub when the record was made."""
    text = "name: forge\non:\n  workflow_dispatch:\n    inputs: {issue: {required: true}}\n"
    repo = hub.repository(files={"a.py": "x = 1\n", FORGE: text})
    repo.actions_may_open_pulls = True
    hub.member(repo, "maint", Role.MAINTAIN)
    issue = hub.issue(repo, "Fix the login", "It times out.", labels=["forge"])
    for number in range(3):
        hub.comment(issue, f"{number}", by="maint")
    hub.commit(repo, "fix/1-login", {"a.py": "x = 2\n"})


def test_a_conversation(connect: Connect) -> None:
    bot = connect(issues="write")
    assert bot.issue(1).title == "Fix the login"
    assert bot.membership("maint") == Rank.MAINTAIN
    assert [comment.body for comment in bot.comments(1)] == [f"{number}" for number in range(3)]
    number = bot.comment(1, "On it. ünï 🙂").id
    bot.edit_comment(number, "Done.")
    bot.react_to_comment(number, "rocket")


def test_a_pull_request(connect: Connect) -> None:
    bot = connect(contents="write", pull_requests="write", actions="write")
    made = bot.open_pull_request(
        NewPullRequest(title="Fix the login", body="Closes #1", head="fix/1-login", base="main")
    )
    bot.mark_ready(made)
    found = bot.pull_request_for("fix/1-login")
    assert found is not None
    assert (found.number, found.draft, found.state) == (made.number, False, PullState.OPEN)
    branch = bot.about().default_branch
    assert bot.text_of_file(FORGE, branch)
    assert (bot.labels(), bot.workflow_state("forge-bot.yml")) == (("forge",), "active")
    assert bot.rules_of(branch) == ()
    for ask in (bot.may_open_pulls, bot.secrets):
        with pytest.raises(PermissionMissing):
            ask()


def test_refusals(connect: Connect) -> None:
    bot = connect()
    with pytest.raises(PermissionMissing, match="issues: write or pull_requests: write"):
        bot.comment(1, "hello")
    with pytest.raises(NotOnGitHub, match="no such issue"):
        bot.issue(7)


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: path.stem)
def test_a_record_holds_no_token_and_fits_githubs_description(cassette: Path) -> None:
    text = cassette.read_text(encoding="utf-8")
    assert _TOKENS.findall(text) == []
    assert "127.0.0.1" not in text
    interactions: list[dict[str, dict[str, Any]]] = yaml.safe_load(text)["interactions"]
    for kept in interactions:
        asked, said = kept["request"], kept["response"]
        parts = urlsplit(str(asked["uri"]))
        route, _ = matching(asked["method"], parts.path)
        if route is None:
            assert parts.path == "/graphql"
            continue
        body = json.loads(asked["body"]) if asked["body"] else None
        answer = json.loads(said["body"]["string"]) if said["body"]["string"] else None
        exchange = Exchange(
            route.method,
            parts.path,
            dict(parse_qsl(parts.query)),
            body,
            said["status"]["code"],
            answer,
            {},
            None,
        )
        assert description().check(route, exchange) == []
