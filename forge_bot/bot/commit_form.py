"""Compares a worker's commits with the form that they must have.

Their author and message follow from the reports in them, so each is computed anew.
"""

import re
from itertools import pairwise

from forge_bot.bot.untrusted_records import reports_at
from forge_bot.engine import Pipeline, fold
from forge_bot.errors import ForgeError
from forge_bot.git import Repository
from forge_bot.git.commits import OWN_IDENTITY, message_text
from forge_bot.runs.commit_message import subject, trailers
from forge_bot.store import SPECS

KEPT = "forge-bot: keep the record"

_HEAD = "tree [0-9a-f]+\nparent [0-9a-f]+" + "".join(
    f"\n{role} {re.escape(name)} <{re.escape(address)}> [0-9]{{1,10}} [+-][0-9]{{4}}"
    for role, name, address in (
        (role, OWN_IDENTITY[f"GIT_{role.upper()}_NAME"], OWN_IDENTITY[f"GIT_{role.upper()}_EMAIL"])
        for role in ("author", "committer")
    )
)


def strange_commits(
    repository: Repository, pipeline: Pipeline, run: str, commits: tuple[str, ...]
) -> list[str]:
    """Return those of neighbouring commits, the oldest first, that a worker does not make. The
    first of them is the one that was pushed before.
    """
    raw = repository.raw_commits(commits[1:])
    return [
        after
        for before, after in pairwise(commits)
        if not _is_plain(raw[after], _messages(repository, pipeline, run, before, after))
    ]


def _is_plain(raw: bytes, messages: set[bytes]) -> bool:
    head, _, message = raw.partition(b"\n\n")
    return re.fullmatch(_HEAD.encode(), head) is not None and message.rstrip(b"\n") in messages


def _messages(
    repository: Repository, pipeline: Pipeline, run: str, before: str, after: str
) -> set[bytes]:
    """Return the messages that the commit may have: those of the reports that it adds."""
    record = f"{SPECS}/{run}/"
    known, reports = (
        len(reports_at(repository, before, record)),
        reports_at(repository, after, record),
    )
    texts = {message_text(KEPT, [("Forge-Run", run)])}
    for number in range(max(known, 1), len(reports)):
        try:
            state = fold(pipeline, reports[:number])
            lines = trailers(reports[number], state, pipeline)
            texts.add(message_text(subject(reports[number], state, pipeline), lines))
        except ForgeError:
            # Reports that contradict each other are refused as such.
            continue
    return {text.encode(errors="replace").rstrip(b"\n") for text in texts}
