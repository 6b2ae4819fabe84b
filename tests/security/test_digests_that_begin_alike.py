"""Two versions of a document whose digests begin alike: who can push a document can look for them,
and an approval of the one that was shown is none of the other.
"""

from itertools import count
from typing import Any

from forge_bot.engine.gates import digest
from forge_bot.engine.state import ShownVersion
from forge_bot.gate.arguments import SHORTEST_DIGEST
from forge_bot.git import blob_id
from forge_bot.values import PhaseId
from tests.bot.stage import Stage


def alike(state: dict[str, Any], design: str) -> tuple[str, str, str]:
    """Two versions of a design, and the beginning that the digests of the open gate with them
    have in common.
    """
    gate, found = state["gate"], dict[str, str]()
    for number in count():
        text = f"{design}\nVersion {number}.\n"
        files = [
            ShownVersion(
                name=each["name"],
                blob=blob_id(text.encode()) if each["name"] == "design.md" else each["blob"],
            )
            for each in gate["files"]
        ]
        named = (state["requestHash"], state["baseCommit"], files, gate["subject"])
        begins = digest(PhaseId(gate["name"]), gate["round"], *named)[:SHORTEST_DIGEST]
        if begins in found:
            return found[begins], text, begins
        found[begins] = text
    raise AssertionError


def test_the_beginning_of_a_digest_does_not_approve_another_version_that_begins_so(
    waiting: Stage,
) -> None:
    path = next(name for name in waiting.files() if name.endswith("/design.md"))
    read, pushed, begins = alike(waiting.state, waiting.files()[path])

    def push(text: str) -> None:
        now = waiting.hub.clock.tick()
        waiting.repo.bare.commit(waiting.branch, {path: text}, "By hand", "mallory <m@b.c>", now)

    push(read)
    waiting.say("/forge status")
    shown = waiting.state["gate"]["digest"]
    assert shown.startswith(begins)
    approval = waiting.comment(f"/approve {begins}")
    waiting.delivered(approval, then=lambda: push(pushed))
    other = waiting.state["gate"]["digest"]
    assert other.startswith(begins)
    assert other != shown
    assert waiting.state["currentPhaseStatus"] == "awaiting_human"
    [said] = waiting.said("reply occasion=stale-approval")
    assert f"/approve {other}" in said
    waiting.say(f"/approve {other}")
    assert waiting.state["currentPhaseStatus"] == "completed"
