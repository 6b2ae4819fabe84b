"""Real packages come from a fresh clone to a baseline that can be judged by.

`$FORGE_BASELINES` is the folder with their git directories, as OWNER/NAME; variables for their
commands, such as the address of a mirror, stand in `$FORGE_BASELINES_SET` as NAME=VALUE, parted by
blanks.
"""

import os
from pathlib import Path

import pytest

from benchmarks.baselines import baseline, wanted
from forge_bot.verification.judgement import unusable

PLACE = Path(os.environ.get("FORGE_BASELINES") or "not-given")
VARIABLES = dict(each.split("=", 1) for each in os.environ.get("FORGE_BASELINES_SET", "").split())


# The proxy of setup belongs to the test's own process, and these tests need registries.
@pytest.mark.block_network(allowed_hosts=[".*"])
@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", [each for each in wanted() if not each["misses"]], ids=lambda each: each["repository"]
)
def test_a_real_package_is_set_up_and_its_tests_can_be_judged(entry: dict[str, str]) -> None:
    place = PLACE / entry["repository"]
    if not place.is_dir():
        pytest.skip(f"{entry['repository']} is not in $FORGE_BASELINES")
    found = baseline(place, entry["commit"], VARIABLES)
    assert unusable(found.results) == (), found.told
