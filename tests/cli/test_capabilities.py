"""`forge-bot capabilities`: what agents may ask for in a repository."""

import os
import re
from pathlib import Path

import pytest

from forge_bot.runs.capabilities.outside_capabilities import CapabilityOptions
from tests.fakes.sample import Sample
from tests.fakes.tool_servers import SERVER, agree_here, configure, skill, unruly


def test_a_repository_without_any_is_told_how_to_begin(sample: Sample) -> None:
    said = sample.forge("capabilities")
    assert said.code == 0
    assert said.out.startswith("No tools and no skills are configured")


def test_servers_tools_and_skills_are_listed_with_what_becomes_of_a_request(sample: Sample) -> None:
    configure(sample.path, {"tickets": unruly("well")})
    skill(sample.path / ".forge" / "skills", "deploy")
    said = sample.forge("capabilities")
    assert said.code == 0
    assert "✓ tickets in the sandbox, no network\n" in said.out
    assert "  mcp_tickets_create a person is asked [MCP:tickets] Create a ticket.\n" in said.out
    assert "  mcp_tickets_echo reads [MCP:tickets] Say the text again.\n" in said.out
    assert "  skill_deploy runs in the sandbox [Skill] About deploy.\n" in said.out


def test_a_broken_one_is_told_with_its_reason_and_makes_the_command_fail(sample: Sample) -> None:
    configure(sample.path, {"tickets": unruly("well"), "gone": {"command": "no-such-program"}})
    said = sample.forge("capabilities")
    assert said.code == 5
    assert "✗ gone The server gone failed: no-such-program: no such command" in said.out
    assert "mcp_tickets_echo" in said.out


def test_other_files_are_named_by_options(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file = configure(tmp_path / "there", {"tickets": unruly("well")}, skillsDirs=["own"])
    skill(tmp_path / "there" / "own", "release")
    skill(tmp_path / "more", "deploy")
    skill(tmp_path / "others", "look-around")
    folders = ("--skills-dir", str(tmp_path / "more"), "--skills-dir", str(tmp_path / "others"))
    words = ("--mcp-config", str(file), *folders)
    agree_here(sample.path, CapabilityOptions(mcp_config=file))
    said = sample.forge("capabilities", *words)
    assert said.code == 0
    skills = ("skill_release", "skill_deploy", "skill_look-around")
    assert all(name in said.out for name in ("mcp_tickets_echo", *skills))


def test_the_complete_example_of_the_page_works_as_it_is_pasted(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "capabilities.md").read_text(encoding="utf-8")
    example = page.partition("## A complete example")[2]
    form = r"^`([^`\n]+)`[^\n]*:\n\n```\w+\n(.*?)^```"
    blocks = re.findall(form, example, re.MULTILINE | re.DOTALL)
    for name, text in blocks:
        (sample.path / name).parent.mkdir(parents=True, exist_ok=True)
        (sample.path / name).write_text(text)
    # In place of GitHub's server, another one answers to its name.
    server = tmp_path / "programs" / "github-mcp-server"
    server.parent.mkdir()
    server.write_text(
        f"#!/usr/bin/env python3\nimport sys\nsys.argv[1:] = ['well']\n{SERVER.read_text()}"
    )
    server.chmod(0o755)
    monkeypatch.setenv("PATH", f"{server.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ISSUES_TOKEN", "of-the-test-0123")
    agree_here(sample.path)
    said = sample.forge("capabilities")
    assert said.code == 0, said.out
    assert "✓ issues in the sandbox, with network; given ISSUES_TOKEN\n" in said.out
    assert "  mcp_issues_create a person is asked" in said.out
    assert "  skill_release-notes runs in the sandbox [Skill] Write the entry" in said.out
