"""The work on a run ends after the time that the configuration allows, and can go on."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from forge_bot.errors import TimeUsedUp
from forge_bot.runs.run_clock import RunClock
from tests.fakes.sample import Sample

SLOW = """import time, unittest


class Slow(unittest.TestCase):
    def test_that_waits(self):
        time.sleep(60)
"""


def test_a_run_stops_in_the_middle_of_a_command_and_goes_on_from_there(sample: Sample) -> None:
    (sample.path / ".forge").mkdir()
    config = sample.path / ".forge" / "config.yml"
    config.write_text("run_seconds: 3\n")
    (sample.path / "tests" / "test_slow.py").write_text(SLOW)
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "slow")
    began = time.monotonic()
    said = sample.forge("run", "Guard it", "--effort", "S", "--model", sample.model())
    assert (said.code, "RUN-" in said.err) == (4, True)
    assert time.monotonic() - began < 40
    assert "has been worked on for 3" in said.err
    assert "forge-bot resume" in said.err
    state = json.loads(sample.forge("status", "--json").out)
    assert state["currentPhase"] == "setup"
    config.write_text("run_seconds: 600\ncommands: {test: []}\n")
    said = sample.forge("resume", "--model", sample.model())
    assert said.code == 3, said.err
    assert json.loads(sample.forge("status", "--json").out)["currentPhase"] == "checkpoint-a"


def test_time_of_earlier_invocations_counts_and_a_wait_for_a_person_does_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "worked-seconds").write_text("100.0\n")
    clock = RunClock(tmp_path, 100)

    async def asks() -> None:
        async with clock.limited():
            with clock.paused():
                for _ in range(50):
                    await asyncio.sleep(0)

    asyncio.run(asks())
    assert float((tmp_path / "worked-seconds").read_text()) >= 100

    async def waits() -> None:
        async with RunClock(tmp_path, 100).limited():
            await asyncio.Event().wait()

    with pytest.raises(TimeUsedUp):
        asyncio.run(waits())
    assert (tmp_path / "worked-seconds").read_text() == "0.0\n"


def test_without_a_limit_nothing_is_counted_and_a_broken_count_is_no_error(tmp_path: Path) -> None:
    async def work(limit: float | None) -> bool:
        async with RunClock(tmp_path, limit).limited():
            return True

    assert asyncio.run(work(None))
    assert not (tmp_path / "worked-seconds").exists()
    (tmp_path / "worked-seconds").write_text("many")
    assert asyncio.run(work(5))
