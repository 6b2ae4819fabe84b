"""Skills in folders: found, read and validated as agentskills.io says."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.skills import files_of, read_skill
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue, discover_capabilities
from tests.fakes.sampled import sampled_rows
from tests.fakes.tool_servers import skill

ROOT = Path(__file__).parents[2]


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
        ("name: deploy\ndescription: [", ":4: did not find expected node content"),
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


def test_the_catalogue_keeps_no_instructions_and_files_are_named_by_kind(tmp_path: Path) -> None:
    place = skill(tmp_path, "deploy", run_sh="true")
    (place / "references").mkdir()
    (place / "references" / "HOSTS.md").write_text("hosts")
    catalogue = discover(tmp_path, tmp_path)
    kept = catalogue.skill_definitions["skill_deploy"]
    assert kept.instructions == ""
    assert files_of(kept) == (("references/HOSTS.md",), ("scripts/run.sh",))


SKILLS = (
    *ROOT.glob("templates/plugin/skills/*"),
    *ROOT.glob("tests/fixtures/team/.forge/skills/*"),
)


@pytest.mark.parametrize("place", SKILLS, ids=[place.name for place in SKILLS])
def test_skills_that_ship_are_valid_for_us_and_for_the_reference_validator(place: Path) -> None:
    assert read_skill(place, place.name, whole=True).instructions
    assert refused(place) == ""


@pytest.mark.parametrize(
    ("front", "valid"),
    sampled_rows(
        [
            ("name: deploy\ndescription: x\nlicense: MIT\nmetadata:\n  author: a", True),
            ("name: deploy\ndescription: x\nallowed-tools: Read Bash(git:*)", True),
            ("name: deploy", False),
            ("name: other\ndescription: x", False),
            ("name: De_ploy\ndescription: x", False),
            ("name: deploy-\ndescription: x", False),
            ("name: de--ploy\ndescription: x", False),
            (f"name: deploy\ndescription: {'x' * 1_025}", False),
        ],
        3,
    ),
)
def test_we_and_the_reference_validator_take_and_refuse_the_same(
    tmp_path: Path, front: str, valid: bool
) -> None:
    folder = "deploy-" if "deploy-" in front else "de--ploy" if "de--" in front else "deploy"
    place = skill(tmp_path, folder, front)
    assert (discover(tmp_path, tmp_path).broken == ()) is valid
    assert (refused(place) == "") is valid


def refused(place: Path) -> str:
    """What PyPI's skills-ref says against a skill."""
    program = Path(sys.executable).parent / "agentskills"
    done = subprocess.run(
        [program, "validate", str(place)], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr
