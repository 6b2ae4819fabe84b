"""An open question in words for a person, and the answer that comes through a client: bound to what
was shown, and recorded with the way it came.
"""

from forge_bot.artifacts.markdown import lower_headings
from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.gates import BOUND
from forge_bot.engine.reports import Answer, Answered
from forge_bot.errors import AnswerNotOffered, NoGateOpen, WrongAction
from forge_bot.gate.flags import read_approval
from forge_bot.gate.grammar import AnswerCommand, Approve, Mistyped, PostSummary
from forge_bot.gate.parse_comment import read_answer
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.question import Question, ShownDocument
from forge_bot.runs.question_text import question_text
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import PersonAnswer, answer, counted, person_answer
from forge_bot.runs.this_process import local_user
from forge_bot.sentences import say

VIA = "mcp"
"""The source of an answer that the model passed on. Nobody checked that a person gave it."""

VIA_CLIENT = "mcp-elicitation"
"""The source of an answer that the client got from its person."""

_LONGEST_NOTES = 20_000
_HOW_TO_ANSWER = (
    "Pass exactly what the person chose: approve, or reject and what should be different; post,"
    " done or skip where offered; or abandon."
)
_ASK_AGAIN = "Ask the question again: pipeline_next_action without user_response."


def read_spoken(text: str, *, takes_words: bool = False) -> AnswerCommand:
    """Read `approve`, `approve 1a2b3c4`, `reject notes`, `done`, `skip`, `post` or `abandon`; where
    an agent asks, any words.

    Raises AnswerNotOffered for every other text: it is no answer, and above all no yes.
    """
    command = read_answer(text[: _LONGEST_NOTES + 100], takes_words=takes_words)
    if isinstance(command, Mistyped):
        words = f"“{text.strip()[:60]}” does not answer the question: {command.hint}"
        raise AnswerNotOffered(words, hint=_HOW_TO_ANSWER)
    return command


def pass_on_answer(run: Run, text: str, digest: str, action_id: str, client: str) -> str:
    """Record an answer that the model passed on; return a warning if the question was answered.

    Raises NoGateOpen, WrongAction, AnswerNotOffered, NotesRequired, StaleApproval.
    """
    action = run.action
    takes_words = isinstance(action, Checkpoint) and Answer.ANSWER in action.options
    command = read_spoken(text, takes_words=takes_words)
    if action_id and action_id != action.action_id:
        return _explain_late_answer(run, action_id)
    if not isinstance(action, Checkpoint | HumanGate):
        raise NoGateOpen(
            "Nothing is asked now, so there is nothing to answer.",
            hint=(
                "Call pipeline_next_action without user_response; state_resume_info says where the"
                " run stands."
            ),
        )
    named = command.digest if isinstance(command, Approve | PostSummary) else None
    by = f"{client or 'an MCP client'}, unverified"
    return _record_reply(run, person_answer(command), named or digest.strip(), VIA, by)


def record_answer(run: Run, action_id: str, reply: PersonAnswer, digest: str, *, cut: bool) -> str:
    """Record an answer that the client asked its person for, to the question it was put for; the
    warning as `pass_on_answer`.

    Raises like it. `cut`: only the beginning of a document was shown.
    """
    reply = _read_condition(reply)
    if run.action.action_id != action_id:
        return _explain_late_answer(run, action_id)
    via = f"{VIA_CLIENT}, documents cut" if cut else VIA_CLIENT
    return _record_reply(run, reply, digest, via, local_user())


def _record_reply(run: Run, reply: PersonAnswer, digest: str, via: str, by: str) -> str:
    named = (digest or None) if reply.answer in BOUND else None
    report = answer(run, reply.replace(notes=reply.notes[:_LONGEST_NOTES]), via, named, by=by)
    run.tell(report)
    return counted(report)


def _explain_late_answer(run: Run, action_id: str) -> str:
    """Return which answer counted. Raises WrongAction where the action was no question."""
    if warning := find_earlier_answer(run, action_id):
        return warning
    outstanding = run.action.action_id
    raise WrongAction(f"The answer is for {action_id}, but {outstanding} is outstanding.")


def find_earlier_answer(run: Run, action_id: str) -> str:
    """Return which answer to an earlier question counted; empty if none did."""
    if action_id == run.action.action_id:
        return ""
    reports = (report for report in run.workspace.reports() if isinstance(report, Answered))
    before = next((report for report in reports if report.action_id == action_id), None)
    if before is None:
        return ""
    return (
        f"{action_id} was answered with {before.answer.value} by {before.by} via {before.via}, and"
        " that counted; an answer that comes later changes nothing, and what is outstanding is"
        " below"
    )


def _read_condition(reply: PersonAnswer) -> PersonAnswer:
    """Return an approval with its notes as words behind `approve`: choices and a condition. Any
    other notes are its condition. Raises AnswerNotOffered for what cannot be one.
    """
    if reply.answer is not Answer.APPROVE or not reply.notes.strip():
        return reply
    words = read_approval(reply.notes)
    if words == "" or (isinstance(words, Approve) and words.digest is not None):
        words = read_approval(f"with {reply.notes}")
    if isinstance(words, str):
        raise AnswerNotOffered(words, hint=_ASK_AGAIN)
    return reply.replace(notes="", choices=words.choices, condition=words.words)


LONGEST = 24_000
"""Characters of a question in words, a few more when code has to be closed. No client is known that
shows less of a form."""

_FEWEST = 400
"""Characters that each document gets, however long the rest of the question is."""


_BELOW = 3
"""Levels by which the headings of a document are lowered, so that they stand below our own."""


def render_question(asked: Question, run: str, workspace: str) -> tuple[str, tuple[str, ...]]:
    """Return the question as Markdown with the documents behind it, and the names of those of which
    only the beginning is there.

    A document that does not fit is cut at its end. The cut names the place of the whole document.
    """
    answers = [(choice.answer, choice.effect) for choice in asked.actions]
    text = question_text(asked, answers, "Answers", approach=False)
    parts, documents = [f"## {asked.title}", text], asked.data.documents
    room = (LONGEST - len(text)) // (len(documents) + 1)
    if asked.data.difference:
        shown = escape.show_source(cut_text(asked.data.difference, room), "diff")
        parts.append(f"**{say('question.what_changed')}**\n\n{shown}")
    most = max(room, _FEWEST)
    cut = tuple(document.name for document in documents if len(document.text) > most)
    if cut:
        names = ", ".join(f"{workspace}/{name}" for name in cut)
        parts.append(
            f"⚠ **Not all of it is shown here.** Only the beginning of {names} is; an approval"
            " counts for the whole. Read it there first."
        )
    papers = [_render_document(document, most, run, workspace) for document in documents]
    return "\n\n".join([*parts, *papers]), cut


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
