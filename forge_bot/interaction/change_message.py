"""The message of a commit that is offered for merge: what changed and why, and its tests."""

import re
import textwrap
from collections.abc import Mapping
from datetime import datetime

from forge_bot.artifacts.change_name import ChangeName, ChangeType
from forge_bot.artifacts.requirement_table import without_numbers
from forge_bot.artifacts.sections import first_paragraph
from forge_bot.artifacts.tasks import is_whole
from forge_bot.engine.external_events import CHECKS, CONFLICTS
from forge_bot.engine.gates import AUTO, UNASKED
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import Decision, State, TaskState
from forge_bot.interaction.title_of_change import (
    LONGEST_TITLE,
    name_of_change,
    renamed,
    unapproved_requests,
)
from forge_bot.prompts import escape

_WIDTH = 72
_LONGEST_REASON = 900
_LONGEST_CRITERION = 300
_MOST_CRITERIA = 20
_NUMBERED = re.compile(r"\A(?:R|AC)-\d+:\s*")
"""The number that a criterion begins with. It means something in the run's documents only."""
_OF_A_REVIEW = re.compile(r"^Work off the .*review$")
"""The title of a task that mends what a review of the whole change found. Records have it."""


def change_of(pipeline: Pipeline, state: State, documents: Mapping[str, str]) -> ChangeName:
    """Return type and title of a run's change. The type is fixed as soon as a branch has it."""
    name = name_of_change(pipeline, state, documents)
    given = state.pull_request_branch.partition("/")[0]
    if given in set(ChangeType):
        return name.replace(type=ChangeType(given))
    return name


def task_message(
    pipeline: Pipeline,
    state: State,
    task: TaskState,
    documents: Mapping[str, str],
    *,
    typed: bool = True,
    landed: datetime | None = None,
) -> str:
    """Return the message for the commit of one task, without its trailers. It begins with a type
    where the repository's commits do. `landed` is the time of the run's commits before it.

    What people asked for after the plan was approved is said in their words. Where the plan's
    commit exists, this one is only about that.
    """
    whole = change_of(pipeline, state, documents)
    planned = [other for other in state.tasks if not other.origin]
    title = _OF_A_REVIEW.sub("Mend what the review found", task.spec.title)
    name = whole if planned == [task] else renamed(whole, title if task.origin else task.spec.title)
    asked = [] if task.origin else requests_since(state, landed)
    words = [request for request in asked if request in unapproved_requests(state)]
    follows = landed is not None and bool(asked)
    if follows:
        name = renamed(
            whole, words[-1].notes.strip().splitlines()[0] if words else f"{name.title}, again"
        )
    parts = [escape.heading(name.subject if typed else name.sentence, LONGEST_TITLE)]
    parts += [_wrapped(_request_words(one)) for one in asked]
    if planned[:1] == [task] and not follows and (reason := _reason(pipeline, documents)):
        parts.append(_wrapped(reason))
    criteria = [] if follows else _criteria(task, pipeline.planned_in)
    if criteria:
        parts.append(
            "\n".join(("Asked for:", *(_wrapped(criterion, "- ") for criterion in criteria)))
        )
    if tests := [path for path in task.spec.files if "test" in path.lower()]:
        parts.append(_wrapped(f"Tests: {', '.join(tests)}"))
    return "\n\n".join(parts)


def requests_since(state: State, landed: datetime | None) -> list[Decision]:
    """Return what people sent the work back for since the run's last commits for merge."""
    return [
        decision
        for decision in state.sent_back
        if decision.answer == "retry" and (landed is None or decision.at > landed)
    ]


def requests(state: State, task: TaskState | None, landed: datetime | None) -> tuple[str, ...]:
    """Return who asked for what a commit holds beside the approved plan, and how, each once."""
    if task is not None and task.origin.startswith(CHECKS):
        return ()
    asked = requests_since(state, landed)
    if task is None or task.origin.startswith(CONFLICTS):
        asked = [one for one in state.sent_back if one.answer == "update"][-1:]
    return tuple(dict.fromkeys(f"{request.by} via {request.via}" for request in asked))


def approvals(state: State, task: TaskState | None) -> tuple[str, ...]:
    """Return who approved what a commit holds, and how, each once. An approval of the plan is none
    of what a person asked for after it, of failed checks and of a merge.
    """
    beside = task is not None and task.origin.startswith((CHECKS, CONFLICTS))
    asked = unapproved_requests(state)
    own = task.spec.id if task is not None else None
    return tuple(
        dict.fromkeys(
            f"{decision.by} via {decision.via}"
            for decision in state.decisions
            if decision.answer == "approve"
            and decision.via not in {AUTO, UNASKED}
            and ((own is not None and decision.task == own) or not (beside or asked))
        )
    )


def _request_words(request: Decision) -> str:
    words = f": {_words(request.notes, _LONGEST_REASON)}" if request.notes.strip() else "."
    return f"{escape.heading(request.by, 100)} sent the work back{words}"


def _reason(pipeline: Pipeline, documents: Mapping[str, str]) -> str:
    for phase in pipeline.providing("approach"):
        text = first_paragraph(documents.get(phase.writes, ""), next(iter(phase.headings), ""))
        if reason := _words(text, _LONGEST_REASON):
            return reason
    return ""


def _criteria(task: TaskState, plan: str) -> list[str]:
    """Return the criteria of a task; none if they only name the document with the plan, which is
    not in the commit.
    """
    if is_whole(task.spec.acceptance, plan):
        return []
    criteria = [_words(criterion, _LONGEST_CRITERION) for criterion in task.spec.acceptance]
    return [criterion for criterion in criteria if criterion][:_MOST_CRITERIA]


def _words(text: str, longest: int) -> str:
    return escape.heading(without_numbers(_NUMBERED.sub("", text.strip())), longest)


def _wrapped(text: str, begin: str = "") -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_long_words=False,
        break_on_hyphens=False,
    )
