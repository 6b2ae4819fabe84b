"""The lines of README work as they are typed, from an empty home, with forge-bot installed from the
repository's address.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from forge_bot.cli.app import app
from forge_bot.forge import ACTION
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.test_agreements import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
_ROWS = re.findall(r"^\| (`forge-bot .*?) \| ", README, re.MULTILINE)
_ADDRESS = f"https://github.com/{ACTION}"
_OF_OTHERS = {"forge-bot worker", 'forge-bot run "TASK" --on temporal'}
"""Lines that need a server of Temporal; tests/temporal types them."""


def _lines(row: str) -> list[str]:
    """The command lines of a row of the table: what may be left out is left out."""
    words = re.findall(r"`(.*?)`", row)
    lines = [word if word.startswith("forge-bot") else f"forge-bot {word}" for word in words]
    return [re.sub(r" \[.*?\]", "", line) for line in lines]


LINES = [line for row in _ROWS for line in _lines(row)]


def test_every_line_of_the_table_is_a_command_with_options_that_there_are() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    assert len(LINES) >= 12
    for line in LINES:
        first, *words = shlex.split(line.removeprefix("forge-bot "))
        if first.startswith("--"):
            assert any(first in option.opts for option in group.params), line
            continue
        group.commands[first].make_context(first, words).close()


class Machine:
    """A user with an empty home, to whom the repository's address leads to this checkout."""

    def __init__(self, folder: Path, model: str) -> None:
        self.home = folder / "home"
        self.programs = folder / "programs"
        for place in (self.home, self.programs):
            place.mkdir()
        for name in ("uv", "git", "python3"):
            found = shutil.which(name)
            assert found is not None
            (self.programs / name).symlink_to(found)
        kept = ("UV_", "PIP_", "SSL_", "HTTP_", "HTTPS_", "NO_PROXY", "http_", "https_", "no_proxy")
        self.environ = {
            **{name: value for name, value in os.environ.items() if name.startswith(kept)},
            "HOME": str(self.home),
            "PATH": f"{self.programs}:{self.home}/.local/bin:/usr/bin:/bin",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or _printed("uv", "cache", "dir"),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{ROOT.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": _ADDRESS,
            "FORGE_BOT_MODEL": model,
        }

    def types(self, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Type lines into a shell; nobody answers."""
        return subprocess.run(
            ["bash", "-e"], input=text, cwd=folder, env=self.environ, text=True,
            capture_output=True, check=False, timeout=600,
        )  # fmt: skip


def _printed(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


_CLIENT = """#!/bin/sh
# What a client does with what comes after `--`: it starts the server and greets it.
while [ "$1" != -- ]; do shift; done
shift
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",\
"capabilities":{},"clientInfo":{"name":"a","version":"1"}}}' | tr -d '\\' | "$@"
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not on the PATH")
def test_every_block_and_line_is_typed_from_an_empty_home(sample: Sample, tmp_path: Path) -> None:
    clone, install, run, client = BLOCKS
    explainer = ("inquiry", "*", "*")
    answer = script.document("Answer")
    machine = Machine(tmp_path, sample.model({explainer: answer}))
    commands = [line.split()[0] for line in clone.splitlines()]
    assert commands == ["scripts/demo", "scripts/check"]
    for command in commands:
        assert (ROOT / command).stat().st_mode & 0o111
    machine.types(f"git clone -q {ROOT} clone", machine.home)
    done = machine.types(f"scripts/demo && {install}", machine.home / "clone")
    if "error: Failed to fetch" in done.stderr or "dns error" in done.stderr:
        pytest.skip(f"no registry of packages is reached: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    assert "✓ Done" in done.stdout
    assert machine.types("git status --porcelain", machine.home / "clone").stdout == ""

    sample.path.rename(machine.home / "your-repository")
    done = machine.types(run, machine.home)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "forge-bot approve" in done.stdout + done.stderr

    (machine.programs / "claude").write_text(_CLIENT)
    (machine.programs / "claude").chmod(0o755)
    done = machine.types(client, machine.home / "your-repository")
    assert '"name":"forge-bot"' in done.stdout.replace(" ", ""), done.stdout + done.stderr

    ends = _ends(machine)
    assert {line: code for line, code in ends.items() if code not in {0, 3, 5, 6}} == {}
    assert ends["forge-bot status"] == ends["forge-bot show design.md"] == 0


def _ends(machine: Machine) -> Mapping[str, int]:
    """The exit code of each line of the table, typed while a run waits for its first answer."""
    ends: dict[str, int] = {}
    # With a second run every other line would ask which of them is meant.
    for line in sorted(LINES, key=lambda line: line.startswith("forge-bot run")):
        if line not in _OF_OTHERS:
            done = machine.types(line, machine.home / "your-repository")
            assert "Traceback" not in done.stderr, line + done.stderr
            ends[line] = done.returncode
    return ends
