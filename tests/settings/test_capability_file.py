"""forge-mcp.json: what it may say, and every problem with its place."""

from pathlib import Path

import pytest

from forge_bot.agent.tools.setup import resolved, secrets_for, variable_faults
from forge_bot.errors import BadCapabilities
from forge_bot.settings.capability_file import (
    MCPHttpServerConfig,
    MCPServerConfig,
    load_capability_file,
    parse_capability_file,
)
from tests.fakes.rows import rows

ROWS = rows(__file__)


def test_servers_of_both_kinds_and_folders_are_read() -> None:
    found = parse_capability_file(
        """{
        "mcpServers": {
            "files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "${A}"}},
            "web": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "${T}"}}
        },
        "skillsDirs": ["skills"]
        }"""
    )
    assert found.mcp_servers == {
        "files": MCPServerConfig(command="npx", args=("-y", "x"), env={"A": "${A}"}),
        "web": MCPHttpServerConfig(url="https://h/mcp", headers={"Authorization": "${T}"}),
    }
    assert found.skills_dirs == ("skills",)


def test_a_missing_file_means_nothing_unless_a_person_named_it(tmp_path: Path) -> None:
    assert load_capability_file(tmp_path / "forge-mcp.json").mcp_servers == {}
    with pytest.raises(BadCapabilities, match=r"There is no file .*other\.json\."):
        load_capability_file(tmp_path / "other.json", named=True)


def test_all_problems_are_told_at_once_with_their_lines() -> None:
    text = (
        '{\n\t"mcpServers": {\n\t\t"a": {"comand": "x"},\n\t\t"b": {"url": "ftp://x"},\n'
        '\t\t"c": 7,\n\t\t"d": {"command": "x", "args": "no", "env": null}\n\t},\n\t"skillsDir": []\n}'
    )
    with pytest.raises(BadCapabilities) as error:
        parse_capability_file(text)
    assert [each.removeprefix("forge-mcp.json:") for each in error.value.details] == [
        "3: mcpServers.a.command: Field required",
        "3: mcpServers.a.comand: there is no such key",
        "4: mcpServers.b.url: an address begins with https:// or http://",
        "5: mcpServers.c.stdio: Input should be a valid mapping or instance of MCPServerConfig",
        "6: mcpServers.d.args: Input should be a valid list",
        "6: mcpServers.d.env: Input should be a valid mapping",
        "8: skillsDir: there is no such key; did you mean skillsDirs?",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {', "forge-mcp.json:2: did not find expected node content"),
        ("[]", "forge-mcp.json:1: file: Input should be a valid mapping or instance of MCPConfig"),
        (
            '{"skillsDirs": [],\n"skillsDirs": []}',
            "forge-mcp.json:2: the key 'skillsDirs' stands twice",
        ),
    ],
)
def test_what_is_no_such_file_says_where(text: str, said: str) -> None:
    with pytest.raises(BadCapabilities) as error:
        parse_capability_file(text)
    assert error.value.details == (said,)


@pytest.mark.parametrize(("text", "value"), ROWS["placeholders"])
def test_placeholders(text: str, value: str) -> None:
    assert resolved(text, {"A": "1", "EMPTY": ""}) == value


def test_missing_variables_and_those_of_the_bot_are_named_together() -> None:
    server = MCPServerConfig(
        command="x", args=("${NO}",), env={"T": "${GITHUB_TOKEN}", "D": "${E:-d}"}
    )
    assert variable_faults(server, {"GITHUB_TOKEN": "x"}) == (
        "The variable NO is not set.",
        (
            "GITHUB_TOKEN belongs to forge-bot and is given to no server: make a token of its own for"
            " the server, with only the rights it needs, under another name."
        ),
    )


def test_masked_are_all_values_but_folders_and_the_password_of_an_address_too() -> None:
    server = MCPServerConfig(
        command="x",
        args=("${HOME}", "${FOLDER}"),
        env={"D": "${DATABASE_URL}", "API_KEY": "literal-key"},
    )
    environ = {"HOME": "/root", "FOLDER": "/tmp", "DATABASE_URL": "postgres://me:hunter22@db/x"}
    assert secrets_for([server], environ) == {
        "API_KEY": "literal-key",
        "DATABASE_URL": "postgres://me:hunter22@db/x",
        "DATABASE_URL password": "hunter22",
    }
