"""An open question in words for a person."""

from typing import NamedTuple

from forge_bot.artifacts.sections import lower_headings
from forge_bot.interaction.fit_comment import shares
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.question import Question, ShownDocument
from forge_bot.runs.question_text import question_text
from forge_bot.sentences import say

LONGEST = 24_000
"""Characters of a question in words, a few more when code has to be closed. No client is known that
shows less of a form."""

_FEWEST = 400
"""Characters that each document gets, however long the rest of the question is."""


_BELOW = 3
"""Levels by which the headings of a document are lowered, so that they stand below our own."""


class Presented(NamedTuple):
    """A question in words for a person, and the documents of which only the beginning is in it."""

    text: str
    cut: tuple[str, ...] = ()


def render_question(asked: Question, run: str, workspace: str) -> Presented:
    """Return the question as Markdown, then the documents.

    A document that does not fit is cut at its end. The cut names the place of the whole document.
    """
    answers = [(choice.answer, choice.effect) for choice in asked.actions]
    text = question_text(asked, answers, "Answers", approach=False)
    parts, documents = [f"## {asked.title}", text], asked.data.documents
    room = LONGEST - sum(len(part) + 2 for part in parts)
    difference: list[str] = []
    if asked.data.difference:
        shown = cut_text(asked.data.difference, room // 3)
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
    papers = [_render_document(document, size, run, workspace) for document, size in pairs]
    return Presented("\n\n".join([*parts, *difference, *papers]), cut)


def _render_document(document: ShownDocument, size: int, run: str, workspace: str) -> str:
    shown = cut_text(document.text, size)
    if document.name.endswith(".patch"):
        body = escape.show_source(shown, "diff")
    elif document.hidden or what_is_hidden(shown):
        body = escape.show_source(shown)
    else:
        body = lower_headings(escape.document(shown).text, _BELOW)
    path = f"{workspace}/{document.name}"
    if len(shown) == len(document.text):
        return f"### {path}\n\n{body}"
    address = f"forge://run/{run}/artifact/{document.name}"
    return (
        f"### {path} (only its beginning)\n\n{body}\n\n**[… cut here after {len(shown):,}"
        f" characters: the whole of it is {path} in the work tree, or {address}]**"
    )


def cut_text(text: str, longest: int) -> str:
    """Return the text, or whole lines of its beginning; part of a line if that is too long."""
    if len(text) <= longest:
        return text
    start = text[: max(longest, 0)]
    whole = start[: start.rfind("\n") + 1]
    return whole if len(whole) > longest // 2 else start
