"""Limits of GitHub while runs that a server leads publish: they wait, and go on by themselves."""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot.git import Repository
from forge_bot.runs.wall_clock import now
from forge_bot.temporal.run_place import workflow_id
from tests.fakes.sample import Said
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, Server, clone

PRIMARY = "GraphQL: API rate limit exceeded for user ID 1."
SECONDARY = "HTTP 403: You have exceeded a secondary rate limit."
_GH = """#!/bin/sh
cd '{folder}' || exit 1
case "$1 $2" in
  "api rate_limit") cat limits.json ;;
  *)
    if [ -e limited ]; then cat limited >&2; exit 1; fi
    echo "$1 $2" >> asked
    echo https://github.com/o/r/pull/7 ;;
esac
"""


@dataclass
class LimitedClone:
    """A clone whose `gh` is told of a limit while there is a file that says so."""

    place: Clone

    @property
    def folder(self) -> Path:
        return self.place.folder / "tools"

    def limit(self, words: str, seconds: int) -> None:
        used_up = {"limit": 5000, "remaining": 0, "reset": int(now().timestamp()) + seconds}
        free = {"limit": 30, "remaining": 30, "reset": int(now().timestamp()) + 9 * seconds}
        limits = {"resources": {"graphql": used_up, "search": free}}
        (self.folder / "limits.json").write_text(json.dumps(limits))
        (self.folder / "limited").write_text(f"{words}\n")

    def lift(self) -> None:
        (self.folder / "limited").unlink()

    @property
    def opened(self) -> list[str]:
        """The successful commands of gh."""
        return (self.folder / "asked").read_text().splitlines()

    def timers(self) -> list[int]:
        """The seconds of the timers that the workflow of the run has started."""
        attributes = [each.timer_started_event_attributes for each in self.place.history().events]
        return [each.start_to_fire_timeout.seconds for each in attributes if each.timer_id]


@pytest.fixture
def limited(server: Server, tmp_path: Path) -> Iterator[LimitedClone]:
    with clone(tmp_path / "clone", server) as place:
        it = LimitedClone(place)
        it.folder.mkdir()
        (it.folder / "gh").write_text(_GH.format(folder=it.folder))
        (it.folder / "gh").chmod(0o755)
        place.environ["PATH"] = f"{it.folder}{os.pathsep}{place.environ['PATH']}"
        place.start_worker()
        yield it


def told(said: Said) -> str:
    return said.out + said.err


def test_a_limit_while_a_pull_request_is_opened_is_waited_for_and_is_no_question_to_a_person(
    limited: LimitedClone,
) -> None:
    place = limited.place
    begun = place.begin(TASK, "--open-pr")
    assert begun.code == 3, told(begun)
    limited.limit(PRIMARY, 1234)
    said = place.forge("approve")
    assert (said.code, "GITHUB-006" in told(said)) == (1, True), told(said)
    assert "The run goes on by itself in 21 minutes" in told(said)
    (seconds,) = limited.timers()
    assert 1200 < seconds <= 1235
    assert not [line for line in place.reports() if '"type":"action_failed"' in line]
    limited.lift()
    done = place.forge("resume")
    assert done.code == 0, told(done)
    assert "https://github.com/o/r/pull/7" in told(done)
    assert limited.opened == ["pr create"]


@pytest.mark.slow
def test_runs_that_meet_a_secondary_limit_go_on_without_a_word_after_a_minute(
    limited: LimitedClone,
) -> None:
    place = limited.place
    limited.limit(SECONDARY, 0)
    for branch in ("fix/one", "fix/two"):
        said = place.begin(TASK, "--open-pr", "--auto", "--branch", branch)
        assert (said.code, "GITHUB-006" in told(said)) == (1, True), told(said)
        assert "The run goes on by itself in 1 minute" in told(said)
    own = place.git("for-each-ref", "--format=%(refname)", "refs/heads/feature").split()
    names = [place.git("ls-tree", "--name-only", f"{each}:.specs").split()[-1] for each in own]
    limited.lift()

    async def ended() -> list[str]:
        client = await Client.connect(place.server.address, data_converter=pydantic_data_converter)
        ids = [workflow_id(Repository.find(place.path), name) for name in names]
        return [await client.get_workflow_handle(each).result() for each in ids]

    assert asyncio.run(ended()) == ["done", "done"]
    assert limited.opened == ["pr create"] * 2
