"""How quickly a command answers, beside an interpreter that does nothing."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import CHILDREN, Row, as_a_user, summed_up, timed
from tests.fakes.finished import demo

TIMES = 11
_NOTHING = ("-c", "pass")
_COMMANDS = {
    "forge-bot --help": ("--help",),
    "forge-bot list, one run": ("list",),
    "forge-bot show, one run": ("show", "design.md"),
    "forge-bot status, one run": ("status",),
    "forge-bot status --json": ("status", "--json"),
}


def rows() -> Iterator[Row]:
    """Each go starts all of them in turn, so that what slows the machine slows them alike; ratios
    are of one go.
    """
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        folder = demo(Path(name)).repository.root
        environment = as_a_user(
            PYTHONPYCACHEPREFIX=str(Path(name) / "compiled"),
            XDG_STATE_HOME=str(Path(name) / "state"),
        )

        def start(*words: str) -> None:
            subprocess.run(
                [sys.executable, *words],
                cwd=folder,
                env=environment,
                check=True,
                stdout=subprocess.DEVNULL,
            )

        programs = {
            "python -c pass": _NOTHING,
            **{what: ("-m", "forge_bot", *words) for what, words in _COMMANDS.items()},
        }
        for words in programs.values():
            start(*words)
        gone = [
            {what: timed(lambda words=words: start(*words)) for what, words in programs.items()}
            for _ in range(TIMES)
        ]
        shares = {
            what: [timed(lambda words=words: start(*words), CHILDREN) for _ in range(TIMES)]
            for what, words in programs.items()
        }
    for what in programs:
        yield Row(what, "", TIMES, summed_up([each[what] for each in gone]))
        yield Row("… processor time", what, TIMES, summed_up(shares[what]))
    for what in _COMMANDS:
        yield Row(
            "… beside python -c pass",
            what,
            TIMES,
            summed_up([each[what] / each["python -c pass"] for each in gone], "×"),
        )
