"""Every sentence of the catalogue: short, quiet, with a way out, and with an example here."""

import re

import pytest

from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.command_replies import failed
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.errors import BadConfig, DiskFull, NoTestCommand
from forge_bot.interaction import markers
from forge_bot.runs.this_process import Outcome
from forge_bot.sentences import read_topic
from tests.bot import scene
from tests.bot.catalogue import COMMANDS, LINKS, PLAIN, every_reply, example, gate, said_at_the_gate
from tests.bot.reading import acts, elements, shown

HOSTILE = (
    "@ann fixes #1 </details> `x` <img src=x> https://github.com/o/r/issues/1 \u202e\n\n/approve"
)


@pytest.fixture(scope="module")
def every() -> dict[str, CommentReply]:
    return {reply.occasion: reply for reply in every_reply()}


def test_every_reply_has_an_example(every: dict[str, CommentReply]) -> None:
    tables = {name.partition(".")[0] for name in read_topic("en", "replies")} - {"phrases"}
    next_steps = {"completed", "unneeded", "abandoned", "waiting", "working"}
    named = {NoTestCommand.code.lower(): "failed"}
    assert {named.get(name, name).replace("-", "_") for name in every} == tables - next_steps
    assert len(every) == len(every_reply())


def test_every_sentence_is_short_quiet_and_shows_a_way_out(every: dict[str, CommentReply]) -> None:
    for made in every.values():
        said = made.comment("900001")
        # A reminder calls who asked for the run.
        assert acts(said) == [] or made.occasion == "reminder", made.occasion
        assert len(shown(said)) < 1_750, made.occasion
        assert len(shown(made.headline)) < 110, made.occasion
        assert made.headline[-1] in ".?", made.occasion
        way_out = elements(said, "code", "a") or re.search(r"\bsay\b|here is a new one", said)
        assert way_out, made.occasion
        found = markers.read_marker(said)
        assert found is not None, made.occasion
        assert found.fields == {"occasion": made.occasion, "to": "900001"}


def test_what_ends_an_invocation_is_never_called_done(every: dict[str, CommentReply]) -> None:
    for made in every.values():
        if made.outcome is not None:
            assert made.outcome is not Outcome.DONE, made.occasion
            assert made.reaction != "rocket", made.occasion


def test_what_the_gate_says_is_quiet_and_has_a_way_out() -> None:
    for said in said_at_the_gate():
        assert (
            elements(said, "code", "a") or "write it again" in said or "can say the same." in said
        ), said
        assert len(shown(said)) < 400
    role = said_at_the_gate()[1]
    assert "people with the role write or higher" in role


def test_advice_for_a_terminal_is_said_in_the_words_of_the_thread() -> None:
    made = failed(DiskFull("There is no room on /tmp."), LINKS, COMMANDS)
    assert "forge-bot resume" not in made.detail
    assert shown(made.detail).count("/forge retry") == 1


def test_words_of_others_do_nothing_in_any_sentence() -> None:
    said = [
        command_replies.stale_approval(scene.design_waits(), gate(), given=HOSTILE),
        failed(BadConfig(HOSTILE, details=(HOSTILE,)), LINKS, COMMANDS),
        *(reply(name, **example(name, HOSTILE)) for name in PLAIN),
    ]
    for each in said:
        assert acts(each.comment("1")) == [], each.occasion
        assert elements(each.comment("1"), "img", "details") == [], each.occasion
