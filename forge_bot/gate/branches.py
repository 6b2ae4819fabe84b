"""The issue that a branch of a run belongs to."""

import re

_BRANCH = re.compile(r"(?:feature|fix|docs|refactor|chore)/(?P<issue>[1-9]\d{0,8})-\S+")


def issue_of_branch(branch: str) -> int | None:
    """42 for `feature/42-fix-auth-timeout`; None for a branch that no run on an issue makes."""
    match = _BRANCH.fullmatch(branch)
    return None if match is None else int(match["issue"])
