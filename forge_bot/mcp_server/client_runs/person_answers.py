"""Read a person's answer that comes through a client: bound to what was shown, and recorded with
the way it came.
"""

from typing import NamedTuple

from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.gates import BOUND
from forge_bot.engine.reports import Answer, Answered
from forge_bot.errors import ActionUnnamed, AnswerNotOffered, NoGateOpen, WrongAction
from forge_bot.gate import answer_line
from forge_bot.gate.approval_words import read_approval
from forge_bot.gate.arguments import SHORTEST_DIGEST
from forge_bot.gate.grammar import Approve, PostSummary
from forge_bot.gate.written_command import Mistyped
from forge_bot.runs.chosen_options import counted
from forge_bot.runs.local_user import local_user
from forge_bot.runs.run import Run
from forge_bot.runs.session import answer
from forge_bot.runs.typed_answer import PersonAnswer, person_answer
from forge_bot.sentences import say

VIA = "mcp"
"""The source of an answer that the model passed on. Nobody checked that a person gave it."""

VIA_CLIENT = "mcp-elicitation"
"""The source of an answer that the client got from its person."""

_LONGEST_NOTES = 20_000


class SpokenAnswer(NamedTuple):
    """An answer that was read."""

    reply: PersonAnswer
    digest: str | None


def read_answer(text: str, digest: str) -> SpokenAnswer:
    """Read `approve`, `approve 1a2b3c4`, `reject notes`, `revise notes`, `done`, `skip`, `post` or
    `abandon`.

    Raises AnswerNotOffered for every other text: it is no answer, and above all no yes.
    """
    said = answer_line.read_answer(text[: _LONGEST_NOTES + 100])
    if isinstance(said, Mistyped):
        raise AnswerNotOffered(
            say("client.person_answers.no_answer", text=text.strip()[:60], hint=said.hint),
            hint=say("client.person_answers.pass_on_the_answer"),
        )
    reply = person_answer(said)
    named = digest.strip() or None
    if isinstance(said, Approve | PostSummary) and said.digest is not None:
        if named not in {None, said.digest}:
            raise AnswerNotOffered(
                say("client.person_answers.two_versions"),
                hint=say("client.person_answers.pass_on_the_answer"),
            )
        named = said.digest
    return SpokenAnswer(
        reply.replace(notes=reply.notes[:_LONGEST_NOTES]),
        named if reply.answer in BOUND else None,
    )


def passed_on(run: Run, text: str, digest: str, action_id: str, client: str) -> str:
    """Record an answer that the model passed on; return a warning if it repeats a counted one.

    Raises NoGateOpen, WrongAction, AnswerNotOffered, NotesRequired, StaleApproval.
    """
    action = run.action
    spoken = read_answer(text, digest)
    open_ = isinstance(action, Checkpoint | HumanGate)
    if (before := _answer_to(run, action_id, spoken.digest or "" if not open_ else "")) is not None:
        return _again(run, before, spoken.reply, spoken.digest)
    if not isinstance(action, Checkpoint | HumanGate):
        raise NoGateOpen(
            say("client.person_answers.nothing_is_asked"),
            hint=say("client.person_answers.ask_without_an_answer"),
        )
    _check_name(action, action_id)
    by = f"{client or 'an MCP client'}, unverified"
    report = answer(run, spoken.reply, VIA, spoken.digest, by=by)
    run.tell(report)
    return counted(report)


def is_answered(run: Run, action_id: str) -> bool:
    """Return whether the action was a question, and an answer to it counted."""
    return _answer_to(run, action_id, "") is not None


def _answer_to(run: Run, action_id: str, digest: str) -> Answered | None:
    """Return the counted answer to an action. Without an action id, return the last answer if it
    was for a version with that digest.
    """
    if action_id == run.action.action_id or not (action_id or len(digest) >= SHORTEST_DIGEST):
        return None
    given = [report for report in run.workspace.reports() if isinstance(report, Answered)]
    if action_id:
        return next((report for report in given if report.action_id == action_id), None)
    last = given[-1] if given else None
    return last if last is not None and _digest_of(run, last).startswith(digest.lower()) else None


def _again(run: Run, before: Answered, reply: PersonAnswer, digest: str | None) -> str:
    """The warning that the same answer came once more. Raises NoGateOpen for another one."""
    told = say(
        "client.person_answers.was_answered",
        action_id=before.action_id,
        answer=before.answer.value,
        by=before.by,
        via=before.via,
    )
    other_words = before.answer in {Answer.REJECT, Answer.APPROVE} and (
        (before.notes.strip(), before.condition) != (reply.notes.strip(), reply.condition)
        or not {*reply.choices} <= {*before.choices}
    )
    if (
        before.answer is not reply.answer
        or other_words
        or not _digest_of(run, before).startswith((digest or "").lower())
    ):
        raise NoGateOpen(
            say("client.person_answers.answered_already", counted=told),
            hint=say("client.person_answers.ask_for_the_next_action"),
        )
    return say("client.person_answers.changes_nothing", counted=told)


def _digest_of(run: Run, answered: Answered) -> str:
    """The whole digest of the version an answer counted for."""
    return next(
        (
            each.digest
            for each in run.state.decisions
            if (each.at, each.gate) == (answered.at, answered.gate)
        ),
        "",
    )


def _check_name(action: Checkpoint | HumanGate, action_id: str) -> None:
    if action_id and action_id != action.action_id:
        raise WrongAction(
            say(
                "client.person_answers.answer_to_another_question",
                action_id=action_id,
                asked=action.action_id,
            )
        )
    if isinstance(action, HumanGate) and not action_id:
        raise ActionUnnamed(
            say("client.person_answers.human_gate_needs_its_id", action_id=action.action_id)
        )


def given_to_client(
    run: Run, action_id: str, reply: PersonAnswer, digest: str, *, cut: bool
) -> str:
    """Record an answer that the client asked its person for, to the question it was put for; the
    warning as `passed_on`.

    Raises like it, and WrongAction if something else is outstanding. `cut`: only the beginning of a
    document was shown.
    """
    reply = _with_words(reply.replace(notes=reply.notes[:_LONGEST_NOTES]))
    named = digest if reply.answer in BOUND and digest else None
    if run.action.action_id != action_id:
        if (before := _answer_to(run, action_id, "")) is not None:
            return _again(run, before, reply, named)
        raise WrongAction(
            say(
                "client.person_answers.answer_to_no_question",
                action_id=action_id,
                outstanding=run.action.action_id,
            )
        )
    via = f"{VIA_CLIENT}{_CUT}" if cut else VIA_CLIENT
    report = answer(run, reply, via, named, by=local_user())
    run.tell(report)
    return counted(report)


def _with_words(reply: PersonAnswer) -> PersonAnswer:
    """Return an approval with its notes as words behind `approve`: choices and a condition. Any
    other notes are its condition. Raises AnswerNotOffered for what cannot be one.
    """
    if reply.answer is not Answer.APPROVE or not reply.notes.strip():
        return reply
    words = read_approval(reply.notes)
    if words.unknown or words.digest is not None:
        words = read_approval(f"with {reply.notes}")
    if words.problem:
        raise AnswerNotOffered(words.problem, hint=say("client.person_answers.answer_again"))
    return reply.replace(notes="", choices=words.choices, condition=words.condition)


_CUT = ", documents cut"
