"""Read the points where past runs got stuck: `## Improvement Report` in their summaries."""

import re

from forge_bot.artifacts.markdown import BlockKind
from forge_bot.artifacts.sections import blocks_within
from forge_bot.project.search_words import one_line

_HEADING = "improvement report"
_NOTHING = re.compile(
    r"\W*(?:none|nothing|n/?a|no (?:\w+"
    r" )?(?:friction|issues?|problems?|points?|suggestions?|improvements?))"
    r"(?: (?:(?:was|were) )?(?:observed|found|noted|identified|reported|to report|needed))?\W*",
    re.IGNORECASE,
)


def read_friction(summary: str) -> tuple[str, ...]:
    """Return the bullets of a summary's improvement report, one line each.

    The line includes the text indented below the bullet. Bullets that report nothing and text
    outside bullets are left out.
    """
    points: list[str] = []
    for block in blocks_within(summary, _HEADING):
        if block.kind is not BlockKind.TEXT or not block.depth or block.quoted:
            continue
        if block.depth == 1 and block.starts_item:
            points.append(block.text)
        elif points:
            points[-1] += f" {block.text}"
    kept = (one_line(point) for point in points if not _NOTHING.fullmatch(point))
    return tuple(dict.fromkeys(point for point in kept if point))
