"""An action asked for again comes back at once while nothing happened, and is made anew whenever
anything did.
"""

import asyncio
from collections.abc import Callable

import pytest

from forge_bot.mcp_server.client_runs.client_actions import ClientAction
from forge_bot.mcp_server.service import Service
from forge_bot.runs.notifications import Notice
from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled
from tests.mcp_server.host import hosting

TASK = "Nobody is on call before the start"


def unheard(_notice: Notice) -> None:
    """Nobody listens."""


async def at_hand(sample: Sample, stop: str) -> tuple[Service, str, ClientAction]:
    """A desk that has handed out a prompt or a question, for which files prove something at once;
    and what it handed out.
    """
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.drive(await host.next(), stop)
    desk = Service([sample.path], moment=0)
    return desk, host.workspace, desk.next_action(host.workspace, {}, "test", unheard)


@pytest.mark.parametrize("stop", ["spawn_agent", "checkpoint"])
async def test_asked_again_it_is_the_same(sample: Sample, stop: str) -> None:
    desk, place, found = await at_hand(sample, stop)
    again: list[ClientAction | None] = []
    again.append(desk.asked_again(place, {"complete": False, "user_response": ""}))
    assert again[0] is not None
    assert (again[0].action, again[0].question, again[0].news) == (
        found.action,
        found.question,
        False,
    )
    assert desk.asked_again(place, {"user_response": "approve"}) is None
    assert desk.asked_again(place, {"action_id": found.action.action_id, "complete": True}) is None
    assert desk.asked_again(".specs/other", {}) is None


def _commit(sample: Sample) -> None:
    sample.git(
        "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "mine"
    )


def _configured(sample: Sample, name: str, text: str) -> None:
    file = sample.path / ".forge" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


CHANGES: dict[str, Callable[[Sample, str], object]] = {
    "a document is edited": (
        lambda sample, place: (sample.path / place / "design.md").write_text(
            "# Other\n", encoding="utf-8"
        )
    ),
    "a document is gone": lambda sample, place: (sample.path / place / "design.md").unlink(),
    "a document is new": (
        lambda sample, place: (sample.path / place / "new.md").write_text("", encoding="utf-8")
    ),
    "the record went on": lambda sample, _place: sample.forge("abandon"),
    "another branch is checked out": lambda sample, _place: sample.git("switch", "-q", "main"),
    "the branch has another commit": lambda sample, _place: _commit(sample),
    "branches are packed": lambda sample, _place: sample.git("pack-refs", "--all"),
    "the configuration is another": lambda sample, _place: _configured(
        sample, "config.yml", "budget: 3\n"
    ),
    "a prompt is another": lambda sample, _place: _configured(
        sample, "prompts/architect.md.j2", "Say nothing.\n"
    ),
    "a pipeline is another": lambda sample, _place: _configured(
        sample, "pipelines/develop.yaml", "phases: []\n"
    ),
}


@pytest.mark.parametrize("what", sampled(CHANGES, 3))
async def test_whatever_it_rests_on_makes_it_anew(clients_sample: Sample, what: str) -> None:
    (folder,) = (clients_sample.path / ".specs").iterdir()
    desk, place = Service([clients_sample.path], moment=0), f".specs/{folder.name}"
    desk.next_action(place, {}, "test", unheard)
    assert desk.asked_again(place, {}) is not None
    await asyncio.to_thread(CHANGES[what], clients_sample, place)
    assert desk.asked_again(place, {}) is None


async def test_a_file_that_has_just_changed_proves_nothing(sample: Sample) -> None:
    _, place, _ = await at_hand(sample, "checkpoint")
    desk = Service([sample.path])
    desk.next_action(place, {}, "test", unheard)
    assert desk.asked_again(place, {}) is None
