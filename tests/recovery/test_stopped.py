"""Ctrl-C and SIGTERM: nothing of the run goes on, the way to go on is said, and it works."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, SHORT
from tests.recovery.world import World

pytestmark = pytest.mark.slow


def stopped(
    world: World, words: tuple[str, ...], until: Callable[[], object], number: signal.Signals
) -> None:
    pid = world.start(words)
    until()
    os.kill(pid, number)
    assert world.wait(pid) == 1, world.printed
    assert "Stopped." in world.printed
    assert "forge-bot resume" in world.printed
    assert "Traceback" not in world.printed
    assert not waiting_commands(world)


def waiting_commands(world: World) -> list[Path]:
    """Commands of a run that wait for ever, with a word that names this run."""
    return [
        entry
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(world.root).encode() in _words(entry)
    ]


def _words(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_the_model_is_asked_a_run_goes_on_where_it_was(
    short: Told, number: signal.Signals
) -> None:
    world, parts = short
    world.back("1")
    world.play.fresh()
    with world.play.silent(at=2):
        stopped(world, SHORT[1].words, world.play.wait_until_silent, number)
    assert world.forge("resume", *MODEL)[0] == 0, world.printed
    assert world.standing().reports == parts[1].standing.reports
    assert world.play.asked.total() == parts[1].asked.total() + 1


LEAVE = """
import pathlib, subprocess, time
def repository(name):
    subprocess.run(["git", "init", "-q", name], check=True)
    pathlib.Path(name, "left.txt").write_text("left behind")
repository("rota"); repository("left"); repository("left/deep"); repository("mine/left")
pathlib.Path("README.md").write_text("changed by a test")
pathlib.Path("all is left").touch()
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ended_while_a_command_has_left_things_a_run_has_none_of_them(
    world: World, number: signal.Signals
) -> None:
    config = configured(world, LEAVE)

    def until_left() -> None:
        while not list(world.state.rglob("all is left")):
            pass

    if number is signal.SIGTERM:
        stopped(world, SHORT[0].words, until_left, number)
    else:
        pid = world.start(SHORT[0].words)
        until_left()
        os.kill(pid, number)
        world.wait(pid)
        while waiting_commands(world):
            pass
    config.unlink()
    assert world.forge("resume", *MODEL)[0] == 3, world.printed
    assert "baseline.md" not in world.standing().artifacts
    left = ("rota/.git", "rota/left.txt", "left", "mine/left", "all is left")
    assert [name for name in left if (world.tree / name).exists()] == []


def configured(world: World, words: str) -> Path:
    """A configuration whose test command is this Python, with a word that names this run."""
    config = world.path / ".forge" / "config.yml"
    config.parent.mkdir()
    argv = [Path(sys.executable).name, "-c", words, str(world.root)]
    config.write_text(json.dumps({"commands": {"test": [argv]}}))
    return config
