"""The type and the title of a run's change, for its pull request, branch and commits; and the
messages of commits that are offered for merge: what changed and why, and its tests.
"""

import re
import textwrap
from collections.abc import Mapping
from datetime import datetime

from forge_bot.artifacts.markdown import first_paragraph
from forge_bot.artifacts.plans import ChangeName, ChangeType, change_name, renamed
from forge_bot.artifacts.read_artifact import without_requirement_numbers
from forge_bot.artifacts.tasks import is_whole
from forge_bot.engine.external_events import FOLLOW_UP
from forge_bot.engine.gates import AUTO, SCRIPT, UNASKED, approvals_of
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import Decision, State, TaskState
from forge_bot.errors import ReportsDamaged
from forge_bot.prompts import escape
from forge_bot.store.run_folder import Request, read_request
from forge_bot.values import PhaseId, TaskId

LONGEST_TITLE = 72
"""Characters of a pull request's title and of a commit's subject."""

_WIDTH = 72
_LONGEST_REASON = 900
_LONGEST_CRITERION = 300
_MOST_CRITERIA = 20
_NUMBERED = re.compile(r"\A(?:R|AC|F)-\d+:\s*")
"""The number that a criterion begins with. It means something in the run's documents only."""
_OF_A_REVIEW = re.compile(r"^Work off the .*review$")
"""The title of a task that mends what a review of the whole change found. Records have it."""


def name_of_change(pipeline: Pipeline, state: State, documents: Mapping[str, str]) -> ChangeName:
    """Return the type and the title of the change that a run makes.

    `documents` are the texts of the run's documents by name. The document that a person approves
    first states both (`artifacts/plans.py`). Without it the request decides.
    """
    plan = pipeline.approved_first
    design = documents.get(plan.writes, "") if plan is not None else ""
    request = _request(documents.get("request.md", ""))
    return change_name(
        design,
        title=state.title,
        labels=request.labels if request is not None else (),
        issue_type=request.issue_type if request is not None else "",
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
    return tuple(decision for decision in _since_approval(state) if decision.notes.strip())


def _since_approval(state: State) -> list[Decision]:
    """Return what people asked for since the last approval beside the questions."""
    approved = [
        decision.at
        for decision in state.decisions
        if decision.answer == "approve" and decision.task is None
    ]
    last = max(approved, default=state.started_at)
    return [decision for decision in state.sent_back if decision.at > last]


def _request(text: str) -> Request | None:
    """Return the frozen request, or None where it cannot be read."""
    try:
        return read_request(text) if text else None
    except ReportsDamaged:
        return None


# -- messages
# --------------------------------------------------------------------------------------------------


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
    asked = _requests_of(state, task) if task.origin else requests_since(state, landed)
    words = [request for request in asked if request in unapproved_requests(state)]
    follows = landed is not None and bool(asked) and not task.origin
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
    if task is None:
        return ()
    follows = task.origin.startswith(FOLLOW_UP)
    asked = _requests_of(state, task) if follows else requests_since(state, landed)
    return tuple(dict.fromkeys(who_answered(request.by, request.via) for request in asked))


def who_answered(by: str, via: str) -> str:
    """Return who gave an answer and how, as a trailer says it."""
    return f"a script that {by} ran" if via == SCRIPT else f"{by} via {via}"


def approvals(state: State, task: TaskState | None) -> tuple[str, ...]:
    """Return who approved what a commit holds, and how, each once. An approval of the plan is none
    of what was asked for after it, and of a merge.
    """
    beside = task is not None and task.origin.startswith(FOLLOW_UP)
    asked = any(one.notes.strip() or one.answer == "change" for one in _since_approval(state))
    own = task.spec.id if task is not None else None
    return tuple(
        dict.fromkeys(
            who_answered(one.by, one.via)
            for decision in state.decisions
            for one in approvals_of(state, decision)
            if decision.answer == "approve"
            and decision.via not in {AUTO, UNASKED}
            and ((own is not None and decision.task == own) or not (beside or asked))
        )
    )


def answering_models(
    state: State, phase: PhaseId | None, task: TaskId | None = None
) -> tuple[str, ...]:
    """Return the models that answered in a phase, or in any, for one task if it is named."""
    entries = [
        entry for entry in state.log if phase in {None, entry.phase} and task in {None, entry.task}
    ]
    return tuple(
        dict.fromkeys(entry.usage.model for entry in entries if entry.usage and entry.usage.model)
    )


def _requests_of(state: State, task: TaskState) -> list[Decision]:
    """Return what a person asked for that a task does."""
    return [one for one in state.sent_back if one.task == task.spec.id]


def _request_words(request: Decision) -> str:
    text = request.notes or request.condition
    words = f": {_words(text, _LONGEST_REASON)}" if text.strip() else "."
    did = "asked for this" if request.answer == "change" else "sent the work back"
    return f"{escape.heading(request.by, 100)} {did}{words}"


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
    criteria = [
        _words(criterion, _LONGEST_CRITERION)
        for criterion in task.spec.acceptance
        # A person's own words stand above.
        if not (task.origin.startswith(FOLLOW_UP) and criterion.startswith("P-"))
    ]
    return [criterion for criterion in criteria if criterion][:_MOST_CRITERIA]


def _words(text: str, longest: int) -> str:
    return escape.heading(without_requirement_numbers(_NUMBERED.sub("", text.strip())), longest)


def _wrapped(text: str, begin: str = "") -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_long_words=False,
        break_on_hyphens=False,
    )
