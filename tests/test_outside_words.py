"""The words that programs and people outside rely on: none of them changes without a decision.

`tests/fixtures/outside_words.json` lists them by kind. A word that is new belongs into that file; a
word that is gone breaks somebody's script, so it needs its line in the changelog.
`FORGE_GOLDEN=renew` writes the file anew.
"""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import TypeAdapter
from typer.core import TyperGroup, TyperOption

from forge_bot.cli.app import app
from forge_bot.engine import REPORT, Action, State
from forge_bot.engine.reports import Answer
from forge_bot.engine.state import Reason
from forge_bot.errors import registry
from forge_bot.gate.action import INPUTS, OUTPUTS
from forge_bot.gate.grammar import FORMS
from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.mcp_server.service_calls import LazyService
from forge_bot.runs.outcome import Outcome
from forge_bot.settings import Config
from tests.promises import PROMISES

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "tests" / "fixtures" / "outside_words.json"

Words = dict[str, list[str]]


def keys(schema: Any) -> Iterable[str]:
    """Every property and enumeration value of a JSON schema; a model with a type is named by it,
    never by its class.
    """
    for definition in (schema, *schema.get("$defs", {}).values()):
        properties = definition.get("properties", {})
        kind = properties.get("type", {}).get("const", "")
        for key in properties:
            yield f"{kind}.{key}" if kind else key
        for value in definition.get("enum", ()):
            yield f"={value}"


def options() -> Iterable[str]:
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    for name, command in {"": program, **program.commands}.items():
        yield f"forge-bot {name}".strip()
        for option in command.params:
            if isinstance(option, TyperOption):
                yield from (
                    f"forge-bot {name} {word}".replace("  ", " ")
                    for word in (*option.opts, *option.secondary_opts)
                )


async def words() -> Words:
    tools = await make_server(LazyService([])).list_tools()
    source = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "forge_bot").rglob("*.py")
    )
    found: dict[str, Iterable[str]] = {
        "error codes": registry(),
        "exit codes": (f"{each.name.lower()} {each.value}" for each in Outcome),
        "trailers of commits": re.findall(r'"((?:Forge-[A-Z][a-z]+)|Approved-by)"', source),
        "keys of .forge/config.yml": keys(Config.model_json_schema()),
        "keys of reports.jsonl": keys(REPORT.json_schema()),
        "keys of state.json": keys(State.model_json_schema(by_alias=True)),
        "keys of actions": keys(TypeAdapter[Any](Action).json_schema()),
        "promises": PROMISES,
        "answers": (each.value for each in Answer),
        "reasons of checkpoint-c": (each.value for each in Reason),
        "commands in comments": (
            word for form in FORMS for word in (form.name, *form.also) if word
        ),
        "commands and options at the terminal": options(),
        "inputs of the action": (each.name for each in INPUTS),
        "outputs of the action": (each.name for each in OUTPUTS),
        "tools and arguments over MCP": (
            f"{tool.name} {key}" for tool in tools for key in keys(tool.input_schema)
        ),
    }
    return {kind: sorted(set(each)) for kind, each in found.items()}


async def test_no_word_that_is_relied_on_outside_is_gone_and_every_new_one_is_listed() -> None:
    now = await words()
    if os.environ.get("FORGE_GOLDEN") == "renew":
        LISTED.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    listed: Words = json.loads(LISTED.read_text(encoding="utf-8"))
    assert list(now) == list(listed)
    for kind, there in listed.items():
        assert sorted(set(there) - set(now[kind])) == [], f"{kind}: gone"
        assert sorted(set(now[kind]) - set(there)) == [], f"{kind}: new, and not in {LISTED.name}"


@pytest.mark.parametrize("kind", ["error codes", "commands in comments", "inputs of the action"])
def test_the_list_is_not_empty(kind: str) -> None:
    assert len(json.loads(LISTED.read_text(encoding="utf-8"))[kind]) > 5
