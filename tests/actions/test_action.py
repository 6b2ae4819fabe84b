"""The shipped action, called by its name as a consumer does, on the events of GitHub; seen by what
it left there.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.forge import wake_workflow_text
from tests.actions.conftest import WORKFLOWS
from tests.actions.runner import RELEASE, Runner, missing
from tests.bot.stage import BOT, PERMISSIONS, SECRET, Job, heard

# One process for all of them: what they wait for is the machine itself.
pytestmark = [pytest.mark.skipif(bool(missing()), reason=missing())]


WITH_SETUP = """setup_without_namespace: true
commands:
  setup: [[python3, -m, venv, --without-pip, node_modules]]
"""


def green(job: Job | None) -> Job:
    """The job of an event that was delivered, and that nothing failed in."""
    job = heard(job)
    assert job.code == 0, job.log
    return job


@pytest.mark.slow
def test_a_label_leads_to_a_question_and_an_approval_to_a_pull_request(
    runner: Runner, tmp_path: Path
) -> None:
    asked = green(runner.label())
    log = asked.log
    assert len(runner.said("tracking")) == len(runner.said("checkpoint")) == 1, log
    assert runner.state["currentPhaseStatus"] == "awaiting_human"
    assert "[!IMPORTANT]" in asked.summary

    log += offers_a_pull_request(runner, tmp_path)
    assert SECRET not in log


@pytest.mark.slow
def test_an_approval_leads_to_a_pull_request(runner: Runner, tmp_path: Path) -> None:
    runner.warm = True
    green(runner.label())
    runner.warm = False
    assert SECRET not in offers_a_pull_request(runner, tmp_path)


def offers_a_pull_request(runner: Runner, folder: Path) -> str:
    """The question is approved, and the job of that ends with a pull request; its log."""
    done = green(runner.say("/approve"))
    assert runner.state["currentPhaseStatus"] == "completed", done.log
    assert "[!TIP]" in done.summary
    assert runner.pull.pull is not None
    assert (runner.pull.pull.head, runner.pull.pull.draft) == (runner.offered, False)
    assert any(name.startswith(".specs/") for name in runner.files())
    passes(runner, folder / "merged")
    return done.log


def passes(runner: Runner, folder: Path) -> None:
    """What the branch holds is the change, and its tests pass for somebody who fetches it."""
    subprocess.run(
        ["git", "clone", "-q", "--branch", runner.branch, str(runner.repo.bare.path), str(folder)],
        check=True,
    )
    ran = subprocess.run(
        [sys.executable, "-m", "unittest", "discover", "-t", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "return None" in (folder / "rota" / "schedule.py").read_text(encoding="utf-8")
    assert (folder / "tests" / "test_before.py").is_file()


def test_strangers_and_talk_start_nothing_and_install_nothing(runner: Runner) -> None:
    refused = green(runner.say("/forge", by="stranger"))
    assert runner.branches() == ["main"]
    assert 'Main exec "$FORGE_BOT_PYTHON"' in refused.log
    assert "scripts/action/install" not in refused.log
    talk = green(runner.say("What a nice idea!"))
    assert "FORGE_BOT_PYTHON" not in talk.log


def test_a_workflow_that_is_set_up_wrongly_is_red_and_says_what_is_wrong(runner: Runner) -> None:
    path = f"{WORKFLOWS}/forge-bot.yml"
    runner.files_here = {
        path: (
            runner.files_here[path].replace(
                "        with:\n", "        with:\n          role: king\n"
            )
        )
    }
    job = runner.label()
    assert job.code == 1
    assert "FORGE_BOT_ROLE is 'king'" in job.log
    assert runner.said() == []


def test_the_first_words_are_there_though_nothing_can_be_installed_and_then_they_say_that(
    runner: Runner,
) -> None:
    path = f"{WORKFLOWS}/forge-bot.yml"
    runner.files_here = {
        path: (
            runner.files_here[path].replace(
                "        with:\n", "        with:\n          extras: Goo;gle\n"
            )
        )
    }
    begun: list[str] = []
    runner.hub.faults.meanwhile(
        r"PATCH .*/issues/comments/", lambda: begun.extend(runner.said("tracking"))
    )
    job = runner.label()
    assert job.code == 1
    assert "FORGE_BOT_EXTRAS" in job.log
    assert [reaction.content for reaction in runner.issue.reactions] == ["eyes"]
    assert "has begun" in begun[0]
    assert "could not be set up" in runner.said("tracking")[0]
    assert "could not be set up" in job.summary
    assert runner.branches() == ["main"]


@pytest.mark.slow
def test_the_scheduled_workflow_lets_a_run_go_on_that_waits(runner: Runner) -> None:
    wakes = wake_workflow_text(RELEASE)
    runner.files_here = {**runner.files_here, f"{WORKFLOWS}/forge-bot-wake.yml": wakes}
    runner.hub.commit(runner.repo, "main", {**runner.files_here})
    runner.permissions = PERMISSIONS | {"actions": "write"}
    runner.warm, runner.environ["FORGE_BOT_STOP"] = True, "while nobody is there"
    green(runner.label())
    assert runner.state["pause"]["why"] == "switch"
    runner.warm = False

    called, runner.called = runner.called, "forge-bot-wake.yml"
    woken = green(runner.started("schedule", {}, BOT).ended())
    assert "#1: goes on" in woken.log
    runner.called = called
    assert "awaiting_human" not in str(runner.state), woken.log
    asked = green(runner.dispatched())
    assert runner.state["currentPhaseStatus"] == "awaiting_human", asked.log
    assert len(runner.said("checkpoint")) == len(runner.said("tracking")) == 1


@pytest.mark.slow
def test_the_workflow_with_the_wall_leads_to_a_pull_request_too(parted: Runner) -> None:
    parted.hub.commit(parted.repo, "main", {".forge/config.yml": WITH_SETUP})
    log = green(parted.label()).log
    assert len(parted.said("tracking")) == len(parted.said("checkpoint")) == 1, log
    (kept,) = Path(f"{parted.variables['SHIPPED']}.caches").iterdir()
    assert "/environment/ready" in subprocess.check_output(["tar", "-tPf", kept], text=True)
    log = green(parted.say("/approve")).log
    assert parted.state["currentPhaseStatus"] == "completed", log
    assert parted.pull.pull is not None
    assert parted.pull.pull.head == parted.offered
    assert SECRET not in log
