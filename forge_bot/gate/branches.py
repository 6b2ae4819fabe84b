"""The issue that a branch belongs to: a run's own branch, or the one of its pull request."""

import re

_BRANCH = re.compile(
    r"(?:feature|fix|feat|docs|refactor|perf|test|build|ci|chore|revert)[/-](?P<issue>[1-9]\d{0,8})-\S+"
)


def issue_of_branch(branch: str) -> int | None:
    """42 for `feature/42-fix-auth-timeout`, and for `feature-42-fix-auth-timeout`, as it is called
    beside a branch `feature`; None for a branch that no run on an issue makes.
    """
    match = _BRANCH.fullmatch(branch)
    return None if match is None else int(match["issue"])
