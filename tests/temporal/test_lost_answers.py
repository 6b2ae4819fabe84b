"""A person's answer whose connection is lost after a server took it and before it is recorded."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge_bot.engine import REPORT
from forge_bot.engine.reports import Answered
from tests.temporal.scene import Clone
from tests.temporal.test_killed_workers import away, ended


@dataclass
class HeldAnswer:
    """A run whose approval was taken by the server, and whose worker is about to push the record
    of it; the command that gave it is still there.
    """

    place: Clone
    command: "subprocess.Popen[str]"
    gate: Path

    def let_go(self) -> None:
        """Let the remote take the push."""
        self.gate.write_text("go\n")

    def resumed(self) -> tuple[int, str]:
        """How `resume` ends once the server knows of its worker again."""
        code, out = 5, "TEMPORAL-005"
        while away(code, out):
            done = self.place.forge("resume")
            code, out = done.code, done.out + done.err
        return code, out

    def answers(self) -> list[str]:
        """Who answered, as the record has it."""
        reports = (REPORT.validate_json(line) for line in self.place.reports())
        return [each.answer.value for each in reports if isinstance(each, Answered)]


@pytest.fixture
def held(asked_alone: Clone) -> Iterator[HeldAnswer]:
    """The remote holds back the next push, which is that of the answer."""
    place = asked_alone
    reached, gate, armed = (place.folder / name for name in ("reached", "gate", "armed"))
    os.mkfifo(reached)
    os.mkfifo(gate)
    hook = place.remote / "hooks" / "pre-receive"
    hook.write_text(
        f"#!/bin/sh\ncat > /dev/null\nrm '{armed}' 2> /dev/null || exit 0\n"
        f"echo reached > '{reached}'\nread -r _ < '{gate}'\n",
        encoding="utf-8",
    )
    hook.chmod(0o755)
    place.start_worker()
    armed.touch()
    command = place.start("approve")
    assert reached.read_text() == "reached\n"
    yield HeldAnswer(place, command, gate)
    command.kill()


def test_an_answer_counts_once_when_the_server_is_lost_before_it_is_recorded(
    held: HeldAnswer,
) -> None:
    held.place.server.kill()
    code, out = ended(held.command)
    assert (code, "TEMPORAL-003" in out) == (5, True), out
    assert "took your answer" in out
    assert "do not give it again" in out
    held.let_go()
    held.place.server.start()
    code, out = held.resumed()
    assert code == 0, out
    assert held.answers() == ["approve"]


@pytest.mark.slow
def test_a_command_outlives_a_server_that_begins_again_before_the_answer_is_recorded(
    held: HeldAnswer,
) -> None:
    held.place.server.kill()
    held.place.server.start()
    held.let_go()
    code, out = ended(held.command)
    if away(code, out):
        code, out = held.resumed()
    assert code == 0, out
    assert held.answers() == ["approve"]


def test_an_answer_counts_once_when_its_command_is_killed_and_it_is_given_again(
    held: HeldAnswer,
) -> None:
    held.command.kill()
    held.command.communicate()
    held.let_go()
    again = held.place.forge("approve")
    assert again.code == 5, again.out + again.err
    code, out = held.resumed()
    assert code == 0, out
    assert held.answers() == ["approve"]
