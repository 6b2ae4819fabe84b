"""Writes the results of a workflow step: outputs, its summary, and lines that GitHub shows beside
the log.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})


def write_outputs(path: str, values: Mapping[str, str]) -> None:
    """Append the values to the file that GITHUB_OUTPUT names.

    Each has an unpredictable delimiter, since a value that contains its delimiter could set other
    outputs.
    """
    parts: list[str] = []
    for name, value in values.items():
        delimiter = f"end-{os.urandom(16).hex()}"
        parts.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    with Path(path).open("a", encoding="utf-8", newline="\n") as file:
        file.write("".join(parts))


def write_summary(path: str, markdown: str) -> None:
    """Append to the summary of the step, where there is one."""
    if path:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{markdown}\n")


def notice(message: str) -> None:
    """A line that GitHub shows on the page of the run."""
    _say("notice", message)


def warning(message: str) -> None:
    """A line that GitHub shows in yellow."""
    _say("warning", message)


def error(message: str) -> None:
    """A line that GitHub shows in red."""
    _say("error", message)


def line(text: str) -> None:
    """A line of the log that says nothing to GitHub: its runner obeys words of others that begin
    with `::`, also behind blanks, and `##[` anywhere in a line.
    """
    safe = text.replace("\r", " ").replace("\n", " ").replace("##[", "## [")
    while (bare := safe.lstrip()).startswith("::"):
        safe = bare.lstrip(":")
    sys.stdout.write(f"{safe}\n")
    sys.stdout.flush()


def _say(level: str, message: str) -> None:
    # With its line ends escaped a message cannot begin a command of its own.
    sys.stdout.write(f"::{level} title=forge-bot::{message.translate(_MESSAGE)}\n")
    sys.stdout.flush()
