"""Models and providers that answer nonsense, or not at all: the run stops at the right question, in
bounds, and can go on.
"""

import json

import pytest

from tests.fakes.broken_server import Act, BrokenServer, hangs, replies, resets
from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled_rows

TASK = "`rota who` names somebody for days before the rota starts"


@pytest.fixture(autouse=True)
def quick(sample: Sample) -> None:
    """The project's tests are beside the point here, and a provider is not tried for long."""
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(
        "commands: {setup: [], test: [[python3, -c, pass]], lint: [], build: []}\nmodel_retries:"
        " 1\nmodel_timeout_seconds: 1\n"
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


def test_a_wrong_key_is_noticed_before_anything_is_installed(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BrokenServer([replies(401, b'{"error": {"message": "no"}}')]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = sample.forge("run", TASK, "--effort", "S", "--model", "openai-chat:fake")
        assert server.count == 1
    assert "MODEL-008" in done.err
    assert "forge-bot resume" in done.err
    assert "python3 -c pass" not in done.out
