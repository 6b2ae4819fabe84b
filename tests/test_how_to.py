"""The answers of docs/how-to.md are read as forge-bot reads them."""

import re
import shlex

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

from forge_bot.cli.app import app
from forge_bot.prompts.environment import Environment
from forge_bot.settings.config import CONFIG, parse_config
from tests.test_agreements import ROOT

PAGE = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
CONFIGURATIONS = [text for _, text in BLOCKS if text.startswith(f"# {CONFIG}\n")]
LINES = [line for kind, text in BLOCKS if kind == "console" for line in text.splitlines()]


@pytest.mark.parametrize("text", CONFIGURATIONS, ids=lambda text: text.splitlines()[1][:30])
def test_a_configuration_of_the_page_is_understood(text: str) -> None:
    assert parse_config(text, {}) != parse_config(None, {})


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_page_is_understood(line: str) -> None:
    words = [word for word in shlex.split(line) if not re.match(r"[A-Z_]+=", word)]
    assert words[0] == "forge-bot"
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    command = group.commands[words[1]]
    with command.make_context(words[1], words[2:]) as context:
        assert context.params


def test_the_inputs_of_the_page_are_those_of_the_action() -> None:
    block = next(text for _, text in BLOCKS if text.startswith("# .github/workflows/"))
    given = yaml.safe_load(block)["with"]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert {*given, "extras"} <= {*inputs}
    assert "`extras: bedrock`" in PAGE


def test_the_prompt_of_the_page_adds_to_the_shipped_one() -> None:
    block = next(text for _, text in BLOCKS if text.startswith("{# .forge/prompts/"))
    name = re.findall(r"\.forge/prompts/(\S+)", block)[0]
    Environment({name: block}).check({name.removesuffix(".md.j2")})


def test_every_question_has_an_answer() -> None:
    parts = re.split(r"^## … ", PAGE, flags=re.MULTILINE)[1:]
    assert len(parts) >= 15
    assert all(len(part.partition("\n")[2].split()) >= 15 for part in parts)
