"""What comments say."""

import re
import time
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.bot.comment_markdown import parse_comment
from forge_bot.engine.reports import Answer, RunFlags
from forge_bot.gate.arguments import Amount
from forge_bot.gate.candidate_lines import read_candidates
from forge_bot.gate.environment_variables import VARIABLES
from forge_bot.gate.grammar import (
    ANSWERS,
    FORMS,
    NAMED,
    Approve,
    Command,
    Reject,
    Resize,
    Start,
    Status,
)
from forge_bot.gate.help import command_table, flag_table, help_text
from forge_bot.gate.parse_comment import obeyed
from forge_bot.gate.written_command import Mistyped
from forge_bot.resources import templates
from forge_bot.sentences import ENGLISH, say
from forge_bot.values import Effort
from tests.fakes.sampled import sampled

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data" / "comments.yaml"
ROWS = [
    (group, row["body"], row.get("says", []), row.get("gate"))
    for group, rows in yaml.load(DATA.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader).items()
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
        meant = re.search(r"(?:did you mean|as its text:) `([^`]*?)(?: …)?`", part.hint)
        return f"{part.line} Mistyped" + (f" → {meant[1]}" if meant else "")
    said = [str(part.line), type(part).__name__]
    text = ""
    for field in fields(part):
        value = amount(getattr(part, field.name))
        if field.name in {"text", "notes", "question"}:
            text = value.replace("\n", "⏎")
        elif isinstance(part, Start) and value and field.name != "line":
            said.append(field.name if value is True else f"{field.name}={value}")
        elif field.name == "choices":
            said += value
        elif field.name == "words":
            text = value
        elif field.name != "line" and value not in {None, False}:
            said.append(str(value))
    return " ".join(said) + (f": {text}" if text else "")


def test_the_table_is_long_enough_to_be_trusted() -> None:
    assert len(ROWS) >= 150


@pytest.mark.parametrize(
    ("body", "says", "does"),
    [(body, says, gate or ("at once" if says else "nothing")) for _, body, says, gate in ROWS],
    ids=[f"{group}: {body[:40]!r}" for group, body, *_ in ROWS],
)
def test_a_comment_says_what_the_table_says_and_the_gate_does_with_it_what_stands_there(
    body: str, says: list[str], does: str
) -> None:
    commands = parse_comment(body)
    said = [shown(part) for part in commands]
    # A suggestion may be shortened in the table to nothing: then any is right.
    assert [
        part.split(" → ")[0] if "→" not in wanted else part
        for part, wanted in zip(said, says, strict=False)
    ] == says
    assert len(said) == len(says)
    found = read_candidates(body, "/forge", bare=True)
    assert ("nothing" if not found.said else "at once" if found.certain else "later") == does
    assert {part.line for part in commands} <= {part.line for part in found.said}
    if does == "at once":
        # What the gate answers by itself is what the supervisor would have answered.
        assert [shown(part).split(":")[0] for part in found.said] == [
            each.split(":")[0] for each in said
        ]


def test_one_mistyped_line_stops_all_commands_of_its_comment() -> None:
    assert obeyed(parse_comment("/approve\n/rejct it")) == ()
    assert obeyed(parse_comment("/approve\n/status")) == (Approve(1), Status(2))


def test_every_command_is_made_by_exactly_one_line_of_the_grammar() -> None:
    arguments = {"reject": "because", "ask": "why?", "continue": "5", "effort": "S"}
    made = [
        parse_comment(f"/forge {form.name} {arguments.get(form.name, '')}")[0] for form in FORMS
    ]
    assert [type(command) for command in made] == list(COMMANDS)
    assert all(
        parse_comment(f"/{name} {arguments.get(form.name, '')}")
        == parse_comment(f"/forge {name} {arguments.get(form.name, '')}")
        for name, form in NAMED.items()
    )


def test_every_suggestion_is_understood_when_it_is_followed() -> None:
    for _, body, *_ in ROWS:
        for part in parse_comment(body):
            if isinstance(part, Mistyped) and (
                meant := re.search(r"did you mean `(/[^`]+)`", part.hint)
            ):
                again = parse_comment(
                    f"{meant[1]} {'because' if meant[1].endswith('reject') else ''}"
                )
                assert len(again) == 1, meant[1]


@pytest.mark.parametrize(
    ("body", "named", "others"),
    [
        ("/approve please", "`/reject please`", "/forge"),
        ("/forge approve please", "`/forge approve with please`", "`/reject"),
        ("/continue", "`/continue +$5`", "/forge"),
        ("/status please", "alone", "/forge"),
        ("/forge status please", "`/forge -- status …`", "`/status"),
    ],
)
def test_a_hint_names_commands_as_the_one_that_was_mistyped(
    body: str, named: str, others: str
) -> None:
    (part,) = parse_comment(body)
    assert isinstance(part, Mistyped)
    assert named in part.hint
    assert others not in part.hint


def test_another_prefix_replaces_the_old_one() -> None:
    assert parse_comment("/fb approve", "/fb") == (Approve(1),)
    assert parse_comment("/forge approve", "/fb") == ()
    assert parse_comment("@forge-bot approve\n/status", "@forge-bot") == (Approve(1), Status(2))


def test_where_bare_commands_are_left_to_others_only_the_prefix_counts() -> None:
    assert parse_comment("/approve\n/aprove\n/forge approve", bare=False) == (Approve(3),)


def test_notes_end_where_the_next_command_begins_and_other_programs_do_not_end_them() -> None:
    said = parse_comment("/reject a\n\n/lgtm\n/forge-b\nc\n/effort S")
    assert said == (Reject(1, "a\n\n/lgtm\n/forge-b\nc"), Resize(6, "S"))


def test_a_hint_about_what_somebody_wrote_cannot_leave_its_code() -> None:
    part = parse_comment("/forge stop`` now, @team")[0]
    assert isinstance(part, Mistyped)
    assert part.hint.count("`") % 2 == 0


def test_names_are_those_of_the_engine() -> None:
    assert {answer.value for answer in Answer} | {"revise"} == set(ANSWERS)
    # In a thread nobody is asked whether the summary may be posted there.
    assert set(ANSWERS) - {"post"} <= set(NAMED)
    # The folder of a change is named at the terminal only.
    assert set(RunFlags.model_fields) - {"scope"} <= {field.name for field in fields(Start)}
    assert {parse_comment(f"/effort {effort.value}")[0] for effort in Effort} == {
        Resize(1, "S"),
        Resize(1, "M"),
        Resize(1, "L"),
    }


def test_help_and_the_page_about_commands_are_made_from_the_grammar() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    table = templates() / "sentences" / ENGLISH / "commands.md"
    assert table.read_text(encoding="utf-8").endswith(f"\n\n{command_table()}\n")
    assert flag_table() in page
    for form in FORMS:
        assert say(form.meaning) in help_text("/forge", bare=True)
        assert all(f"`/{name}`" in say(form.meaning) for name in form.also)
        assert f"`/forge {form.name}".strip() in help_text("/forge", bare=False)
    for name in VARIABLES:
        assert f"`{name}`" in page, name


@given(st.text(st.sampled_from("/forgeapv \n>`~<!-[]():\"'\t\r*0129#&x"), max_size=60))
def test_no_comment_is_too_odd_to_be_read(body: str) -> None:
    for part in parse_comment(body):
        assert body.splitlines()
        assert part.line >= 1


@pytest.mark.parametrize(
    "unit",
    sampled(
        [
            "> ",
            "- ",
            "`",
            "``` \n",
            "<!-- ",
            "<a ",
            "<a b='",
            '<a b="',
            "<div>\n",
            "</b>",
            "<b>",
            "[",
            "](",
            "[\n",
            "]\n",
            "[a]:\n",
            "\\",
            "~~",
            "/approve\n",
            "/reject x\n",
            "<?",
            "<![CDATA[",
            "On 1 wrote:\n",
            "From: a\n",
            "\n",
            "\t",
            "*\n",
            "1. ",
            "/",
            "```\n",
            "<a\n",
            "(",
            "_ ",
        ],
        5,
    ),
)
def test_the_longest_comment_of_one_sign_is_read_in_a_moment(unit: str) -> None:
    body = unit * (65_000 // len(unit))
    before = time.process_time()
    read_candidates(f"{body}\n/approve", "/forge", bare=True)
    assert time.process_time() - before < 1
    before = time.process_time()
    parse_comment(f"{body}\n/approve")
    # The slowest takes half a second on an old machine. One whose time grew with the square of the
    # length would take minutes.
    assert time.process_time() - before < 5


def test_what_is_longer_than_any_comment_is_not_read() -> None:
    assert parse_comment("/approve\n" + "x" * 300_000) == ()
