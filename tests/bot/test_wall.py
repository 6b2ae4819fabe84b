"""A run across the wall: what runs the model cannot write, what writes has no model, and what comes
across is believed nothing.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.bot.parted import Parted
from tests.bot.stage import Job
from tests.fakes.github import FakeGitHub


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Parted:
    return Parted(github, tmp_path / "jobs", tmp_path / "script.jsonl")


def heard(job: Job | None) -> Job:
    assert job is not None
    return job


def test_commits_that_a_worker_may_not_make_are_not_pushed_though_its_machine_swears_by_them(
    stage: Parted, tmp_path: Path
) -> None:
    def forged(folder: Path) -> None:
        told = json.loads((folder / "delivered.json").read_text())
        more = tampered(folder / "commits.bundle", stage, tmp_path / "forger")
        told["commits"].append(more)
        (folder / "delivered.json").write_text(json.dumps(told))

    stage.on_the_way = forged
    job = stage.label()
    assert job.code == 5, job.log
    assert ".github/workflows/evil.yml" not in stage.files()
    assert "analysis.md" not in " ".join(stage.files())
    assert "were not pushed" in "".join(stage.said("tracking"))


@pytest.mark.slow
def test_words_that_are_none_and_files_that_are_no_bundle_are_refused(stage: Parted) -> None:
    def broken(folder: Path) -> None:
        (folder / "commits.bundle").write_bytes(b"# v2 git bundle\nnothing of the kind")

    stage.on_the_way = broken
    assert stage.label().code == 5

    def strange(folder: Path) -> None:
        (folder / "delivered.json").write_text('{"commits": ["--upload-pack=sh"]}')

    stage.on_the_way = strange
    assert heard(stage.say("/retry")).code == 5
    assert "analysis.md" not in " ".join(stage.files())


@pytest.mark.slow
def test_what_a_person_pushed_in_the_meantime_counts_and_the_work_is_done_again_from_there(
    stage: Parted,
) -> None:
    pushed: list[str] = []

    def meanwhile(folder: Path) -> None:
        del folder
        if not pushed:
            pushed.append(
                stage.repo.bare.commit(
                    stage.branch,
                    {"NOTE.md": "by hand\n"},
                    "By hand",
                    "ann <a@b.c>",
                    stage.hub.clock.tick(),
                )
            )

    stage.on_the_way = meanwhile
    job = stage.label()
    assert job.code == 0, job.log
    assert stage.files()["NOTE.md"] == "by hand\n"
    assert stage.state["currentPhaseStatus"] == "awaiting_human"


def tampered(bundle: Path, stage: Parted, folder: Path) -> str:
    """The worker's commits with one more on top that changes a workflow, under the name of the
    run.
    """
    address = f"{stage.repo.bare.path}"

    def git(*words: str) -> str:
        who = ("-c", "user.name=forge-bot", "-c", "user.email=forge-bot@users.noreply.github.com")
        return subprocess.run(
            ["git", *who, "-C", str(folder), *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    subprocess.run(
        ["git", "clone", "-q", "--branch", stage.branch, address, str(folder)], check=True
    )
    before = git("rev-parse", "HEAD")
    git("fetch", "-q", str(bundle), "+refs/forge-bot/carried:refs/forge-bot/carried")
    git("reset", "-q", "--hard", "refs/forge-bot/carried")
    (folder / ".github" / "workflows").mkdir(parents=True)
    (folder / ".github" / "workflows" / "evil.yml").write_text("on: push\n")
    git("add", "-A")
    run = next(
        line.removeprefix("Forge-Run: ")
        for line in git("log", "-1", "--format=%B").splitlines()
        if line.startswith("Forge-Run: ")
    )
    git("commit", "-qm", f"forge-bot: more\n\nForge-Run: {run}")
    git("update-ref", "refs/forge-bot/carried", "HEAD")
    git("bundle", "create", "--quiet", str(bundle), f"^{before}", "refs/forge-bot/carried")
    return git("rev-parse", "HEAD")
