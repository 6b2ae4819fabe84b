"""Ctrl-C and SIGTERM: nothing of the run goes on, the way to go on is said, and it works."""

import json
import os
import signal
import sys
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path

import pytest

from tests.recovery.boundaries import below
from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, SHORT
from tests.recovery.world import World

pytestmark = pytest.mark.slow

WAIT = """
import time; time.sleep(600)  # wait for ever
"""


def stopped(
    world: World,
    words: tuple[str, ...],
    until: Callable[[int], object],
    number: signal.Signals,
) -> None:
    pid = world.start(words)
    until(pid)
    started = below(pid)
    os.kill(pid, number)
    assert world.nursery.wait(pid) == 1, world.printed
    assert "Stopped." in world.printed
    assert "forge-bot resume" in world.printed
    assert "Traceback" not in world.printed
    assert not [
        each
        for each in started
        if Path(f"/proc/{each}/cmdline").exists() and b"wait for ever" in _words(each)
    ]


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
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
        stopped(world, SHORT[1].words, lambda _pid: world.play.wait_until_silent(), number)
    assert world.forge("resume", *MODEL)[0] == 0, world.printed
    assert world.standing().reports == parts[1].standing.reports
    assert world.play.asked.total() == parts[1].asked.total() + 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_a_project_command_runs_it_ends_the_command_and_goes_on(
    world: World, number: signal.Signals
) -> None:
    config = configured(world, WAIT)
    stopped(world, SHORT[0].words, waiting_command, number)
    config.unlink()
    assert world.forge("resume", *MODEL)[0] == 3, world.printed
    assert world.leftovers() == []
    assert "baseline.md" not in world.standing().artifacts


WAIT_FOR_FILE = """
import pathlib, time  # wait for ever
while not pathlib.Path({file!r}).exists(): time.sleep(0.05)
"""


@pytest.mark.parametrize("often", [1, 2])
def test_a_command_that_a_signal_from_outside_ends_runs_once_more_and_twice_is_its_own_doing(
    world: World, often: int
) -> None:
    file = world.path / ".git" / "go on"
    configured(world, WAIT_FOR_FILE.format(file=str(file)))
    pid, ended = world.start(SHORT[0].words), set[int]()
    for number in range(often):
        while number and "runs once more" not in world.printed:
            assert _words(pid), world.printed
        waiting_command(pid, ended)
        for each in below(pid):
            if any(word in _words(each) for word in (b"wait for ever", b"keeper_process")):
                ended.add(each)
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGTERM)
    file.touch()
    assert world.nursery.wait(pid) == 3, world.printed
    assert world.printed.count("ended by a signal, and runs once more") == 1
    assert ("baseline.md" in world.standing().artifacts) == (often > 1)


LEAVE = """
import pathlib, subprocess
def repository(name):
    subprocess.run(["git", "init", "-q", name], check=True)
    pathlib.Path(name, "left.txt").write_text("left behind")
repository("rota"); repository("left"); repository("left/deep"); repository("mine/left")
pathlib.Path("README.md").write_text("changed by a test")
pathlib.Path("all is left").touch()
"""


def test_killed_while_a_command_has_left_things_a_run_puts_them_aside(world: World) -> None:
    config = configured(world, LEAVE + WAIT)
    pid = world.start(SHORT[0].words)
    while not list(world.state.rglob("all is left")):
        assert _words(pid), world.printed
    commands = below(pid)
    os.kill(pid, signal.SIGKILL)
    world.nursery.wait(pid)
    while any(_words(each) for each in commands):
        pass
    assert (world.tree / "rota" / ".git").is_dir()
    config.unlink()
    assert world.forge("resume", *MODEL)[0] == 3, world.printed
    left = ("rota/.git", "rota/left.txt", "left", "mine", "all is left")
    assert [name for name in left if (world.tree / name).exists()] == []
    refs = world.git("for-each-ref", "--format=%(refname)", "refs/forge-bot/rescued").split()
    saved = world.git("ls-tree", "-r", "--name-only", refs[0]).splitlines()
    assert {"rota/left.txt", "left/left.txt", "left/deep/left.txt", "mine/left/left.txt"} <= set(
        saved
    )


def configured(world: World, words: str) -> Path:
    """A configuration whose test command is this Python."""
    config = world.path / ".forge" / "config.yml"
    config.parent.mkdir()
    argv = [Path(sys.executable).name, "-c", words]
    config.write_text(json.dumps({"commands": {"test": [argv]}}))
    return config


def waiting_command(pid: int, but: Container[int] = ()) -> None:
    """Wait until a command below a process waits for ever; `but` are those that have waited."""
    while not any(b"wait for ever" in _words(each) for each in below(pid) if each not in but):
        assert _words(pid), "it ended before that"


def test_in_the_background_of_a_script_where_ctrl_c_is_ignored_sigterm_stops_all_the_same(
    short: Told,
) -> None:
    world, _ = short
    world.back("1")
    world.play.fresh()
    world.extra["NURSERY_BACKGROUND"] = "yes"
    with world.play.silent(at=2):
        stopped(world, SHORT[1].words, lambda _pid: world.play.wait_until_silent(), signal.SIGTERM)
    world.extra.clear()
    assert world.forge("resume", *MODEL)[0] == 0, world.printed
