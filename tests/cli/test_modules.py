"""What a command reads before it answers: a command that only looks reads no part of forge-bot that
works.

Modules are counted, never time. `docs/benchmarks.md` has the times.
"""

import os
import subprocess
import sys

import pytest
import typer

from forge_bot.cli.app import app
from tests.fakes.sample import Sample

_READ = "import time:"
_MOST = {
    ("--help",): 165,
    ("--version",): 165,
    ("list",): 338,
    ("status",): 349,
    ("show", "request.md"): 338,
    ("status", "--json"): 343,
}
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


_MOST_OF_SUPERVISOR = 340
_MOST_BEFORE_CLONE = 60


_ALL: dict[tuple[str, ...], int] = {
    ("run", "Say who is next", "--effort", "S"): 1090,
    ("demo", "--yes"): 1080,
    ("approve", "--by-script"): 1080,
    ("reject", "shorter", "--by-script"): 980,
    ("revise", "shorter", "--by-script"): 980,
    ("ask", "Why so?"): 980,
    ("resume",): 950,
    ("retry", "design", "--by-script"): 980,
    ("continue", "5", "--by-script"): 950,
    ("done", "--by-script"): 950,
    ("skip", "--by-script"): 950,
    ("abandon", "--by-script"): 950,
    ("update",): 950,
    ("repair",): 950,
    ("status",): 350,
    ("show", "request.md"): 350,
    ("list",): 350,
    ("clean",): 400,
    ("init",): 670,
    ("doctor",): 580,
    ("graph", "show"): 410,
    ("capabilities",): 490,
    ("mcp",): 590,
    ("hook", "post-tool"): 335,
    ("worker",): 1260,
    ("work",): 365,
    ("publish",): 405,
}
"""The most modules of each command, at the first question of a run."""

_ON_WAYS_OF_THEIR_OWN = {
    *("run", "clean", "graph", "capabilities", "mcp", "hook"),
}
_SAMPLED = [
    pytest.param(words, marks=() if words[0] in _ON_WAYS_OF_THEIR_OWN else pytest.mark.thorough)
    for words in _ALL
]
"""The first line counts where commands read different parts; the others read what these do."""

_ASKING = {"run", "approve", "reject", "revise", "ask", "resume", "retry", "continue"}
_SEARCHING = {"run", "demo", "approve"}
_SPEAKING_TO_GITHUB = {"init", "worker"}
"""As long as neither the request nor two remotes name it."""
_SERVERS = {"worker": "temporalio", "mcp": "mcp"}


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


def test_a_run_without_a_key_says_so_before_it_reads_what_works(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert "ANTHROPIC_API_KEY is not set" in sample.forge("run", "Say who is next").err
    read = modules("run", "Say who is next")
    assert len(read) < 430
    assert {"pydantic_ai", "jinja2", "forge_bot.runs.session"}.isdisjoint(read)


@pytest.mark.parametrize("key", ["", "of-somebody"])
def test_doctor_reads_no_part_that_works_and_opens_no_model_unless_asked_to(
    sample: Sample, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    said = sample.forge("doctor")
    assert ("ready to be asked" in said.out) == bool(key), said.out
    read = modules("doctor")
    assert len(read) < 560
    unread = _WORKING - {"filelock", "forge_bot.knowledge", "forge_bot.project", "jinja2"}
    unread -= {"forge_bot.prompts", "forge_bot.sandbox", "forge_bot.artifacts.markdown"}
    unread -= {"forge_bot.engine", "yaml"}
    assert {*unread, "anthropic", "github"} & {*read} == set()


def test_a_command_that_only_looks_reads_few_modules_and_none_that_works(
    asked_sample: Sample,
) -> None:
    read = {words: modules(*words) for words in _MOST}
    assert {words: len(names) for words, names in read.items() if len(names) > _MOST[words]} == {}
    assert {
        words: found for words in read if (found := {*_WORKING, "tomllib"} & {*read[words]})
    } == {}


def test_the_supervisor_reads_no_part_that_only_a_worker_needs() -> None:
    read = imported("forge_bot.bot.job")
    own = [name for name in read if name.startswith("forge_bot.")]
    assert len(own) <= _MOST_OF_SUPERVISOR
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
    assert len([name for name in read if name.startswith("forge_bot.")]) <= _MOST_BEFORE_CLONE
    assert {"forge_bot.engine", "markdown_it", "yaml"} & {*read} == set()


def test_a_server_over_stdio_reads_no_option_parser_and_nothing_that_serves_http(
    asked_sample: Sample,
) -> None:
    read = modules("mcp", "--repo", str(asked_sample.path))
    assert "mcp.server.stdio" in read
    assert {"typer", "click", "forge_bot.cli.app", "uvicorn", "rich"} & {*read} == set()
    assert "forge_bot.cli.app" in modules("mcp", "--repo")


@pytest.mark.parametrize(
    "words", [("work",), ("work", "--out", "x"), ("publish", "--in", "x", "--last")]
)
def test_a_job_does_not_read_the_option_parser(words: tuple[str, ...]) -> None:
    read = modules(*words)
    assert "forge_bot.bot.job_context" in read
    assert {"typer", "click", "forge_bot.cli.app"} & {*read} == set()


@pytest.mark.parametrize("words", _SAMPLED, ids=lambda words: words[0])
def test_each_command_reads_no_more_modules_than_it_did(
    asked_sample: Sample, words: tuple[str, ...]
) -> None:
    model = ("--model", asked_sample.model()) if words[0] in _ASKING else ()
    read = modules(*words, *model)
    assert len(read) <= _ALL[words], sorted(read)
    assert {"temporalio", "mcp"}.intersection(read) <= {_SERVERS.get(words[0])}
    assert {"pydantic_ai", "openai", "anthropic", "github"}.intersection(read) == set()
    assert "numpy" not in read or words[0] in _SEARCHING
    assert "forge_bot.github_api" not in read or words[0] in _SPEAKING_TO_GITHUB
    assert "forge_bot.runs.local_host" in read or words[0] not in _ASKING


def test_every_command_has_its_number_of_modules() -> None:
    assert {words[0] for words in _ALL} == {*vars(typer.main.get_command(app))["commands"]}
