"""The operations of the fake, one file for each area; importing this registers them all."""

from tests.fakes.github.routes import (
    actions,
    checks,
    comments,
    contents,
    issues,
    labels,
    people,
    pulls,
    reactions,
    refs,
    repositories,
)

__all__ = [
    "actions",
    "checks",
    "comments",
    "contents",
    "issues",
    "labels",
    "people",
    "pulls",
    "reactions",
    "refs",
    "repositories",
]
