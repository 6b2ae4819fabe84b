"""What a command reads before it answers: a command that only looks reads no part of forge-bot that
works.
"""

import os
import subprocess
import sys

import pytest

from tests.fakes.sample import Sample

_READ = "import time:"
_LOOKS = (("--help",), ("list",), ("status",), ("show", "request.md"), ("status", "--json"))
_WORKING = {
    "asyncio",
    "filelock",
    "forge_bot.agent.loop",
    "forge_bot.artifacts.markdown",
    "forge_bot.engine",
    "forge_bot.gate.grammar",
    "forge_bot.knowledge",
    "forge_bot.project",
    "tree_sitter",
    "forge_bot.prompts",
    "forge_bot.runs.session",
    "forge_bot.sandbox",
    "importlib.metadata",
    "jinja2",
    "markdown_it",
    "numpy",
    "pydantic_ai",
    "rank_bm25",
    "rich.markdown",
    "yaml",
}
"""What only commands need that do something."""


_COMPILE = """
from forge_bot.resources import templates
from forge_bot.sentences import read_topic

for file in (templates() / "sentences" / "en").glob("*.*"):
    read_topic("en", file.stem)
"""


@pytest.fixture(scope="module", autouse=True)
def compiled_sentences() -> None:
    """The state after first use: sentences are compiled then, as Python's own modules are."""
    environ = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", _COMPILE], env=environ, check=True)


def modules(*words: str) -> list[str]:
    """The modules that a process of this command reads, as Python itself lists them."""
    return _read_by("-m", "forge_bot", *words)


def imported(name: str) -> list[str]:
    """The modules that a process reads to import one of them."""
    return _read_by("-c", f"import {name}")


def _read_by(*words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=False
    )
    lines = done.stderr.splitlines()
    return [line.rpartition("|")[2].strip() for line in lines if line.startswith(_READ)][1:]


def test_a_command_that_only_looks_reads_nothing_that_works(asked_sample: Sample) -> None:
    read = {words: _WORKING & {*modules(*words)} for words in _LOOKS}
    assert {words: some for words, some in read.items() if some} == {}


def test_the_supervisor_reads_no_part_that_only_a_worker_needs() -> None:
    read = imported("forge_bot.bot.job")
    only_worker = {
        "forge_bot.agent.loop",
        "forge_bot.project.graph",
        "forge_bot.runs.inquiry",
        "forge_bot.runs.local_host",
        "forge_bot.runs.prompt_material.prompt_context",
        "forge_bot.runs.session",
        "jinja2",
        "numpy",
        "pydantic_ai",
        "tree_sitter",
    }
    assert only_worker & {*read} == set()


def test_git_can_clone_before_the_supervisor_is_read() -> None:
    read = imported("forge_bot.bot.job_start")
    assert {"forge_bot.engine", "markdown_it", "yaml"} & {*read} == set()


def test_a_server_over_stdio_reads_no_option_parser(
    asked_sample: Sample,
) -> None:
    read = modules("mcp", "--repo", str(asked_sample.path))
    assert "mcp.server.stdio" in read
    assert {"typer", "forge_bot.cli.app"} & {*read} == set()
    assert "forge_bot.cli.app" in modules("mcp", "--repo")


@pytest.mark.parametrize(
    "words", [("work",), ("work", "--out", "x"), ("publish", "--in", "x", "--last")]
)
def test_a_job_does_not_read_the_option_parser(words: tuple[str, ...]) -> None:
    read = modules(*words)
    assert "forge_bot.bot.job_context" in read
    assert {"typer", "click", "forge_bot.cli.app"} & {*read} == set()
