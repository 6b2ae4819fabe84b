"""A clock that was set back, and files that all have one time: what counts is the order of the
reports and what is in the files.
"""

import json
from datetime import datetime, timedelta

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import SHORT
from tests.recovery.world import World


def set_forward(world: World, days: int) -> None:
    """Let everything that was recorded so far have happened in the future, and commit that."""
    file = world.here / "reports.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line["at"] = (datetime.fromisoformat(line["at"]) + timedelta(days=days)).isoformat()
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    world.git("commit", "-qam", "times of a clock that is fast", folder=world.tree)


@pytest.mark.slow
def test_a_bare_approval_means_what_was_shown_last_though_the_clock_was_set_back(
    short: Told,
) -> None:
    world, parts = short
    world.back("1")
    set_forward(world, 1)
    assert world.forge(*SHORT[1].words)[0] == 0, world.printed
    now, then = world.standing(), parts[1].standing
    assert (now.code, now.reports, now.artifacts) == (then.code, then.reports, then.artifacts)
