"""Skills in folders: found, read and validated as agentskills.io says."""

import asyncio
import re
from pathlib import Path

import pytest

from forge_bot.agent.tools.placeholders import variables_of
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.skills import files_of, read_skill
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue, discover_capabilities
from forge_bot.errors import BadCapabilities
from forge_bot.runs.capability_setup import capability_setup
from forge_bot.settings.config import load_config
from tests.fakes.tool_servers import skill


def discover(root: Path, *folders: Path) -> ToolCatalogue:
    return asyncio.run(
        discover_capabilities(CapabilitySetup(root=root, tree=root, skill_folders=folders))
    )


def test_skills_directly_inside_a_folder_are_found_in_order_and_the_first_of_a_name_wins(
    tmp_path: Path,
) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    skill(own, "release")
    skill(own, "deploy")
    skill(own / "deploy", "deeper")
    skill(own, ".hidden")
    skill(shared, "deploy", "name: deploy\ndescription: Another.")
    (own / "note.md").write_text("no skill")
    catalogue = discover(tmp_path, own, shared, own)
    assert list(catalogue.skill_definitions) == ["skill_deploy", "skill_release"]
    assert catalogue.skill_definitions["skill_deploy"].description == "About deploy."
    assert [(each.about, each.broken) for each in catalogue.problems] == [("shared/deploy", False)]


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("name: deploy", ":2: description: Field required"),
        ("description: x", ":2: name: Field required"),
        ("name: other\ndescription: x", ": the skill is named other, but its folder deploy"),
        ("name: De_ploy\ndescription: x", ":2: name: String should match pattern"),
        (
            f"name: deploy\ndescription: {'x' * 1_025}",
            ":3: description: String should have at most",
        ),
        ("name: deploy\ndescription: [", ":4: expected the node content"),
    ],
)
def test_a_bad_skill_is_a_problem_with_its_place(tmp_path: Path, front: str, said: str) -> None:
    skill(tmp_path, "deploy", front)
    catalogue = discover(tmp_path, tmp_path)
    assert catalogue.specs == ()
    assert f"deploy/SKILL.md{said}" in catalogue.broken[0].sentence


def test_front_matter_is_yaml_with_folded_text_lists_and_nested_values(tmp_path: Path) -> None:
    front = (
        "name: deploy\ndescription: >\n  Deploy a preview\n  of this.\nlicense: MIT\n"
        'metadata:\n  author: {name: A}\nargument-hint: "[x]"\nallowed-tools: [read_file, "Bash(git:*)"]'
    )
    place = skill(tmp_path, "deploy", front, body="## Steps\n\n---\n\nmore")
    found = read_skill(place, "deploy", whole=True)
    assert found.description == "Deploy a preview of this."
    assert found.allowed_tools == ("read_file", "Bash(git:*)")
    assert found.instructions == "## Steps\n\n---\n\nmore"


def test_a_byte_order_mark_crlf_and_a_missing_last_newline_are_read(tmp_path: Path) -> None:
    place = skill(tmp_path, "deploy")
    text = "\ufeff---\r\nname: deploy\r\ndescription: x\r\nallowed-tools: a b\r\n---\r\nDo"
    (place / "SKILL.md").write_bytes(text.encode())
    found = read_skill(place, "deploy", whole=True)
    assert (found.instructions, found.allowed_tools) == ("Do", ("a", "b"))


def test_a_file_without_front_matter_says_how_to_begin(tmp_path: Path) -> None:
    place = skill(tmp_path, "deploy")
    (place / "SKILL.md").write_text("# Deploy\n")
    with pytest.raises(BadCapabilities) as error:
        read_skill(place, "deploy")
    assert error.value.details == (
        "deploy/SKILL.md:1: begin with a line `---`, name, description, and a line `---`",
    )


def test_the_catalogue_keeps_no_instructions_and_files_are_named_by_kind(tmp_path: Path) -> None:
    place = skill(tmp_path, "deploy", run_sh="true")
    (place / "references").mkdir()
    (place / "references" / "HOSTS.md").write_text("hosts")
    catalogue = discover(tmp_path, tmp_path)
    kept = catalogue.skill_definitions["skill_deploy"]
    assert kept.instructions == ""
    assert files_of(kept) == (("references/HOSTS.md",), ("scripts/run.sh",))


def test_the_complete_example_of_the_page_can_be_pasted(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "capabilities.md").read_text(encoding="utf-8")
    example = page.partition("## A complete example")[2]
    blocks = re.findall(
        r"^`([^`\n]+)`[^\n]*:\n\n```\w+\n(.*?)^```", example, re.MULTILINE | re.DOTALL
    )
    assert [name for name, _ in blocks] == [
        "forge-mcp.json",
        ".forge/config.yml",
        ".forge/skills/release-notes/SKILL.md",
        ".forge/skills/release-notes/scripts/commits.sh",
    ]
    for name, text in blocks:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    config = load_config(
        lambda name: (tmp_path / name).read_text() if (tmp_path / name).exists() else None, {}
    )
    found = capability_setup(tmp_path, config, environ={"ISSUES_TOKEN": "x"})
    assert variables_of(found.config.mcp_servers["issues"]) == ("ISSUES_TOKEN",)
    assert found.policy.network == ("issues",)
    read = read_skill(tmp_path / ".forge" / "skills" / "release-notes", "it", whole=True)
    assert "scripts/commits.sh" in read.instructions
