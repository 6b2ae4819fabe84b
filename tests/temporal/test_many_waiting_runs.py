"""Many runs of one clone wait on one server: what they take, and what a lost worker costs them."""

import logging
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest

from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, clone
from tests.temporal.scene import server as started
from tests.temporal.test_lost_workers import answers_heard

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("server")]

MANY = int(os.environ.get("FORGE_TEST_WAITING_RUNS", "4"))
_AT_ONCE = 4

FIGURES = logging.getLogger(__name__)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Clone]:
    """A clone whose commands take no time, and a server that soon counts a worker as lost."""
    with started(tmp_path / "server") as its_own, clone(tmp_path / "clone", its_own) as it:
        it.environ |= {"FORGE_BOT_TEMPORAL_SILENCE": "4"}
        config = it.path / ".forge" / "config.yml"
        config.parent.mkdir(exist_ok=True)
        config.write_text("commands: {setup: [], build: [], test: [[git, --version]], lint: []}\n")
        it.git("add", "-A")
        it.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "fast")
        yield it


def megabytes(process: "subprocess.Popen[str] | subprocess.Popen[bytes] | None") -> float:
    assert process is not None
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def runs_of(place: Clone) -> list[str]:
    names = place.git("branch", "--list", "--format=%(refname:short)", "feature/*").split()
    return [place.git("ls-tree", "--name-only", f"{name}:.specs").split()[-1] for name in names]


def test_many_waiting_runs_go_on_after_their_worker_is_killed_twice(alone: Clone) -> None:
    worker = alone.start_worker()
    alone.begin(f"{TASK} first")
    before = megabytes(worker), megabytes(alone.server.process)
    begins = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        begun = list(pool.map(alone.begin, (f"{TASK} {number}" for number in range(1, MANY))))
    assert [one.code for one in begun] == [3] * (MANY - 1)
    waiting = megabytes(worker), megabytes(alone.server.process)
    asked = time.monotonic()

    names = runs_of(alone)
    assert len(names) == MANY
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = [pool.submit(alone.forge, "approve", "--run", name) for name in names]
        for number, _ in enumerate(as_completed(answers), 1):
            if number in {MANY // 4, MANY // 2}:
                worker.kill()
                worker.communicate()
                worker = alone.start_worker()
        said = [answer.result() for answer in answers]
    assert [one.code for one in said] == [0] * MANY, [one.err for one in said if one.code]
    heard = [answers_heard(file) for file in alone.folder.rglob("journal.jsonl")]
    assert Counter(count for journal in heard for count in journal.values()).keys() == {1}
    FIGURES.info(
        "%d runs; worker %.1f → %.1f MB, server %.1f → %.1f MB; asked in %.0f s, over %.0f s later",
        *(MANY, before[0], waiting[0], before[1], waiting[1]),
        *(asked - begins, time.monotonic() - asked),
    )
