"""The work on a run ends after the time that the configuration allows, and can go on."""

import asyncio
import json
import time

import pytest

from forge_bot.errors import TimeUsedUp
from forge_bot.runs.this_process import paused, time_limit
from tests.fakes.sample import Sample

SLOW = """import time, unittest


class Slow(unittest.TestCase):
    def test_that_waits(self):
        time.sleep(60)
"""


@pytest.mark.slow
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


def test_a_wait_for_a_person_does_not_count() -> None:
    async def asks() -> None:
        async with time_limit(100) as timeout:
            before = timeout.when()
            with paused(timeout):
                assert timeout.when() is None
            after = timeout.when()
            assert before is not None
            assert after is not None
            assert after > before

    async def waits() -> None:
        async with time_limit(0.01):
            await asyncio.Event().wait()

    asyncio.run(asks())
    with pytest.raises(TimeUsedUp):
        asyncio.run(waits())
