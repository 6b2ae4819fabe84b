"""The type and the title of a run's change, for its pull request, branch and commits."""

from collections.abc import Mapping

from forge_bot.artifacts.change_name import ChangeName, change_name
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import Decision, State
from forge_bot.errors import ReportsDamaged
from forge_bot.prompts import escape
from forge_bot.store import Request, read_request

LONGEST_TITLE = 72
"""Characters of a pull request's title and of a commit's subject."""


def name_of_change(pipeline: Pipeline, state: State, documents: Mapping[str, str]) -> ChangeName:
    """Return the type and the title of the change that a run makes.

    `documents` are the texts of the run's documents by name. The document that a person approves
    first states both (`artifacts/change_name.py`). Without it the request decides, and before its
    labels a branch whose name a person or an older version began with a type.
    """
    plan = pipeline.approved_first
    design = documents.get(plan.writes, "") if plan is not None else ""
    request = _request(documents.get("request.md", ""))
    return change_name(
        design,
        title=state.title,
        text=request.text if request is not None else "",
        labels=request.labels if request is not None else (),
        issue_type=request.issue_type if request is not None else "",
        branch=state.branch,
    )


def subject_of_change(
    pipeline: Pipeline, state: State, documents: Mapping[str, str], *, typed: bool = True
) -> str:
    """Return type and title in one line without any effect on GitHub: `fix: handle the empty list`,
    or `Handle the empty list` where the repository's commits begin with no type.

    It is the title of the pull request, and fits the first line of a commit message.
    """
    name = name_of_change(pipeline, state, documents)
    if requests := unapproved_requests(state):
        title = f"{requests[-1].notes.strip().splitlines()[0]} (after: {name.title})"
        name = renamed(name, title)
    return escape.heading(name.subject if typed else name.sentence, LONGEST_TITLE)


def unapproved_requests(state: State) -> tuple[Decision, ...]:
    """Return the words with which people sent the work back since the last approval: nobody
    approved a document that has them.
    """
    approved = [
        decision.at
        for decision in state.decisions
        if decision.answer == "approve" and decision.task is None
    ]
    last = max(approved, default=state.started_at)
    return tuple(
        decision for decision in state.sent_back if decision.notes.strip() and decision.at > last
    )


def renamed(change: ChangeName, title: str) -> ChangeName:
    """Return the name of a change of the same type with another title."""
    return change_name("", title=title, branch=f"{change.type}/")


def _request(text: str) -> Request | None:
    """Return the frozen request, or None where it cannot be read."""
    try:
        return read_request(text) if text else None
    except ReportsDamaged:
        return None
