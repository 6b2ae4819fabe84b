"""A person's answer as it comes through a client: read strictly, bound to what was shown, recorded with the way it came."""

import re
from typing import NamedTuple

from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.reports import Answer
from forge_bot.errors import ActionUnnamed, AnswerNotOffered, NoGateOpen, WrongAction
from forge_bot.runs.run import Run
from forge_bot.runs.session import Reply, answer, person

VIA = "mcp"
"""How an answer came that the model passed on: nobody checked that a person gave it."""

VIA_CLIENT = "mcp-elicitation"
"""How an answer came that the client itself asked its person for."""

_WORDS = {
    **dict.fromkeys(("approve", "approved"), Answer.APPROVE),
    **dict.fromkeys(("reject", "rejected", "revise"), Answer.REJECT),
    "done": Answer.DONE,
    "skip": Answer.SKIP,
    "abandon": Answer.ABANDON,
}
_FORM = re.compile(r"\s*/?(?P<word>[a-z]+)(?:\s*[:,.–—-]+\s*|\s+|\s*\Z)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_DIGEST = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_LONGEST_NOTES = 20_000


class Spoken(NamedTuple):
    """An answer that was read."""

    reply: Reply
    digest: str | None


def read_answer(text: str, digest: str) -> Spoken:
    """`approve`, `approve 1a2b3c4`, `reject: notes`, `done`, `skip`, `abandon`. Raises AnswerNotOffered for anything else.

    What is not one of these words is no answer; above all it is no yes.
    """
    found = _FORM.fullmatch(text[: _LONGEST_NOTES + 100])
    known = _WORDS.get(found["word"].lower()) if found is not None else None
    if found is None or known is None:
        raise AnswerNotOffered(f"“{text.strip()[:60]}” is none of the answers.", hint=_HINT)
    rest = found["rest"].strip()
    named = digest.strip() or None
    if known is Answer.APPROVE and rest:
        if _DIGEST.fullmatch(rest) is None or named not in {None, rest}:
            raise AnswerNotOffered("An approval takes no conditions.", hint=f"{_HINT} With wishes it is a reject.")
        named = rest
    notes = rest[:_LONGEST_NOTES] if known is not Answer.APPROVE else ""
    return Spoken(Reply(answer=known, notes=notes), named if known is Answer.APPROVE else None)


_HINT = "Pass exactly what the person chose: approve, or reject and what should be different; at human gates done or skip; or abandon."


def passed_on(run: Run, text: str, digest: str, action_id: str, client: str) -> None:
    """Record an answer that the model passed on. Raises NoGateOpen, WrongAction, AnswerNotOffered, NotesRequired, StaleApproval."""
    action = run.action
    if not isinstance(action, Checkpoint | HumanGate):
        raise NoGateOpen("Nothing is asked now, so there is nothing to answer.")
    spoken = read_answer(text, digest)
    _check_name(action, action_id)
    run.tell(answer(run, spoken.reply, VIA, spoken.digest, by=f"{client or 'an MCP client'}, unverified"))


def _check_name(action: Checkpoint | HumanGate, action_id: str) -> None:
    if action_id and action_id != action.action_id:
        raise WrongAction(f"The answer is for {action_id}, but {action.action_id} is asked.")
    if isinstance(action, HumanGate) and not action_id:
        raise ActionUnnamed(f"An answer at a human gate names it: {action.action_id}.")


def given_to_client(run: Run, said: Answer, notes: str, digest: str | None) -> None:
    """Record an answer that the client asked its person for. Raises like `passed_on`."""
    named = digest if said is Answer.APPROVE else None
    run.tell(answer(run, Reply(answer=said, notes=notes[:_LONGEST_NOTES]), VIA_CLIENT, named, by=person()))
