"""What goes wrong with the model, the settings or the thread itself: one truth in comment, summary,
output and exit code, and a way on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.bot.stage import PERMISSIONS, Stage, agree, heard
from tests.fakes.agents import AgentServer
from tests.fakes.model_server import ModelServer, Question, Says, busy

pytestmark = pytest.mark.slow


@dataclass
class Provider(AgentServer):
    """Says `first` to as many questions, and from then on what the script has."""

    first: Says | None = None
    times: int = 10_000

    def take(self, question: Question) -> Says:
        if self.first is None or self.times <= 0:
            return super().take(question)
        self.times -= 1
        self.replies, self._said = [self.first], 0
        return ModelServer.take(self, question)


@pytest.fixture
def provider(stage: Stage) -> Iterator[Provider]:
    with Provider() as server:
        stage.environ["OPENAI_BASE_URL"] = f"{server.url}/v1"
        stage.environ["FORGE_BOT_MODEL"] = "openai-chat:gpt-x"
        yield server


# -- the model
# --------------------------------------------------------------------------------------------------


def test_a_missing_key_is_named_with_the_page_to_put_it_and_then_the_run_goes_on(
    stage: Stage,
) -> None:
    stage.environ["FORGE_BOT_MODEL"] = "anthropic:claude-sonnet-4-5"
    said = agree(stage, stage.label(), "key-missing", 5)
    assert "`ANTHROPIC_API_KEY`" in said
    assert "/settings/secrets/actions" in said
    assert stage.state["currentPhaseStatus"] == "in_progress"
    stage.model()
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.state["currentPhaseStatus"] == "awaiting_human"


TROUBLES = {
    "a key that is refused": (
        Says("Incorrect API key provided", status=401, code="invalid_api_key"),
        "key-refused",
        5,
        "`OPENAI_API_KEY`",
    ),
    "a limit that lasts": (busy("840"), "rate-limited", 1, "come back in 14 minutes"),
    "a limit that does not end": (busy("0.01"), "rate-limited", 1, "several times"),
    "an account without credit": (
        Says(
            "You exceeded your current quota",
            status=429,
            code="insufficient_quota",
            error_type="insufficient_quota",
        ),
        "model-003",
        1,
        "quota",
    ),
    "a provider that is down": (
        Says("overloaded", status=503, headers=(("retry-after", "0.01"),)),
        "model-003",
        1,
        "overloaded",
    ),
}
SAMPLE = ("a limit that lasts",)


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(each, id=name, marks=() if name in SAMPLE else pytest.mark.slow)
        for name, each in TROUBLES.items()
    ],
)
def test_a_model_that_cannot_be_asked_is_said_once_and_the_run_stands_where_it_stood(
    stage: Stage, provider: Provider, trouble: tuple[Says, str, int, str]
) -> None:
    provider.first, occasion, code, words = trouble
    said = agree(stage, stage.label(), occasion, code)
    assert words in said
    assert "`/forge retry`" in said
    assert "forge-bot resume" not in said
    assert len(provider.questions) <= 5
    assert stage.state["currentPhaseStatus"] == "in_progress"
    provider.first = None
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.state["currentPhaseStatus"] == "awaiting_human"


# -- settings
# --------------------------------------------------------------------------------------------------


def test_a_configuration_that_cannot_be_read_is_told_before_anything_begins_and_nothing_says_that_it_has(
    stage: Stage,
) -> None:
    stage.hub.commit(stage.repo, "main", {".forge/config.yml": "budget: lots\n"})
    said = agree(stage, stage.label(), "config-001", 5, begun=False)
    assert ".forge/config.yml:1" in said
    assert "Then say `/forge`." in said
    assert "has begun" not in stage.said("tracking")[0]
    assert stage.branches() == ["main"]
    stage.hub.commit(stage.repo, "main", {".forge/config.yml": "budget: 5\n"})
    assert heard(stage.say("/forge")).code == 0
    assert stage.state["currentPhaseStatus"] == "awaiting_human"
    assert len(stage.said("tracking")) == 1


def test_a_job_that_may_not_push_is_told_which_permission_it_lacks(stage: Stage) -> None:
    stage.permissions = {**PERMISSIONS, "contents": "read"}
    said = agree(stage, stage.label(), "may-not-push", 5)
    assert "`contents: write`" in said
    assert "Then say `/forge`:" in said
    assert "git -c" not in said
    assert stage.branches() == ["main"]
    # Nothing leads to a commit that GitHub has not.
    assert re.search(r"/(?:tree|blob)/", stage.said("tracking")[0]) is None
    assert "](http" in stage.said("tracking")[0]
    stage.permissions = PERMISSIONS
    assert heard(stage.say("/forge")).code == 0
    assert stage.state["currentPhaseStatus"] == "awaiting_human"
