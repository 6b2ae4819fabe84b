"""What comments say."""

import time
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.engine.reports import Answer, RunFlags
from forge_bot.gate.arguments import Amount
from forge_bot.gate.environment_variables import GATE_VARIABLES
from forge_bot.gate.flags import SWITCHES, VALUES
from forge_bot.gate.grammar import ANSWERS, FORMS, NAMED, Approve, Command, Mistyped, Resize, Start
from forge_bot.gate.messages import command_table, help_text
from forge_bot.gate.parse_comment import ParsedComment, parse_comment
from forge_bot.resources import templates
from forge_bot.sentences import ENGLISH
from forge_bot.values import Effort

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data" / "comments.yaml"
ROWS = [
    (row["body"], row.get("says", []))
    for rows in yaml.load(DATA.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader).values()
    for row in rows
]
COMMANDS: tuple[type, ...] = get_args(Command)


def amount(value: Any) -> Any:
    if not isinstance(value, Amount):
        return value
    return f"{value.tokens} tokens" if value.tokens else value.dollars


def shown(part: Command | Mistyped) -> str:
    """A command as the table writes it."""
    if isinstance(part, Mistyped):
        return type(part).__name__
    said = [type(part).__name__]
    text = ""
    for field in fields(part):
        value = amount(getattr(part, field.name))
        if field.name in {"text", "notes", "question"}:
            text = value.replace("\n", "⏎")
        elif field.name == "taken":
            said += value
        elif isinstance(part, Start) and value:
            said.append(field.name if value is True else f"{field.name}={value}")
        elif field.name == "choices":
            said += value
        elif field.name == "words":
            text = value
        elif value not in {None, False, ""}:
            said.append(str(value))
    return " ".join(said) + (f": {text}" if text else "")


def test_a_comment_says_what_the_table_says() -> None:
    for body, says in ROWS:
        command = parse_comment(body).command
        assert ([] if command is None else [shown(command)]) == says, body


def test_a_second_command_stops_the_first_and_that_is_said() -> None:
    for body in ("/approve\n/effort XL", "/approve\n/status", "/reject one\r\n/ask why?"):
        command = parse_comment(body).command
        assert isinstance(command, Mistyped)
        assert "one command" in command.hint


@pytest.mark.parametrize(
    ("body", "unread"),
    [
        ("/approve\n\nstranger left a comment\n\n/approve with a backdoor", True),
        ("/approve\n> quoted\n\n-- \n", False),
        ("/approve with no new option", False),
        ("/reject one\ntwo", False),
    ],
)
def test_own_text_that_no_command_takes_is_known_to_be_unread(body: str, unread: bool) -> None:
    assert parse_comment(body).unread is unread


def test_every_command_is_made_by_exactly_one_line_of_the_grammar() -> None:
    arguments = {"reject": "because", "answer": "A", "ask": "why?", "continue": "5", "effort": "S"}
    made = [
        parse_comment(f"/forge {form.name} {arguments.get(form.name, '')}").command
        for form in FORMS
    ]
    assert [type(command) for command in made] == list(COMMANDS)
    assert all(
        parse_comment(f"/{name} {arguments.get(form.name, '')}").command
        == parse_comment(f"/forge {name} {arguments.get(form.name, '')}").command
        for name, form in NAMED.items()
    )


def test_another_prefix_replaces_the_old_one() -> None:
    assert parse_comment("/fb approve", "/fb").command == Approve()
    assert parse_comment("/forge approve", "/fb") == ParsedComment()
    assert parse_comment("@forge-bot approve", "@forge-bot").command == Approve()
    mentioned = (f"@Forge-Bot {words}" for words in ("approve", "", "fix the login"))
    assert [parse_comment(body, mention="@forge-bot").command for body in mentioned] == [
        Approve(),
        Start(),
        Start("fix the login"),
    ]
    assert parse_comment("@forge-bots approve", mention="@forge-bot") == ParsedComment()


def test_where_bare_commands_are_left_to_others_only_the_prefix_counts() -> None:
    assert parse_comment("/approve", bare=False) == ParsedComment()
    assert parse_comment("/forge approve", bare=False).command == Approve()


def test_names_are_those_of_the_engine() -> None:
    assert {answer.value for answer in Answer} == set(ANSWERS)
    # In a thread nobody is asked whether the summary may be posted there.
    assert set(ANSWERS) - {"post"} <= set(NAMED)
    # The folder of a change is named at the terminal only.
    assert set(RunFlags.model_fields) - {"scope"} <= {field.name for field in fields(Start)}
    assert {parse_comment(f"/effort {effort.value}").command for effort in Effort} == {
        Resize("S"),
        Resize("M"),
        Resize("L"),
    }


def test_help_and_the_page_about_commands_are_made_from_the_grammar() -> None:
    page = (ROOT / "docs" / "thread.md").read_text(encoding="utf-8")
    table = templates() / "sentences" / ENGLISH / "commands.md"
    assert table.read_text(encoding="utf-8").endswith(f"\n\n{command_table()}\n")
    for flag in (*SWITCHES, *VALUES):
        assert f"| `--{flag}" in page, flag
    for form in FORMS:
        assert form.meaning in help_text("/forge", bare=True)
        assert f"`/forge {form.name}".strip() in help_text("/forge", bare=False)
    for name in GATE_VARIABLES:
        assert f"`{name}`" in page, name


@given(st.text(st.sampled_from("/forgeapv \n>`~<!-[]():\"'\t\r*0129#&x"), max_size=60))
def test_no_comment_is_too_odd_to_be_read(body: str) -> None:
    command = parse_comment(body).command
    assert command is None or body.splitlines()


def test_what_is_longer_than_any_comment_is_not_read() -> None:
    assert parse_comment("/approve\n" + "x" * 300_000) == ParsedComment()


@pytest.mark.parametrize(
    "words", ["a" + " " * 60_000 + "b", "--a " * 15_000, "x" + " --auto" * 9_000]
)
def test_flags_of_a_long_line_are_read_in_a_moment(words: str) -> None:
    before = time.process_time()
    parse_comment(f"/forge {words}")
    assert time.process_time() - before < 3
