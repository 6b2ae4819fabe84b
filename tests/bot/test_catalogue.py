"""Every sentence of the catalogue: short, quiet, with a way out, and with an example here."""

import inspect
import re

import pytest

from forge_bot.bot.comments import command_replies, failure_replies, thread_change_replies
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.errors import BadConfig, DiskFull
from forge_bot.interaction import markers
from forge_bot.interaction.command_names import CommandNames
from forge_bot.runs.outcome import Outcome
from tests.bot import scene
from tests.bot.catalogue import COMMANDS, LINKS, every_reply, gate, said_at_the_gate
from tests.bot.reading import acts, elements, everything, shown

EVERY = {reply.occasion: reply for reply in every_reply()}
HOSTILE = (
    "@ann fixes #1 </details> `x` <img src=x> https://github.com/o/r/issues/1 \u202e\n\n/approve"
)


def constructors() -> set[str]:
    found: set[str] = set()
    for module in (command_replies, failure_replies, thread_change_replies):
        functions = inspect.getmembers(module, inspect.isfunction)
        found |= {
            name
            for name, function in functions
            if function.__module__ == module.__name__ and not name.startswith("_")
        }
    return found


def test_every_constructor_has_an_example() -> None:
    assert len(EVERY) == len(every_reply()) == len(constructors())


@pytest.mark.parametrize("reply", EVERY.values(), ids=EVERY.keys())
def test_every_sentence_is_short_quiet_and_shows_a_way_out(reply: CommentReply) -> None:
    said = reply.comment("900001")
    assert acts(said) == []
    assert len(shown(said)) < 1_750
    assert len(shown(reply.headline)) < 110
    assert reply.headline[-1] in ".?" or reply.occasion in {"help", "cost"}
    way_out = elements(said, "code", "a") or re.search(r"\bsay\b|here is a new one", said)
    assert way_out
    found = markers.read_marker(said)
    assert found is not None
    assert found.fields == {"occasion": reply.occasion, "to": "900001"}


@pytest.mark.parametrize(
    "reply",
    [reply for reply in EVERY.values() if reply.outcome is not None],
    ids=lambda reply: reply.occasion,
)
def test_what_ends_an_invocation_is_never_called_done(reply: CommentReply) -> None:
    assert reply.outcome is not Outcome.DONE
    assert reply.reaction != "rocket"


def test_something_that_failed_is_red() -> None:
    for occasion in (
        "branch-protected",
        "not-taken",
        "model-down",
        "rate-limited",
        "credit-used-up",
        "cancelled",
        "unexpected",
    ):
        assert EVERY[occasion].outcome is Outcome.FAILED, occasion


def test_a_setup_that_is_not_ready_is_a_refusal() -> None:
    for occasion in (
        "key-missing",
        "key-refused",
        "no-sandbox",
        "may-not-push",
        "issue-locked",
        "issue-transferred",
    ):
        assert EVERY[occasion].outcome is Outcome.REFUSED, occasion


def test_a_stale_approval_names_both_versions_and_the_line_that_counts() -> None:
    said = EVERY["stale-approval"].comment()
    assert "0badcafe" in said
    assert [everything(each).strip() for each in elements(said, "pre")] == ["/approve 50753fa"]


def test_an_answer_that_is_not_taken_is_answered_with_those_that_are() -> None:
    said = shown(EVERY["not-offered"].detail)
    assert said == "It takes /approve 50753fa, /reject <what should be different> or /abandon."


def test_help_begins_with_what_is_open_and_uses_this_repository_s_words() -> None:
    reply = command_replies.asked_for_help(None, CommandNames(prefix="/robot", short=False))
    assert "/robot approve" in reply.detail
    assert "/forge" not in reply.detail
    assert EVERY["help"].detail.startswith("Your turn: please read")


def test_what_the_gate_says_is_quiet_and_has_a_way_out() -> None:
    for said in said_at_the_gate():
        assert (
            elements(said, "code", "a") or "write it again" in said or "can say the same." in said
        ), said
        assert len(shown(said)) < 400
    role = said_at_the_gate()[1]
    assert "people with the role write or higher" in role


def test_where_nothing_has_begun_the_way_out_is_to_begin_and_of_a_question_to_ask_again() -> None:
    begin = failure_replies.rate_limited(CommandNames(repeat="/forge"), provider="Anthropic")
    assert "Say /forge in some minutes" in shown(begin.detail)
    assert "branch" not in begin.detail
    ask = failure_replies.key_refused(
        LINKS, CommandNames(repeat="/forge ask …"), provider="Anthropic", secret="KEY"
    )
    assert "Then say /forge ask …" in shown(ask.detail)


def test_advice_for_a_terminal_is_said_in_the_words_of_the_thread() -> None:
    reply = failure_replies.failed(DiskFull("There is no room on /tmp."), LINKS, COMMANDS)
    assert "forge-bot resume" not in reply.detail
    assert shown(reply.detail).count("/forge retry") == 1


def test_errors_of_the_registry_keep_their_words_code_and_exit_code() -> None:
    reply = failure_replies.failed(
        BadConfig("The configuration is not right.", details=("budget: not a number",)),
        LINKS,
        COMMANDS,
    )
    text = shown(reply.comment())
    for part in (
        "The configuration is not right.",
        "budget: not a number",
        "Correct the places named above",
        "CONFIG-001",
    ):
        assert part in text
        # What is named above stands above.
        text = text.partition(part)[2]
    assert reply.outcome is Outcome.REFUSED


def test_words_of_others_do_nothing_in_any_sentence() -> None:
    said = [
        command_replies.no_run(COMMANDS, label=HOSTILE),
        command_replies.nothing_to_answer(scene.at_work(), answer=HOSTILE),
        command_replies.stale_approval(scene.design_waits(), gate(), given=HOSTILE),
        command_replies.not_offered(scene.design_waits(), gate(), answer=HOSTILE),
        command_replies.resumed(scene.at_work(), by=HOSTILE),
        failure_replies.model_down(COMMANDS, provider=HOSTILE, said=HOSTILE),
        failure_replies.not_taken(LINKS, COMMANDS, what=HOSTILE, said=HOSTILE),
        failure_replies.branch_protected(LINKS, COMMANDS, branch=HOSTILE, said=HOSTILE),
        failure_replies.workflow_files(
            LINKS, COMMANDS, files=(HOSTILE,) * 9, patch="held-1.patch", branch="fix/42-x"
        ),
        thread_change_replies.issue_transferred(LINKS, to=HOSTILE),
        thread_change_replies.label_removed(COMMANDS, label=HOSTILE),
        failure_replies.failed(BadConfig(HOSTILE, details=(HOSTILE,)), LINKS, COMMANDS),
    ]
    for reply in said:
        assert acts(reply.comment("1")) == [], reply.occasion
        assert elements(reply.comment("1"), "img", "details") == [], reply.occasion
