"""The switch of the repository, for jobs under way: their tokens may not read variables, so that a
job that begins with the variable set puts a ref at the remote, and one without it takes it away.
"""

import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from forge_bot.errors import ForgeError
from forge_bot.git import Repository, remotes
from forge_bot.runs.model_access import SWITCH, is_switched_off

STOPPED = "refs/forge-bot/stopped"
_PAUSE = 20.0


def tell_jobs(repository: Repository, environ: Mapping[str, str]) -> None:
    """Let jobs under way know how the switch is set, if this job was told."""
    if SWITCH not in environ:
        return
    with suppress(ForgeError):
        off, there = is_switched_off(environ), remotes.has_at_origin(repository.root, STOPPED)
        if off and not there:
            remotes.put_at_origin(repository.root, STOPPED, repository.head().commit)
        elif there and not off:
            remotes.put_at_origin(repository.root, STOPPED, "")


@contextmanager
def watched_switch(repository: Repository, seconds: float = _PAUSE) -> Generator[Path]:
    """Yield the path of a file that is made, in these seconds, when the ref is at the remote."""
    done = Event()
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        file = Path(folder) / "stopped"

        def watch() -> None:
            while not (done.wait(seconds) or file.exists()):
                with suppress(ForgeError):
                    if remotes.has_at_origin(repository.root, STOPPED):
                        file.touch()

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield file
        finally:
            done.set()
            thread.join()
