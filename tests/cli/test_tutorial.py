"""The commands of docs/tutorial.md print what the page shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_agreements import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
LEFT_OUT = "…"


def steps() -> list[tuple[str, list[str]]]:
    """Return each command of the page with the lines that it shows."""
    result: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                result.append((line.removeprefix("$ "), []))
            else:
                result[-1][1].append(line)
    return result


def comparable(line: str) -> str:
    """Return a line without what differs from run to run: times, dates and versions."""
    line = re.sub(r"`[0-9a-f]{7}`", "VERSION", line)
    line = re.sub(r"\d+\.\d s", "N s", line)
    return re.sub(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", "TIME", line).rstrip()


def check_lines(command: str, shown: list[str], printed: str) -> None:
    """Compare: the lines are printed in this order, with others between them only at a mark."""
    rest = [comparable(line) for line in printed.splitlines()]
    skips = False
    for line in shown:
        if line == LEFT_OUT:
            skips = True
            continue
        wanted = comparable(line)
        assert wanted in rest, f"{command}: {line}\n{printed}"
        assert skips or rest[0] == wanted, f"{command}: {rest[0]} comes before {line}"
        rest, skips = rest[rest.index(wanted) + 1 :], False
    assert skips or rest == [], f"{command} prints more: {rest}"


@pytest.mark.slow
def test_each_command_of_the_tutorial_prints_what_the_page_shows(tmp_path: Path) -> None:
    folder, home = tmp_path, tmp_path / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "FORGE_", "XDG_")) and "API_KEY" not in name
    }
    environ = {
        **kept,
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    assert len(steps()) >= 8
    for command, shown in steps():
        words = shlex.split(command)
        if words[0] == "cd":
            folder /= words[1]
            continue
        ended = subprocess.run(
            words, cwd=folder, env=environ, capture_output=True, text=True, check=False
        )
        check_lines(command, shown, ended.stdout + ended.stderr)
