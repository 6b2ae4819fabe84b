"""Ctrl-C ends a command once, however often it comes and wherever it arrives."""

import signal
import subprocess
import sys

_BEGUN = """
import os, signal, sys
from pydantic import BaseModel, field_serializer
from forge_bot.cli.exit_code import exit_code_of
from forge_bot.runs.interrupts import take_ctrl_c

# What a script starts in the background ignores Ctrl-C from the beginning.
signal.signal(signal.SIGINT, signal.default_int_handler)
take_ctrl_c()


class Slow(BaseModel):
    words: str = "words"

    @field_serializer("words")
    def _said(self, words: str) -> str:
        # The place in which a library calls Python.
        act()
        return words
"""

_HELD = """
def act():
    pass


def command():
    try:
        print("begun", flush=True)
        # Until the signal comes, or whoever sends it is gone.
        sys.stdin.read()
    finally:
        for _ in range(20_000):
            assert Slow().model_dump_json() == '{"words":"words"}'
        print("ended", flush=True)


print(exit_code_of(command))
"""

_CONVERTED = """
def act():
    os.kill(os.getpid(), signal.SIGINT)


print(exit_code_of(lambda: Slow().model_dump_json()))
"""


def test_a_key_that_repeats_does_not_disturb_what_the_first_ctrl_c_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _BEGUN + _HELD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert out == "ended\n1\n", err
    assert err.count("Stopped.") == 1
    assert "Traceback" not in err


def test_ctrl_c_inside_a_library_that_makes_another_error_of_it_stops_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _BEGUN + _CONVERTED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert "Stopped." in done.stderr
    assert "ERR-001" not in done.stderr
