"""A way out is a value; each face words it in commands that it has itself."""

from typing import get_args

import pytest

from forge_bot.bot.worker_messages import WorkerStopped, as_error, read_message, stopped_by, written
from forge_bot.errors import ForgeError, KeyRefused, ModelUnavailable, registry
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.remedy_words import (
    advice_at_terminal,
    advice_for_client,
    advice_in_thread,
)
from forge_bot.interaction.remedy_words import remedy_at_terminal as at_terminal
from forge_bot.interaction.remedy_words import remedy_for_client as for_client
from forge_bot.interaction.remedy_words import remedy_in_thread as in_thread
from forge_bot.remedies import CheckKey, ModelTrouble, Remedy, SetKey
from forge_bot.sentences import hint_of

COMMANDS = CommandNames(prefix="/bot")


@pytest.mark.parametrize("kind", get_args(Remedy), ids=lambda kind: kind.__name__)
def test_every_remedy_has_words_at_every_face_in_commands_of_that_face(kind: type[Remedy]) -> None:
    words = {at_terminal(kind()), for_client(kind()), in_thread(kind(), COMMANDS)}
    assert all(words)
    assert "forge-bot " not in for_client(kind()) + in_thread(kind(), COMMANDS)


@pytest.mark.parametrize("kind", registry().values(), ids=registry())
def test_every_error_has_a_way_out_at_every_face(kind: type[ForgeError]) -> None:
    error = kind("It did not work.")
    assert advice_at_terminal(error)
    assert advice_for_client(error)
    assert advice_in_thread(error, COMMANDS)


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("Down.", trouble=ModelTrouble("rate-limited", 840)),
        ModelUnavailable("Empty.", trouble=ModelTrouble("no-credit")),
        KeyRefused("No.", remedy=CheckKey("OPENAI_API_KEY")),
        KeyRefused("No.", remedy=SetKey("CO_API_KEY")),
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
    refused = KeyRefused("No.", remedy=CheckKey("OPENAI_API_KEY"))
    assert "`forge-bot resume` then goes on with a run." in advice_at_terminal(refused)
