"""An open question in words for a person, and as the component that faces render."""

import re
from typing import TYPE_CHECKING, NamedTuple

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
from forge_bot.prompts.active_markdown import open_fence
from forge_bot.prompts.escape import show_source
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.question import Choice, Question, ShownDocument
from forge_bot.runs.question_text import first_screen
from forge_bot.sentences import say

if TYPE_CHECKING:
    from markdown_it.token import Token

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
    first, last = _about(asked), list[str]()
    room = LONGEST - sum(len(part) + 2 for part in first)
    if asked.data.difference:
        shown = beginning(asked.data.difference, room // 3)
        more = f"\n\n_{say('client.difference_is_cut')}_" if shown != asked.data.difference else ""
        last.append(f"**{say('question.what_changed')}**\n\n{patch(shown)}{more}")
        room -= len(last[-1])
    documents = asked.data.documents
    sizes = shares(
        [len(document.text) for document in documents],
        max(room - 300 * len(documents), _FEWEST * len(documents)),
    )
    papers = [
        _paper(document, size, run, workspace)
        for document, size in zip(documents, sizes, strict=True)
    ]
    cut = tuple(
        document.name
        for document, size in zip(documents, sizes, strict=True)
        if size < len(document.text)
    )
    return Presented("\n\n".join([*first, *_warned(cut, workspace), *last, *papers]), cut)


def _about(asked: Question) -> list[str]:
    """Return the subject, the first screen, the version it is bound to, and the meaning of the
    answers.
    """
    parts = [f"## {asked.title}", *(settled(line) for line in asked.data.decision)]
    if screen := first_screen(asked, approach=False):
        parts.append(screen)
    if asked.data.digest:
        parts.append(say("client.version", digest=asked.data.digest[:12]))
    return [*parts, "\n".join(f"- `{choice.answer}`: {choice.effect}" for choice in asked.actions)]


def _warned(cut: tuple[str, ...], workspace: str) -> list[str]:
    if not cut:
        return []
    names = ", ".join(f"{workspace}/{name}" for name in cut)
    return [say("client.not_all_is_shown", names=names)]


def _paper(document: ShownDocument, size: int, run: str, workspace: str) -> str:
    shown = beginning(document.text, size)
    body = (
        patch(shown)
        if document.name.endswith(".patch")
        else show_source(shown)
        if document.hidden
        else settled(shown)
    )
    path = f"{workspace}/{document.name}"
    if len(shown) == len(document.text):
        return f"### {path}\n\n{body}"
    address = f"forge://run/{run}/artifact/{document.name}"
    cut_here = say("client.cut_here", count=len(shown), path=path, address=address)
    return f"### {say('client.only_its_beginning', path=path)}\n\n{body}\n\n**[{cut_here}]**"


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
    here = (
        say("client.branch_is_checked_out", branch=proposal.current_branch)
        if proposal.current_branch
        else say("client.no_branch_is_checked_out")
    )
    return "\n".join((*lines, "", here))


def _left_out(option: EffortOption) -> str:
    names = ", ".join(phase.label for phase in option.skipped_phases)
    effect = say("client.all_phases_but", names=names) if names else say("client.all_phases")
    return say("client.recommended", effect=effect) if option.recommended else effect


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
        kind="confirmation", title=say("client.effort_and_branch"), data=data, actions=actions
    ).shown


def _form(discussion: Discussion) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {"questions": list(discussion.questions)}
    return UIComponent(kind="input", title=say("client.before_it_begins"), data=data).shown


_BELOW = 3
"""Levels that headings go down: the page's own heading of a document is on this one."""

_LOWEST = 6
_AFTER = "\n\n</details>\n"
_ATX = re.compile(r"(?P<blank> {0,3})#{1,6}")


def settled(markdown: str) -> str:
    """The Markdown with its headings below ours and its code closed.

    What would be hidden when it is rendered, or would hide what follows, is shown as code from
    beginning to end.
    """
    if what_is_hidden(markdown):
        return escape.show_source(markdown)
    text = markdown.replace("\r\n", "\n").strip("\n")
    if mark := open_fence(text):
        text = f"{text}\n{mark}"
    tokens = _parsed(f"{text}{_AFTER}")
    # What comes after must be read as a part of its own, of the page itself.
    if (
        not tokens
        or tokens[-1].content.strip() != _AFTER.strip()
        or tokens[-1].level
        or any(_hides(token) for token in tokens[:-1])
    ):
        return escape.fenced(markdown)
    return _lowered(text, tokens)


def patch(text: str) -> str:
    """A difference as code."""
    return escape.show_source(text, "diff")


def beginning(text: str, longest: int) -> str:
    """Return the text, or whole lines of its beginning; part of a line if that is too long."""
    if len(text) <= longest:
        return text
    kept = text[: max(longest, 0)]
    whole = kept[: kept.rfind("\n") + 1]
    return whole if len(whole) > longest // 2 else kept


def _parsed(text: str) -> "list[Token]":
    from markdown_it import MarkdownIt  # needed for questions only

    return (
        MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"]).parse(text)
    )


def _hides(token: "Token") -> bool:
    inner = token.children or ()
    return token.type == "html_block" or any(
        each.type == "html_inline" and each.content.startswith("<!--") for each in inner
    )


def _lowered(text: str, tokens: "list[Token]") -> str:
    """Return the text with its top-level headings lowered."""
    lines = text.split("\n")
    for token in reversed(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        first, after = token.map
        marks = "#" * min(int(token.tag[1:]) + _BELOW, _LOWEST)
        if token.markup.startswith("#"):
            lines[first] = _ATX.sub(rf"\g<blank>{marks}", lines[first], count=1)
        else:
            words = " ".join(line.strip() for line in lines[first : after - 1])
            lines[first:after] = [f"{marks} {words}"]
    return "\n".join(lines)
