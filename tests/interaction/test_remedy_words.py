"""A way out is a value; each face words it in commands that it has itself."""

import re
from typing import get_args

import pytest

from forge_bot.bot.comments.command_replies import reply_to_error
from forge_bot.bot.worker_messages import WorkerStopped, as_error, read_message, stopped_by, written
from forge_bot.errors import ForgeError, KeyRefused, ModelUnavailable, registry
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.remedy_words import (
    advice_at_terminal,
    advice_for_client,
    advice_in_thread,
)
from forge_bot.remedies import ModelTrouble, Remedy, RemedyKind
from forge_bot.runs.this_process import Outcome
from forge_bot.sentences import hint_of

COMMANDS = CommandNames(prefix="/bot")
LINKS = Links(repository="https://github.com/octo/rota", commit="0" * 40, workspace=".specs/x")


def test_every_remedy_has_words_at_every_face_in_commands_of_that_face() -> None:
    for kind in get_args(RemedyKind):
        error = ForgeError("No.", hint="", remedy=Remedy(kind))
        others = advice_for_client(error) + advice_in_thread(error, COMMANDS)
        assert all((advice_at_terminal(error), advice_for_client(error), others)), kind
        assert "forge-bot " not in others, kind


def test_every_error_has_a_code_words_and_a_way_out_at_every_face() -> None:
    for code, kind in registry().items():
        assert re.fullmatch(r"[A-Z]+-\d+", code)
        assert kind.__doc__, code
        error = kind("It did not work.")
        assert advice_at_terminal(error), code
        assert advice_for_client(error), code
        assert advice_in_thread(error, COMMANDS), code
        # A worker gives code, words and exit code, and the thread is told.
        stopped = WorkerStopped(code=code, message="It did not work.", exit_code=kind.exit_code)
        assert type(as_error(stopped)) is kind
        reply = reply_to_error(as_error(stopped), LINKS, COMMANDS)
        assert reply.headline, code
        assert reply.detail, code
        assert reply.outcome in {Outcome(number) for number in range(1, 6)}, code


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("Down.", trouble=ModelTrouble("rate-limited", 840)),
        ModelUnavailable("Empty.", trouble=ModelTrouble("no-credit")),
        KeyRefused("No.", remedy=Remedy("check-key", "OPENAI_API_KEY")),
        KeyRefused("No.", remedy=Remedy("set-key", "CO_API_KEY")),
        ModelUnavailable("Down.", hint="Look at its page."),
    ],
    ids=["limit", "credit", "key", "other key", "hint"],
)
def test_the_kind_of_an_error_and_its_remedy_come_through_the_outbox_as_data(
    error: ForgeError,
) -> None:
    message = read_message(written(stopped_by(error)).encode())
    assert isinstance(message, WorkerStopped)
    back = as_error(message)
    assert (type(back), back.message, hint_of(back), back.remedy) == (
        type(error),
        error.message,
        hint_of(error),
        error.remedy,
    )
    if isinstance(error, ModelUnavailable) and isinstance(back, ModelUnavailable):
        assert back.trouble == error.trouble


def test_a_refused_key_says_at_the_terminal_how_the_run_goes_on() -> None:
    refused = KeyRefused("No.", remedy=Remedy("check-key", "OPENAI_API_KEY"))
    assert "`forge-bot resume` then goes on with a run." in advice_at_terminal(refused)
