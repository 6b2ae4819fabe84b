"""Notice that a task is the number of an issue, before a run of that text begins."""

import os
import re
from pathlib import Path

from forge_bot.errors import IssueUnavailable

_NUMBER = re.compile(r"(?:(?:issue|gh)[\s-]*)?#?(\d{1,9})", re.IGNORECASE)
"""`42`, `#42`, `GH-42`, `issue 42`, in any case."""


def refuse_a_number(task: str, folder: Path) -> None:
    """Raise IssueUnavailable, with the command that is meant, if a task is the number of an issue:
    an issue is named by its address, and a number alone says nothing to do.
    """
    if (found := _NUMBER.fullmatch(task.strip())) is None:
        return
    from forge_bot.git import Repository
    from forge_bot.github_api.remote_address import parse_remote

    known = parse_remote(Repository.find(folder).remote_url(), os.environ)
    page = known.page if known is not None else "https://github.com/OWNER/REPOSITORY"
    raise IssueUnavailable(
        f"“{task.strip()}” is a number and says nothing to do.",
        hint=(
            f"forge-bot run {page}/issues/{found[1]} begins with that issue; otherwise say in "
            "words what is to be done."
        ),
    )
