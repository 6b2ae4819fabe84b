"""Wherever two places must agree, they are compared."""

import ast
import re
import socket
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from forge_bot import __version__
from forge_bot.cli.app import run
from forge_bot.engine.phases import AnsweringPhase, DecisionPhase, GatePhase
from forge_bot.engine.step_phases import AGENT as STEP_WRITER
from forge_bot.prompts.environment import Environment
from forge_bot.resources import templates
from forge_bot.runs.models_and_prompts import INQUIRY, PERFORMER
from forge_bot.settings.config import AgentSettings, CommandSettings, Config
from tests.fakes.bench import SHIPPED
from tests.fakes.own_code import nodes_of_files

ROOT = Path(__file__).parent.parent


def test_no_test_reaches_beyond_this_machine() -> None:
    with socket.socket() as made, pytest.raises(RuntimeError, match="Network is disabled"):
        made.connect(("192.0.2.1", 9))


def test_the_wheel_carries_every_template_and_nothing_else(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    wheel = next(tmp_path.glob("*.whl"))
    packed = {
        name.removeprefix("forge_bot/templates/")
        for name in zipfile.ZipFile(wheel).namelist()
        if "/templates/" in name
    }
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "templates"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert packed == {name.removeprefix("templates/") for name in listed.stdout.splitlines()}
    assert __version__ in wheel.name


def test_every_agent_has_a_template_and_every_template_an_agent() -> None:
    agents = {*SHIPPED.agents, INQUIRY, PERFORMER, STEP_WRITER}
    assert {
        path.name.removesuffix(".md.j2") for path in (templates() / "prompts").glob("[!_]*.j2")
    } == agents
    Environment().check(agents)


def test_every_key_of_the_configuration_is_documented() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    for key in (*Config.model_fields, *AgentSettings.model_fields, *CommandSettings.model_fields):
        assert f"`{key}`" in page, key


def helped(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run([*words, "--help"]) == 0
    return capsys.readouterr().out


def test_every_command_and_option_that_the_readme_names_exists(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = set(
        re.findall(r"^  ([a-z]+)  ", helped(capsys).partition("Commands:")[2], re.MULTILINE)
    )
    readme = (ROOT / "README.md").read_text()
    code = "\n".join(re.findall(r"^```.*?^```|`[^`\n]+`", readme, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"forge-bot ([a-z]+)", code)) | set(
        re.findall(r"· `([a-z]+)(?: [^`]*)?`", readme)
    )
    assert {"run", "approve", "reject", "resume", "status", "demo", "continue", "abandon"} <= named
    assert named <= commands, named - commands
    everything = helped(capsys) + "".join(helped(capsys, command) for command in commands)
    assert [
        option for option in re.findall(r"--[a-z]+(?:-[a-z]+)*", readme) if option not in everything
    ] == []


def test_every_option_that_a_sentence_or_a_page_gives_to_a_command_is_one_of_that_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pages = (*(templates() / "sentences" / "en").glob("*.*"), *ROOT.glob("docs/*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages).replace("\\\n", "")
    named: dict[str, set[str]] = {}
    for command, rest in re.findall(r"forge-bot ([a-z]+)((?: (?!forge-bot)[^\s`;|]+)*)", text):
        named.setdefault(command, set()).update(re.findall(r" (--[a-z]+(?:-[a-z]+)*)", rest))
    groups = ("graph", "capabilities")
    for command in named.keys() - {"in", *groups}:
        unknown = [each for each in named[command] if each not in helped(capsys, command)]
        assert unknown == [], command


def test_the_floors_of_the_linter_are_those_of_the_page() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    floors = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert len(floors) <= 14
    for room in (room.strip() for floor in floors for room in re.split("[|:]", floor)):
        assert f"`{room}`" in page, room


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {word.replace(" ", "-") for word in words}


def test_every_page_and_heading_that_is_linked_exists() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text("utf-8"))
        for link, anchor in links:
            target = page.parent / link if link else page
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors_of(target), f"{page.name}: {link}#{anchor}"


@pytest.mark.parametrize("page", ["AGENTS.md", "docs/architecture.md"])
def test_every_file_and_folder_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {
        name
        for name in re.findall(r"`([\w./*-]+)`", text)
        if name.endswith(".py") or (name.endswith("/") or "/" in name[1:-1])
    }
    ours = {name for name in named if not name.startswith((".", "/", "refs/", "origin/"))}
    assert ours
    assert [name for name in sorted(ours) if not _exists(name)] == []


def _exists(name: str) -> bool:
    """Whether there is such a file, folder or pattern: from the root, in the package, or anywhere
    in it if only its name is given.
    """
    folders = (ROOT, ROOT / "forge_bot", ROOT / "tests") if "/" in name else ()
    return any(next(folder.glob(name.rstrip("/")), None) for folder in folders) or bool(
        "/" not in name
        and any(next((ROOT / room).rglob(name), None) for room in ("forge_bot", "tests"))
    )


def test_agents_page_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 50


@pytest.mark.parametrize(
    "heavy", ["pydantic_ai", "github", "rank_bm25", "numpy", "openai", "anthropic", "html5lib"]
)
def test_help_loads_nothing_heavy(heavy: str) -> None:
    code = (
        f"import sys\nfrom forge_bot.cli.app import run\nrun(['--help'])\nsys.exit({heavy!r} in"
        " sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )


def test_nothing_in_the_repository_speaks_of_the_machine_it_was_made_on() -> None:
    words = ["/" + "work/main", "/" + "root/", "/tmp" + "/lab"]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in listed:
        path = ROOT / name
        if path.is_file() and path.suffix in {
            ".py",
            ".md",
            ".j2",
            ".yaml",
            ".yml",
            ".toml",
            ".jsonl",
            ".json",
            "",
        }:
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [word for word in words if word in text], name


def test_no_code_names_a_phase_an_agent_or_a_document_of_the_pipeline() -> None:
    named = {
        *SHIPPED.agents,
        *(
            phase.id
            for phase in SHIPPED.phases
            if isinstance(phase, AnsweringPhase | GatePhase | DecisionPhase)
        ),
    }
    named |= {phase.writes for phase in SHIPPED.speaking} | {
        phase.writes.partition("{")[0] for phase in SHIPPED.speaking if "{" in phase.writes
    }
    for path, nodes in nodes_of_files().items():
        found = [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert not named & set(found), path
