"""`forge-bot capabilities`: what agents may ask for in a repository, and one call by hand."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from forge_bot.runs.capabilities.capability_setup import CapabilityOptions
from tests.cli.test_tools_in_a_run import asks
from tests.fakes.model_server import ModelServer, Says
from tests.fakes.sample import Said, Sample
from tests.fakes.script import Answer
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


def test_a_file_with_problems_shows_all_of_them(sample: Sample) -> None:
    (sample.path / "forge-mcp.json").write_text('{"mcpServers": {"a": {}}, "x": 1}')
    said = sample.forge("capabilities")
    assert said.code == 5
    assert "forge-mcp.json:1: mcpServers.a.command: Field required" in said.err
    assert "forge-mcp.json:1: x: there is no such key" in said.err


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


def test_a_tool_that_reads_is_called_at_once(sample: Sample) -> None:
    configure(sample.path, {"tickets": unruly("well")})
    words = ("mcp_tickets_look_up_it_all", "--arg", "kind=bug", "--arg", "count=3")
    said = sample.forge("capabilities", "try", *words)
    assert (said.code, said.out) == (0, 'found {"count": 3, "kind": "bug"}\n')


def test_a_tool_that_may_change_something_is_not_called_without_a_word(sample: Sample) -> None:
    configure(sample.path, {"tickets": unruly("well")})
    words = ("capabilities", "try", "mcp_tickets_create", "--arg", "text=a")
    said = sample.forge(*words)
    assert said.code == 5
    assert "may change something. Its arguments, " in said.out
    assert "created" not in said.out
    assert "created a\n" in sample.forge(*words, "--yes").out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("mcp_tickets_nothing",), 2, "There is no capability mcp_tickets_nothing."),
        (("mcp_tickets_echo", "--arg", "text"), 2, "text is not of the form name=value."),
        (("mcp_tickets_echo",), 1, "mcp_tickets_echo: invalid_params"),
    ],
)
def test_what_cannot_be_called_says_why(
    sample: Sample, words: tuple[str, ...], code: int, said: str
) -> None:
    configure(sample.path, {"tickets": unruly("well")})
    done = sample.forge("capabilities", "try", *words)
    assert done.code == code
    assert said in done.err


def skilled(sample: Sample, exit_code: int = 0) -> None:
    """Add a skill with one script, which leaves a file behind."""
    body = f"#!/bin/sh\nls\necho left > left-behind\nexit {exit_code}\n"
    skill(sample.path / ".forge" / "skills", "deploy", list_sh=body)


def scripted(sample: Sample) -> str:
    """Let a model run the script of the skill, and say that all went well."""
    ran = asks(("run_script", {"path": "scripts/list.sh", "arguments": []}))
    done: Answer = {"artifact_markdown": "Deployed."}
    return sample.model({("skill", "try", "1.1/1.1"): ran, ("skill", "try", "1.1/1.2"): done})


WORDS = ("capabilities", "try", "skill_deploy", "--arg", "request=deploy it")


def test_a_skill_is_performed_by_a_model_and_leaves_nothing(sample: Sample, tmp_path: Path) -> None:
    skilled(sample)
    said = sample.forge(*WORDS, "--model", scripted(sample))
    assert (said.code, said.out) == (0, "Deployed.\nscripts/list.sh: exit code 0\n"), said.err
    assert "run_script" in said.err
    assert sample.git("status", "--porcelain") == "?? .forge/"
    assert sample.git("worktree", "list").count("\n") == 0
    assert [*tmp_path.rglob("left-behind")] == []
    assert not [each for each in (tmp_path / "state").rglob("*") if each.is_file()]


def test_the_code_of_a_skills_script_counts_and_not_the_models_words(sample: Sample) -> None:
    skilled(sample, exit_code=3)
    said = sample.forge(*WORDS, "--model", scripted(sample))
    assert (said.code, said.out) == (1, "Deployed.\nscripts/list.sh: exit code 3\n"), said.err


def test_a_skill_whose_only_script_was_refused_did_not_succeed(sample: Sample) -> None:
    body = "#!/bin/sh\nexit 0\n"
    front = "name: deploy\ndescription: Deploy.\nallowed-tools: Read"
    skill(sample.path / ".forge" / "skills", "deploy", front, list_sh=body)
    said = sample.forge(*WORDS, "--model", scripted(sample))
    assert (said.code, "Deployed." in said.out) == (1, True), said.err
    assert "its script was refused" in said.out


def asking_again(sample: Sample, server: ModelServer, *words: str) -> Said:
    """Let a model perform the skill that never ends it; each question has 61,000 tokens."""
    skilled(sample)
    again = asks(("run_script", {"path": "scripts/list.sh", "arguments": []}))
    server.will(Says(json.dumps(again), input_tokens=61_000, output_tokens=0))
    return sample.forge(*WORDS, "--model", "openai-chat:unknown-to-all", *words)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A provider of models without a known price."""
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-test")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def test_a_skill_costs_no_more_than_its_budget(sample: Sample, provider: ModelServer) -> None:
    said = asking_again(sample, provider, "--budget", "130k tokens")
    assert (said.code, len(provider.questions)) == (1, 2)
    assert said.out == (
        "The next question could cost more than the budget has left.\n"
        "scripts/list.sh: exit code 0\n"
    )
    assert "122,000 tokens, price unknown, of at most 130,000 tokens (--budget)" in said.err


def test_a_skill_that_nobody_limits_has_a_limit_too(sample: Sample, provider: ModelServer) -> None:
    said = asking_again(sample, provider)
    assert (said.code, len(provider.questions)) == (1, 8)
    assert "488,000 tokens, price unknown, of at most $1.00 and 500,000 tokens" in said.err


@pytest.mark.slow
def test_a_limit_in_dollars_alone_says_what_it_does_not_limit(
    sample: Sample, provider: ModelServer
) -> None:
    said = asking_again(sample, provider, "--budget", "2")
    assert len(provider.questions) == 12
    assert "the price of openai-chat:unknown-to-all is unknown" in said.err


def test_a_budget_that_is_no_amount_is_told(sample: Sample) -> None:
    skilled(sample)
    said = sample.forge(*WORDS, "--model", scripted(sample), "--budget", "plenty")
    assert said.code == 2
    assert "'plenty' is no amount of money or tokens." in said.err


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
    ran = asks(("run_script", {"path": "scripts/commits.sh"}))
    done: Answer = {"artifact_markdown": "- The rota says who is next."}
    model = sample.model({("skill", "try", "1.1/1.1"): ran, ("skill", "try", "1.1/1.2"): done})
    words = ("capabilities", "try", "skill_release-notes", "--arg", "request=since the last tag")
    tried = sample.forge(*words, "--model", model)
    assert (tried.code, tried.out.splitlines()[-1]) == (0, "scripts/commits.sh: exit code 0")


def test_the_workflows_part_of_the_example_names_inputs_of_the_action() -> None:
    root = Path(__file__).parents[2]
    example = (root / "docs" / "capabilities.md").read_text().partition("## A complete example")[2]
    step = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```", example, re.MULTILINE | re.DOTALL)[-1])
    inputs = yaml.safe_load((root / "action.yml").read_text())["inputs"]
    assert set(step["with"]) <= set(inputs)
    assert set(step["with"]["server-variables"].split()) <= set(step["env"])


def test_a_skill_without_a_model_or_a_request_says_what_is_missing(sample: Sample) -> None:
    skilled(sample)
    said = sample.forge(*WORDS)
    assert said.code not in {0, 1}
    assert "ANTHROPIC_API_KEY" in said.err
    unasked = sample.forge("capabilities", "try", "skill_deploy", "--model", scripted(sample))
    assert unasked.code == 1
    assert '"request" is a required property' in unasked.out
