"""Writes the results of a workflow step: outputs, its summary, and lines that GitHub shows beside
the log.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_MESSAGE = str.maketrans(_ESCAPED)
_PROPERTY = str.maketrans({**_ESCAPED, ":": "%3A", ",": "%2C"})


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


def show_notice(message: str) -> None:
    """A line that GitHub shows on the page of the run."""
    _say("notice", message)


def show_warning(message: str) -> None:
    """A line that GitHub shows in yellow."""
    _say("warning", message)


def show_error(message: str, file: str = "", at: int = 0) -> None:
    """A line that GitHub shows in red, beside a line of a file if one is named."""
    _say("error", message, {"file": file, "line": str(at)} if file else {})


def write_line(text: str) -> None:
    """A line of the log that says nothing to GitHub: its runner obeys words of others that begin
    with `::`, also behind blanks, and `##[` anywhere in a line.
    """
    safe = text.replace("\r", " ").replace("\n", " ").replace("##[", "## [")
    while (bare := safe.lstrip()).startswith("::"):
        safe = bare.lstrip(":")
    sys.stdout.write(f"{safe}\n")
    sys.stdout.flush()


def _say(level: str, message: str, place: Mapping[str, str] | None = None) -> None:
    # With its line ends escaped a message cannot begin a command of its own.
    properties = {"title": "forge-bot", **(place or {})}
    named = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    sys.stdout.write(f"::{level} {named}::{message.translate(_MESSAGE)}\n")
    sys.stdout.flush()
