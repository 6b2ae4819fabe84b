"""The message of a commit that is offered for merge: what changed and why, and its tests."""

import re
import textwrap
from collections.abc import Mapping

from forge_bot.artifacts.change_name import ChangeName, ChangeType, change_name
from forge_bot.artifacts.sections import first_paragraph
from forge_bot.artifacts.whole_task import is_whole
from forge_bot.engine.gates import AUTO
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import State, TaskState
from forge_bot.interaction.title_of_change import LONGEST_TITLE, name_of_change
from forge_bot.prompts import escape

_WIDTH = 72
_LONGEST_REASON = 900
_LONGEST_CRITERION = 300
_MOST_CRITERIA = 20
_NUMBER = r"(?:R|AC)-\d+"
_REFERENCES = re.compile(rf"\s*\({_NUMBER}(?:(?:, | and | to |–){_NUMBER})*\)|^{_NUMBER}:\s*")
"""Numbers of requirements and criteria. They mean something in the run's documents only."""
_OF_A_REVIEW = re.compile(r"^Work off the .*review$")
"""The title of a task that mends what a review of the whole change found. Records have it."""


def change_of(pipeline: Pipeline, state: State, documents: Mapping[str, str]) -> ChangeName:
    """Return type and title of a run's change. The type is fixed as soon as a branch has it."""
    found = name_of_change(pipeline, state, documents)
    given = state.pull_request_branch.partition("/")[0]
    if given in set(ChangeType):
        return found.replace(type=ChangeType(given))
    return found


def task_message(
    pipeline: Pipeline,
    state: State,
    task: TaskState,
    documents: Mapping[str, str],
    *,
    typed: bool = True,
) -> str:
    """Return the message for the commit of one task, without its trailers. It begins with a type
    where the repository's commits do.
    """
    whole = change_of(pipeline, state, documents)
    planned = [each for each in state.tasks if not each.origin]
    title = _OF_A_REVIEW.sub("Mend what the review found", task.spec.title)
    part = change_name("", title=title if task.origin else task.spec.title, branch=f"{whole.type}/")
    name = whole if planned == [task] else part
    said = [escape.heading(name.subject if typed else name.sentence, LONGEST_TITLE)]
    if planned[:1] == [task] and (reason := _reason(pipeline, documents)):
        said.append(_wrapped(reason))
    if criteria := [_wrapped(each, "- ") for each in _criteria(task, pipeline.planned_in)]:
        said.append("\n".join(criteria))
    if tests := [path for path in task.spec.files if "test" in path.lower()]:
        said.append(_wrapped(f"Tests: {', '.join(tests)}"))
    return "\n\n".join(said)


def approvals(state: State) -> tuple[str, ...]:
    """Return who approved the documents of the change, and how, each once."""
    return tuple(
        dict.fromkeys(
            f"{each.by} via {each.via}"
            for each in state.decisions
            if each.answer == "approve" and each.via != AUTO
        )
    )


def _reason(pipeline: Pipeline, documents: Mapping[str, str]) -> str:
    for phase in pipeline.providing("approach"):
        text = first_paragraph(documents.get(phase.writes, ""), next(iter(phase.headings), ""))
        if said := _words(text, _LONGEST_REASON):
            return said
    return ""


def _criteria(task: TaskState, plan: str) -> list[str]:
    """Return the criteria of a task; none if they only name the document with the plan, which is
    not in the commit.
    """
    if is_whole(task.spec.acceptance, plan):
        return []
    found = [_words(each, _LONGEST_CRITERION) for each in task.spec.acceptance]
    return [each for each in found if each][:_MOST_CRITERIA]


def _words(text: str, longest: int) -> str:
    return escape.heading(_REFERENCES.sub("", text.strip()), longest)


def _wrapped(text: str, begin: str = "") -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_long_words=False,
        break_on_hyphens=False,
    )
