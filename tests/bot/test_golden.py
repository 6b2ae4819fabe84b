"""A handful of comments as they are, word for word. Renew them with FORGE_GOLDEN=renew after having
read the difference.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.bot.comments.checkpoint_comment import checkpoint
from forge_bot.bot.comments.reply import reply
from forge_bot.bot.comments.tracking_comment import tracking
from forge_bot.gate.messages import help_text
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.pull_request import pull_request
from tests.bot import scene
from tests.bot.catalogue import every_reply, said_at_the_gate

GOLDEN = Path(__file__).parent / "golden"
_LISTS = help_text("/forge", bare=True).rpartition("\n\n")[0]
_OF_THE_LISTS = "(the list of the commands, and that of the flags)"
"""The lists stand in a file and on a page of their own."""


def _pull_request() -> str:
    written = pull_request(
        scene.delivered(),
        {name: scene.text(name) for name in ("design.md", "final-verification.md")},
    )
    return f"# {written.title}\n\n{written.body}"


def _catalogue() -> str:
    return "\n---\n\n".join(
        [
            *(reply.comment("900001").replace(_LISTS, _OF_THE_LISTS) for reply in every_reply()),
            *(f"{said}\n" for said in said_at_the_gate()),
        ]
    )


COMMENTS: dict[str, Callable[[], str]] = {
    "tracking-at-work": lambda: tracking(scene.at_work()),
    "tracking-waiting": lambda: tracking(scene.design_waits()),
    "tracking-done": lambda: tracking(scene.done()),
    "tracking-abandoned": lambda: tracking(scene.abandoned()),
    "tracking-in-trouble": lambda: tracking(
        scene.in_trouble(reply("cancelled", commands=CommandNames()))
    ),
    **{
        f"checkpoint-{name}": lambda made=made: checkpoint(made())
        for name, made in scene.WAITING.items()
    },
    "pull-request": _pull_request,
    "catalogue": _catalogue,
}


@pytest.mark.parametrize("name", COMMENTS)
def test_what_people_read_is_what_was_agreed(name: str) -> None:
    path = GOLDEN / f"{name}.md"
    said = COMMENTS[name]()
    if os.environ.get("FORGE_GOLDEN") == "renew":
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8")
