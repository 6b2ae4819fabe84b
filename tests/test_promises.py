"""Every promise has a test, every test's promise is one, and what users are told is what is
promised.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from forge_bot.cli.app import app
from forge_bot.runs.outcome import Outcome
from tests.promises import BOT, CLI, DESIGN, DOCS, LESSONS, MCP, PROMISES, SAID

TESTS = Path(__file__).parent
ROOT = TESTS.parent
MARK = "pytest.mark.promise"
JOURNEY, FIRST_LINE = "pytest.mark.journey", "pytest.mark.first_line"
ELSEWHERE = {"pytest.mark.slow", "pytest.mark.thorough"}
JOURNEYS = re.compile(r"^pytestmark = .*\bpytest\.mark\.journey\b", re.MULTILINE)


@dataclass(frozen=True)
class Holding:
    """A test that says which promises it holds."""

    test: str
    promises: tuple[str, ...]
    always: bool
    """Whether `scripts/check` runs it: it is neither slow nor `thorough`, and no journey but one of
    the first line.
    """
    collected: bool


@cache
def holdings() -> tuple[Holding, ...]:
    """The tests that hold promises, read when a test asks: each worker imports this file."""
    return tuple(_read())


def _read() -> Iterator[Holding]:
    """Read from the sources: collecting the whole suite takes longer than all of this file."""
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if MARK not in text:
            continue
        module, journeys = ast.parse(text), bool(JOURNEYS.search(text))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks = [ast.unparse(mark) for mark in node.decorator_list]
                named = tuple(
                    ast.literal_eval(argument)
                    for mark in node.decorator_list
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == MARK
                    for argument in mark.args
                )
                if any(mark.startswith(MARK) for mark in marks):
                    is_test = (
                        node in module.body
                        and node.name.startswith("test_")
                        and path.name.startswith("test_")
                    )
                    yield Holding(
                        f"{path.relative_to(ROOT)}::{node.name}",
                        named,
                        ELSEWHERE.isdisjoint(marks)
                        and (
                            not (journeys or JOURNEY in marks)
                            or any(FIRST_LINE in mark for mark in marks)
                        ),
                        is_test,
                    )


def on_page(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def test_every_promise_is_held_by_a_test_that_always_runs() -> None:
    held = {promise for holding in holdings() if holding.always for promise in holding.promises}
    assert sorted(set(PROMISES) - held) == []


def test_the_first_line_leads_some_of_the_journeys_of_every_room() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
    with_journeys = {path.parent for path, text in texts.items() if JOURNEYS.search(text)}
    led = {path.parent for path, text in texts.items() if f"@{FIRST_LINE}" in text}
    assert sorted(with_journeys - led) == []
    assert {TESTS / room for room in ("bot", "cli", "mcp_server", "recovery")} <= led


def test_every_test_that_holds_promises_names_some_that_there_are() -> None:
    unknown = [
        (holding.test, promise)
        for holding in holdings()
        for promise in holding.promises
        if promise not in PROMISES
    ]
    assert unknown == []
    assert [
        holding.test
        for holding in holdings()
        if not holding.promises or len(set(holding.promises)) < len(holding.promises)
    ] == []


def test_a_promise_is_held_only_by_functions_that_pytest_collects() -> None:
    assert [holding.test for holding in holdings() if not holding.collected] == []
    written = sum(
        path.read_text(encoding="utf-8").count(f"@{MARK}(") for path in TESTS.rglob("test_*.py")
    )
    assert written == len(holdings()), (
        "a promise stands where this file does not look: twice at one test, or in a text"
    )


def test_tests_that_hold_promises_are_known_to_pytest_by_their_mark(
    request: pytest.FixtureRequest,
) -> None:
    """Of the tests that pytest did collect beside this one, the marks are those that the sources
    show.
    """
    shown = {holding.test: holding.promises for holding in holdings()}
    for item in request.session.items:
        mark = item.get_closest_marker("promise")
        if mark is not None:
            path, _, name = item.nodeid.partition("::")
            assert shown[f"{path}::{name.partition('[')[0]}"] == mark.args, item.nodeid


def test_no_promise_is_listed_twice() -> None:
    assert len(PROMISES) == len(DESIGN) + len(LESSONS) + len(BOT) + len(MCP) + len(CLI) + len(DOCS)
    assert len(set(PROMISES.values())) == len(PROMISES)
    for group, prefix in (
        (DESIGN, "design-"),
        (LESSONS, "lesson-"),
        (BOT, "bot-"),
        (MCP, "mcp-"),
        (CLI, "cli-"),
        (DOCS, "docs-"),
    ):
        assert [name for name in group if not re.fullmatch(prefix + r"[a-z0-9-]+", name)] == []


@pytest.mark.parametrize("page", SAID)
def test_what_a_page_promises_stands_there_word_for_word(page: str) -> None:
    text = on_page(page)
    assert [sentence for sentence in SAID[page] if sentence not in text] == []
    assert [name for names in SAID[page].values() for name in names if name not in PROMISES] == []


@pytest.mark.parametrize(
    ("page", "heading"), [("README.md", "What holds"), ("SECURITY.md", "What forge-bot assumes")]
)
def test_everything_that_is_said_to_hold_is_a_promise(page: str, heading: str) -> None:
    section = (
        (ROOT / page)
        .read_text(encoding="utf-8")
        .partition(f"## {heading}\n")[2]
        .partition("\n## ")[0]
    )
    bullets = [
        " ".join(bullet.split()) for bullet in re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    ]
    assert len(bullets) >= 5
    assert [bullet for bullet in bullets if bullet not in SAID[page]] == []


@pytest.mark.promise("design-outcomes")
def test_the_exit_codes_of_the_readme_are_promises_and_the_ones_there_are() -> None:
    sentence = next(iter(re.findall(r"Exit codes: [^.]*\.", on_page("README.md"))))
    assert re.findall(r"(\d) (\w+)", sentence) == [
        (str(each.value), each.name.lower()) for each in Outcome
    ]
    assert {f"cli-exit-{each.value}" for each in Outcome} <= set(SAID["README.md"][sentence])


def helped() -> dict[str, str]:
    """What `--help` says of each command and option, under the name that its promise has."""
    told: dict[str, str] = {}
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    for name, command in {"": program, **program.commands}.items():
        if name:
            told[f"cli-{name}"] = " ".join((command.help or "").split())
        for option in command.params:
            word = option.opts[0].lstrip("-")
            if isinstance(option, TyperOption) and not word.endswith("-completion"):
                own = f"cli-{name}-{word}"
                told[own if own in CLI else f"cli-option-{word}"] = option.help or ""
    return told


def test_every_command_and_option_is_a_promise_in_the_words_of_its_help() -> None:
    told = helped()
    assert {name: CLI.get(name) for name in told} == told


def test_every_promise_to_users_is_told_them_in_a_help_or_on_a_page() -> None:
    said = {name for page in SAID.values() for names in page.values() for name in names}
    assert sorted((set(CLI) | set(DOCS)) - set(helped()) - said) == []
