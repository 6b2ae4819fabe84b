"""Models and providers that answer nonsense, or not at all: the run stops at the right question, in
bounds, and can go on.
"""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal

import pytest

from tests.fakes import script
from tests.fakes.agents import AgentServer
from tests.fakes.broken_server import Act, BrokenServer, hangs, replies, resets
from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled_rows
from tests.fakes.script import GUARD, TEST, change, document, review

TASK = "`rota who` names somebody for days before the rota starts"
ANALYST = ("situation-analyst-investigator", "*", "*")
WORDS = "I would be happy to help you with that!"
NEVER = {
    "path": "rota/schedule.py",
    "operation": "replace",
    "old": "this stands nowhere in it",
    "new": "x",
}
TRIES = 4  # a first answer, and three corrections
ROUNDS = (
    2  # how often an agent is started that ends without an answer, or with one that cannot be used
)
TURNS = 10


@pytest.fixture(autouse=True)
def quick(sample: Sample) -> None:
    """The project's tests are beside the point here, and a provider is not tried for long."""
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(
        "commands: {setup: [], test: [[python3, -c, pass]], lint: [], build: []}\nmodel_retries:"
        " 1\nmodel_timeout_seconds: 1\n"
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentServer]:
    with AgentServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def searches() -> dict[tuple[str, str, str], script.Answer]:
    """An analyst who wants to see something new every time, for ever."""
    return {
        (ANALYST[0], "*", f"{round_}.{turn}"): {
            "requests": [
                {
                    "provider": "search_code",
                    "params_json": json.dumps({"pattern": f"p{turn}"}),
                    "reasoning": "",
                }
            ],
            "actions": [],
        }
        for round_ in range(1, 9)
        for turn in range(1, 40)
    }


NONSENSE: dict[str, tuple[Mapping[tuple[str, str, str], script.Answer | str], str, str, int]] = {
    "prose": ({ANALYST: WORDS}, "agent_failed", "no readable JSON object", TRIES * ROUNDS),
    "requests for ever": (
        searches(),
        "agent_failed",
        "still wanted to look around",
        TURNS * ROUNDS,
    ),
    "no headings": (
        {ANALYST: {"artifact_markdown": "# A title\n\nNo more."}},
        "invalid_artifact",
        "Relevant Files",
        TRIES * ROUNDS,
    ),
    "a verdict nobody can read": (
        {("design-reviewer", "*", "*"): review("PERHAPS")},
        "unreadable_verdict",
        "the reviewer's verdict cannot be read",
        TRIES * ROUNDS + 2,
    ),
    "edits that never fit": (
        {("implementer", "*", "*"): change(NEVER)},
        "agent_failed",
        "`old` does not occur in the file",
        TRIES * ROUNDS + 3,
    ),
    "no task": (
        {("task-decomposer", "*", "*"): {"artifact_markdown": "# Tasks\n\nNone."}},
        "invalid_artifact",
        "there is no task in it",
        12,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("different", "reason", "said", "calls"), NONSENSE.values(), ids=NONSENSE.keys()
)
def test_nonsense_for_ever_ends_at_a_question_after_so_many_calls(
    sample: Sample,
    different: Mapping[tuple[str, str, str], script.Answer | str],
    reason: str,
    said: str,
    calls: int,
) -> None:
    effort = "M" if any(agent == "task-decomposer" for agent, _, _ in different) else "S"
    done = sample.forge(
        "run", TASK, "--effort", effort, "--auto", "--model", sample.model(different)
    )
    assert done.code == 3, done
    assert said.casefold() in done.out.casefold()
    before, _, last = done.out.partition("Last complaint: ")
    assert not last or last.splitlines()[0] not in before, "nothing is told twice"
    assert "forge-bot reject" in done.out
    assert ("forge-bot approve" in done.out) == ("an approval counts" in done.out)
    state = json.loads((sample.workspace / "state.json").read_text())
    assert state["gate"]["reason"] == reason
    assert state["usage"]["calls"] == calls
    assert (
        sample.forge(
            "reject", "Answer in the form that is asked for", "--model", sample.model()
        ).code
        == 0
    ), "with a better model it ends"


def test_a_budget_ends_nonsense_before_it_is_spent(sample: Sample, server: AgentServer) -> None:
    server.answers = {**script.usual(), ANALYST: {"foo": 1}}
    done = sample.forge(
        "run", TASK, "--effort", "S", "--budget", "0.05", "--model", "openai-chat:gpt-5.4"
    )
    state = json.loads((sample.workspace / "state.json").read_text())
    assert done.code == 4, done
    assert state["gate"]["reason"] == "budget"
    assert Decimal(state["budget"]["spent"]) <= Decimal("0.05")
    assert "forge-bot approve" in done.out
    assert "allow as much again" in done.out


@pytest.mark.slow
def test_tokens_limit_a_model_without_a_price_and_more_of_them_let_it_go_on(
    sample: Sample, server: AgentServer
) -> None:
    server.answers = script.usual()
    model = ("--model", "openai-chat:local")
    done = sample.forge("run", TASK, "--effort", "S", "--budget", "1000 tokens", *model)
    assert done.code == 4, done
    assert "0 tokens of 1,000 ·" in sample.forge("status").out
    refused = sample.forge("continue", "+$5", *model)
    assert "does not count US dollars; it counts tokens" in refused.err
    assert sample.forge("continue", "2m", "tokens", *model).code == 3
    state = json.loads((sample.workspace / "state.json").read_text())
    assert state["gate"]["reason"] is None
    assert 0 < state["budget"]["tokens"] <= state["budget"]["tokenCap"] == 2_001_000
    assert state["budget"]["tokens"] == (
        state["usage"]["inputTokens"] + state["usage"]["outputTokens"]
    )


# -- providers
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "said"),
    sampled_rows(
        [
            (replies(500), "failed, after 2 attempts: no"),
            (replies(429, b"{}", "retry-after: 7200"), "asks to wait for 120 minutes"),
            (hangs, "did not answer within 1 seconds, after 2 attempts"),
            (resets, "reset by peer"),
            (
                replies(
                    503,
                    json.dumps(
                        {"error": {"message": "\x1b[2J\x1b]0;owned\x07down \u202e"}}
                    ).encode(),
                ),
                "␛[2J",
            ),
        ],
        3,
    ),
    ids=["500", "429", "silence", "reset", "escapes"],
)
def test_a_provider_that_is_down_leaves_the_run_where_it_stood(
    sample: Sample, monkeypatch: pytest.MonkeyPatch, act: Act, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BrokenServer([act]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = sample.forge("run", TASK, "--effort", "S", "--model", "openai-chat:fake")
        assert server.count <= 3  # the check of the key, and two attempts
    assert done.code == 1
    assert "MODEL-003" in done.err
    assert said in done.err
    assert "forge-bot resume" in done.err
    assert not set(done.err) & set("\x1b\x07\u202e")
    assert sample.forge("status").code == 0
    assert sample.forge("resume", "--model", sample.model()).code == 3


@pytest.mark.slow
def test_a_wrong_key_is_named_before_anything_is_installed(
    sample: Sample, server: AgentServer
) -> None:
    config = sample.path / ".forge" / "config.yml"
    installs = '[[python3, -c, \'open("installed", "w")\']]'
    config.write_text(config.read_text().replace("setup: []", f"setup: {installs}"))
    server.refuses_key = True
    said = sample.forge("run", TASK, "--model", "openai-chat:gpt-x", "--yes")
    assert (said.code, server.questions) == (5, [])
    assert "does not accept the key in OPENAI_API_KEY: Incorrect API key provided" in said.err
    assert "forge-bot resume" in said.err
    assert "installed" not in "".join(map(str, sample.path.parent.rglob("installed")))


def test_a_question_too_long_for_the_model_asks_a_person_and_says_what_would_help(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BrokenServer(
        [replies(400, b'{"error": {"message": "long", "code": "context_length_exceeded"}}')]
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = sample.forge("run", TASK, "--effort", "S", "--model", "openai-chat:fake")
        assert server.count == 1 + ROUNDS  # the check of the key
    assert done.code == 3
    assert "agent.prompt_tokens" in done.out
    assert sample.forge("reject", "Go on", "--model", sample.model()).code == 3


# -- what a terminal would obey
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_answer_drives_the_terminal(sample: Sample) -> None:
    evil = "\x1b[2J\x1b[31mred\x1b]0;owned\x07 \x9b1m \u202etxet\u2066 nul\0 \x08\x08\x7f"
    model = sample.model(
        {
            ("architect", "*", "*"): document(*script.HEADINGS["architect"], body=evil),
            ("design-reviewer", "*", "*"): review("REVISE", f"[MAJOR] {evil}"),
            ("implementer", "*", "*"): change(
                GUARD, TEST, {"path": f"a{evil}", "operation": "write", "old": "", "new": evil}
            ),
        }
    )
    shown = [
        sample.forge("run", f"Fix {evil} the rota", "--effort", "S", "--auto", "--model", model)
    ]
    assert shown[0].code == 3, shown
    assert "red" in shown[0].out
    shown += [
        sample.forge("approve", "--model", model),
        sample.forge("status"),
        sample.forge("list"),
        sample.forge("show", "nothing"),
    ]
    for said in shown:
        assert not set(said.out + said.err) & set("\x1b\x07\x9b\u202e\u2066\0\x08\x7f"), said
    design = (sample.workspace / "design.md").read_text()
    assert not set(design) & set("\x1b\x07\x9b\0\x08\x7f"), "a document is kept without them, too"
