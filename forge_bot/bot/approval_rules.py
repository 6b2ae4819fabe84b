"""The rules of `approvals` for the questions of a thread: who approved so far, and what one more
approval does. An approval counts by its comment, by somebody who may give commands: whoever can
push to the branch could write anything into the record.
"""

from collections.abc import Sequence
from typing import NamedTuple

from forge_bot.bot.thread import Thread
from forge_bot.engine.gates import agreed_so_far, approvals_of
from forge_bot.engine.state import Decision
from forge_bot.gate.grammar import Approve
from forge_bot.interaction.approval_words import awaited_approvals
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.runs.answers import approval_case
from forge_bot.runs.run import Run
from forge_bot.settings.approvals import (
    ApprovalEffect,
    Standing,
    judge,
    needs_of,
    read_people,
    standing,
)


class ApprovalOutcome(NamedTuple):
    """The effect of an approval, the people who are waited for after it, and whether the same
    person approved before.
    """

    judgement: ApprovalEffect
    awaited: tuple[Markdown, ...]
    again: bool

    @property
    def adds_nothing(self) -> bool:
        """Return whether the question is as before."""
        return self.judgement is ApprovalEffect.REFUSED or (self.again and bool(self.awaited))


def judge_approval(run: Run, thread: Thread, by: str) -> ApprovalOutcome:
    """Return what a person's approval of the open question does."""
    before = _given(run, thread)
    standings = _standings(run, thread, (*before, by))
    again = by.casefold() in {one.casefold() for one in before}
    return ApprovalOutcome(judge(standings, by), _in_words(standings), again)


def awaited(run: Run, thread: Thread) -> tuple[Markdown, ...]:
    """Return who is waited for at the open question: a sentence for each rule that is not met."""
    return _in_words(_standings(run, thread, _given(run, thread)), mention=True)


def are_enough(run: Run, thread: Thread, decision: Decision) -> bool:
    """Return whether the approvals that settled a question are enough for all paths that are known
    now.
    """
    given = _in_comments(run, thread, approvals_of(run.state, decision))
    return all(one.is_met for one in _standings(run, thread, given, decision))


def _given(run: Run, thread: Thread) -> tuple[str, ...]:
    """Return who approved the open question in this thread so far."""
    return _in_comments(run, thread, agreed_so_far(run.state))


def _in_comments(run: Run, thread: Thread, decisions: Sequence[Decision]) -> tuple[str, ...]:
    return tuple(one.by for one in decisions if is_in_comment(run, thread, one))


def is_in_comment(run: Run, thread: Thread, decision: Decision) -> bool:
    """Return whether a comment on the issue or the pull request gives an approval, of its person,
    who may give commands.
    """
    pull = thread.pull_of(run)
    return any(
        (spoken.comment.url, spoken.by.casefold()) == (decision.via, decision.by.casefold())
        for spoken in thread.spoken(thread.number, *((pull,) if pull else ()))
        if isinstance(spoken.command, Approve)
    )


def _standings(
    run: Run, thread: Thread, approvers: Sequence[str], settled: Decision | None = None
) -> tuple[Standing, ...]:
    """Return the state of each need of the open question, or of one that was settled."""
    asked = approval_case(run, settled) if thread.approvals else None
    needs = needs_of(thread.approvals, asked, thread.code_owners) if asked is not None else ()
    people = read_people(needs, approvers, thread.membership, thread.team)
    floor = thread.inputs.policy.floor
    return tuple(standing(need, approvers, people, floor) for need in needs)


def _in_words(standings: Sequence[Standing], *, mention: bool = False) -> tuple[Markdown, ...]:
    unmet = (one for one in standings if not one.is_met)
    return tuple(dict.fromkeys(awaited_approvals(one, mention=mention) for one in unmet))
