"""An open question in words for a person, and as the component that faces render."""

from typing import NamedTuple

from pydantic import JsonValue

from forge_bot.interaction.fit_comment import shares
from forge_bot.mcp_server.tool_schemas import (
    Discussion,
    EffortOption,
    NeedsConfirmation,
    NeedsDiscussion,
    Proposal,
    Ready,
    UIComponent,
)
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.question import Choice, Question, ShownDocument
from forge_bot.runs.question_text import first_screen
from forge_bot.sentences import say

LONGEST = 24_000
"""Characters of a question in words, a few more when code has to be closed. No client is known that
shows less of a form."""

_FEWEST = 400
"""Characters that each document gets, however long the rest of the question is."""


class Presented(NamedTuple):
    """A question in words for a person, and the documents of which only the beginning is in it."""

    text: str
    cut: tuple[str, ...] = ()


def presented(asked: Question, run: str, workspace: str) -> Presented:
    """Return the question as Markdown: its first screen, the version and the effect of each answer;
    then the documents.

    A document that does not fit is cut at its end. The cut names the place of the whole document.
    """
    parts, documents = _about(asked), asked.data.documents
    room = LONGEST - sum(len(part) + 2 for part in parts)
    difference: list[str] = []
    if asked.data.difference:
        shown = beginning(asked.data.difference, room // 3)
        difference = [f"**{say('question.what_changed')}**\n\n{escape.show_source(shown, 'diff')}"]
        if shown != asked.data.difference:
            difference.append(
                "_This difference is cut; the documents below are the version that counts._"
            )
        room -= len("\n\n".join(difference))
    sizes = shares(
        [len(document.text) for document in documents],
        max(room - 300 * len(documents), _FEWEST * len(documents)),
    )
    pairs = list(zip(documents, sizes, strict=True))
    cut = tuple(document.name for document, size in pairs if size < len(document.text))
    if cut:
        names = ", ".join(f"{workspace}/{name}" for name in cut)
        parts.append(
            f"⚠ **Not all of it is shown here.** Only the beginning of {names} is; an approval"
            " counts for the whole. Read it there first."
        )
    papers = [_paper(document, size, run, workspace) for document, size in pairs]
    return Presented("\n\n".join([*parts, *difference, *papers]), cut)


def _about(asked: Question) -> list[str]:
    """Return the subject, the first screen, the version it is bound to, and the meaning of the
    answers.
    """
    parts = [
        f"## {asked.title}",
        *(escape.document(line).text for line in asked.data.decision),
        first_screen(asked, approach=False),
    ]
    if digest := asked.data.digest:
        parts.append(f"Version: `{digest[:12]}`. An answer counts for this version only.")
    parts.append("\n".join(f"- `{choice.answer}`: {choice.effect}" for choice in asked.actions))
    return [part for part in parts if part]


def _paper(document: ShownDocument, size: int, run: str, workspace: str) -> str:
    shown = beginning(document.text, size)
    if document.name.endswith(".patch"):
        body = escape.show_source(shown, "diff")
    elif document.hidden or what_is_hidden(shown):
        body = escape.show_source(shown)
    else:
        body = escape.document(shown).text
    path = f"{workspace}/{document.name}"
    if len(shown) == len(document.text):
        return f"### {path}\n\n{body}"
    address = f"forge://run/{run}/artifact/{document.name}"
    return (
        f"### {path} (only its beginning)\n\n{body}\n\n**[… cut here after {len(shown):,}"
        f" characters: the whole of it is {path} in the work tree, or {address}]**"
    )


def component(asked: Question) -> dict[str, JsonValue]:
    """The question as data, without the documents' texts, which the host can read by itself."""
    shown = asked.model_dump(mode="json", exclude={"data": {"documents": {"__all__": {"text"}}}})
    return UIComponent.model_validate(shown).shown


def beforehand(answer: NeedsConfirmation | NeedsDiscussion | Ready) -> dict[str, JsonValue]:
    """Return the data beside an answer before a run begins: the question, and what comes
    next.
    """
    match answer:
        case NeedsConfirmation(needs_user_confirmation=proposal):
            beside: dict[str, JsonValue] = (
                {"estimate": answer.estimate} if answer.estimate is not None else {}
            )
            return {
                "hints": {"next": "ask the person, then call again with user_confirmation"},
                "ui": _choice(proposal),
                **beside,
            }
        case NeedsDiscussion(needs_discussion=discussion):
            return {
                "hints": {"next": "ask the person, then call again with discussion_answers"},
                "ui": _form(discussion),
            }
        case Ready():
            following = (
                f"git checkout -b {answer.branch}, then pipeline_next_action"
                if answer.create_branch
                else "pipeline_next_action"
            )
            return {"hints": {"next": following}}


def choice_in_words(proposal: Proposal) -> str:
    """Return what each effort leaves out, and the branch that is checked out, for a form."""
    lines = [
        f"- `{effort}`: {_left_out(option)}" for effort, option in proposal.effort_options.items()
    ]
    branch = proposal.current_branch
    here = f"The branch `{branch}` is checked out." if branch else "No branch is checked out."
    return "\n".join((*lines, "", here))


def _left_out(option: EffortOption) -> str:
    names = ", ".join(phase.label for phase in option.skipped_phases)
    effect = f"all phases but {names}" if names else "all phases"
    return f"{effect}; recommended" if option.recommended else effect


def _choice(proposal: Proposal) -> dict[str, JsonValue]:
    data = proposal.model_dump(
        mode="json",
        include={"detected_effort", "current_branch", "is_main_branch", "enriched_request_body"},
    )
    actions = tuple(
        Choice(answer=effort.value, effect=_left_out(option))
        for effort, option in proposal.effort_options.items()
    )
    return UIComponent(
        kind="confirmation", title="Effort and branch", data=data, actions=actions
    ).shown


def _form(discussion: Discussion) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {"questions": list(discussion.questions)}
    return UIComponent(kind="input", title="Before it begins", data=data).shown


def beginning(text: str, longest: int) -> str:
    """Return the text, or whole lines of its beginning; part of a line if that is too long."""
    if len(text) <= longest:
        return text
    start = text[: max(longest, 0)]
    whole = start[: start.rfind("\n") + 1]
    return whole if len(whole) > longest // 2 else start
