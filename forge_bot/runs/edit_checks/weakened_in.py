"""Tests that a run's change deletes, skips or weakens, beside what its approved design names."""

import re

from forge_bot.git.diff import changed
from forge_bot.project.test_guard.weakened_tests import files_to_compare, weakened_tests
from forge_bot.runs.run import Run
from forge_bot.values import WeakenedTests


def weakened_in(run: Run, base: str, head: str) -> WeakenedTests:
    """Return what the tests lose between two commits of a run."""
    repository, plan = run.repository, run.pipeline.planned_in
    paths = files_to_compare(changed(repository.root, base, head))
    if not paths:
        return WeakenedTests()
    found = weakened_tests(repository.read_many(base, paths), repository.read_many(head, paths))
    design = run.artifact(plan) or "" if plan else ""
    named = {one for one in found if re.search(rf"(?<![\w/]){re.escape(one.name)}(?!\w)", design)}
    return WeakenedTests(
        unnamed=tuple(one.said for one in found if one not in named),
        named=tuple(one.said for one in found if one in named),
    )
