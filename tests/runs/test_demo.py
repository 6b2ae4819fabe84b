"""The demo replays its record from end to end: real git, real engine, real tests from red to
green.
"""

import subprocess
import sys
from pathlib import Path

from forge_bot.agent.models.recorded import read_exchanges
from forge_bot.resources import templates
from tests.fakes.finished import Demo
from tests.fakes.sample import Sample

RECORD = templates() / "demo" / "record.jsonl"


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
    ).stdout


def test_it_ends_with_a_branch_a_diff_and_tests_that_went_from_red_to_green(
    played_demo: Demo, tmp_path: Path
) -> None:
    assert "model's words are recorded" in played_demo.out.replace("\n", " ")
    assert "To go live" in played_demo.out
    assert "You decide" in played_demo.out, "a decision comes first"
    assert "and 1a" in played_demo.out
    assert "○ python3 -m unittest" in played_demo.out, "the baseline is red"
    assert "✗" not in played_demo.out, "nothing is newly red"
    folder = played_demo.repository.root
    branch = next(
        name
        for name in git(folder, "branch", "--format=%(refname:short)").split()
        if name.startswith("feature/")
    )
    assert branch in played_demo.out
    told = played_demo.out.replace("\n", " ")
    assert "git switch main && git merge " in told
    # Nobody is in its folder yet.
    assert f"cd {folder} && forge-bot show summary.md" in told
    workspace = next(
        line
        for line in git(folder, "ls-tree", "-r", "--name-only", branch).splitlines()
        if line.endswith("summary.md")
    ).rpartition("/")[0]
    verification = git(folder, "show", f"{branch}:{workspace}/final-verification.md")
    assert "Result: **green**" in verification
    assert "| 0 |" in verification
    assert "exit code 1" in verification, "what it was before the change"
    git(tmp_path, "clone", "-q", "--branch", branch, str(folder), "look")
    assert (
        subprocess.run(
            [sys.executable, "-m", "unittest"],
            cwd=tmp_path / "look",
            check=False,
            capture_output=True,
        ).returncode
        == 0
    )


def test_a_folder_that_is_not_empty_is_left_alone(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("kept")
    refused = sample.forge("demo", str(tmp_path / "mine"), "--yes")
    assert refused.code == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["work.txt"]


def test_the_record_names_its_agents_and_phases_and_holds_no_secret() -> None:
    exchanges = read_exchanges(RECORD)
    assert {exchange.agent for exchange in exchanges} >= {
        "situation-analyst",
        "architect",
        "implementer",
        "impl-reviewer",
    }
