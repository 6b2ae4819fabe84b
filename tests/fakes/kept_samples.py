"""Sample repositories with a run in them: each is led there once, and brought back as it was for
every test that begins there.
"""

import asyncio
import atexit
import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from forge_bot.resources import templates
from tests.fakes import script
from tests.fakes.warm_python import warm_python

TASK = "Nobody is on call before the rota starts"
CLIENTS_TASK = "Nobody is on call before the start"


def made(path: Path) -> None:
    """Make the sample repository, with its first commit."""
    shutil.copytree(_first(), path, symlinks=True)
    _refresh(path)


@cache
def _first() -> Path:
    """The sample repository that all others of this process are copies of."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name, "rota")
    shutil.copytree(
        templates() / "demo" / "repository", path, ignore=shutil.ignore_patterns("__pycache__")
    )
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "start"],
    ):
        subprocess.run(["git", "-C", str(path), *words], check=True)
    # A quarter of all files that are copied; nobody looks at examples of hooks.
    for example in (path / ".git" / "hooks").glob("*.sample"):
        example.unlink()
    return path


def _refresh(tree: Path) -> None:
    """Let git note the files of a copy, which are newer than it has noted."""
    subprocess.run(["git", "-C", str(tree), "update-index", "-q", "--refresh"], check=True)


class KeptSamples:
    """Folders with a repository `rota`, its state folder `state` and the model's script. Paths stand
    in work trees, so that a folder is brought back where it was.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def again(self, code: int, *options: str) -> Path:
        """The folder after `run` with these options, which ended with this exit code."""
        name = "-".join(word.strip("-") for word in options)
        return self._again(name, lambda place: _led(place, code, "run", TASK, *options))

    def accepted(self) -> Path:
        """The folder with a small run that stopped after its task was accepted."""

        def lead(place: Path) -> None:
            _led(place, 3, "run", TASK, "--effort", "S")
            _led(place, 3, "approve", "--by-script", "--until", "implementation")

        return self._again("accepted", lead)

    def led_by_client(self, effort: str, agent: str = "") -> Path:
        """The folder after a client of the server has led a run to its first question, or on to
        where this agent is asked.
        """
        return self._again(
            f"client-{effort}-{agent}", lambda place: _led_by_client(place, effort, agent)
        )

    def _again(self, name: str, lead: Callable[[Path], None]) -> Path:
        place, kept = self._folder / name, self._folder / f"{name}.kept"
        if kept.exists():
            shutil.rmtree(place)
        else:
            place.mkdir()
            made(place / "rota")
            lead(place)
            place.rename(kept)
        shutil.copytree(kept, place, symlinks=True)
        for tree in (place / "rota", *(file.parent for file in place.glob("state/**/.git"))):
            _refresh(tree)
        return place


def _led(place: Path, code: int, *words: str) -> None:
    model = script.write(place / "script.jsonl", None)
    without = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "FORGE_BOT_MODEL"}
    environ = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(
        [warm_python(), "-m", "forge_bot", *words, "--model", model],
        cwd=place / "rota",
        env={**environ, "XDG_STATE_HOME": str(place / "state")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr


def _led_by_client(place: Path, effort: str, agent: str) -> None:
    # The server takes half a second to import.
    from tests.mcp_server.host import hosting_in

    async def lead() -> None:
        async with hosting_in(place / "rota") as host:
            await host.begin(CLIENTS_TASK, effort)
            asked = await host.drive(await host.next())
            assert asked["type"] == "checkpoint"
            if agent:
                action = await host.drive(await host.next(user_response="approve"), agent)
                assert action["agent"] == agent

    # In a thread of its own: the test may have an event loop already.
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as thread:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        thread.submit(asyncio.run, lead()).result()
