"""Reads the commands on an issue and on its pull request, in the order of the comments, each
authorised anew; and, by the rules of `approvals`, who approved so far and what one more approval
does.

An approval counts by its comment, by somebody who may give commands: whoever can push to the branch
could write anything into the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forge_bot.engine.gates import agreed_so_far, approvals_of
from forge_bot.engine.state import Decision
from forge_bot.forge import Forge, number_of
from forge_bot.forge.types import Account, Comment, Membership, PullRequest, ReviewComment
from forge_bot.gate.environment_variables import Inputs
from forge_bot.gate.grammar import Approve, Command, Misplaced, Mistyped
from forge_bot.gate.parse_comment import ParsedComment, parse_comment
from forge_bot.gate.people import (
    ActorPart,
    Allowed,
    Attempt,
    RequestedOperation,
    authorise,
    to_ask_about,
)
from forge_bot.interaction.approval_words import awaited_approvals
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.interaction.markers import read_marker
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import approval_case
from forge_bot.settings.approvals import (
    ApprovalEffect,
    ApprovalRule,
    CodeOwners,
    Standing,
    judge,
    needs_of,
    read_people,
    standing,
)


@dataclass(frozen=True)
class ThreadCommand:
    """One command that may be carried out."""

    comment: Comment
    command: Command
    number: int
    """Of the issue or pull request where it was said; there it is answered."""

    @property
    def key(self) -> str:
        """Return the key of its report: a comment is carried out once."""
        return f"comment-{self.comment.id}"

    @property
    def by(self) -> str:
        return self.comment.author.login


class Thread:
    """The conversation about one run. Comments and roles are read once; our own later comments are
    added by `remember`.
    """

    def __init__(
        self,
        forge: Forge,
        number: int,
        inputs: Inputs,
        approvals: tuple[ApprovalRule, ...] = (),
        code_owners: CodeOwners | None = None,
    ) -> None:
        self.forge = forge
        self.number = number
        self.inputs = inputs
        self.approvals = approvals
        self.code_owners = code_owners or CodeOwners()
        self._teams: dict[str, frozenset[str] | None] = {}
        self._comments: dict[int, tuple[Comment, ...]] = {}
        self._memberships: dict[str, Membership] = {}
        self._replied: set[int] = set()
        self._by_hand: int | None = None

    def pull_of(self, run: Run) -> int:
        """Return the number of the run's pull request, also of one that a person opened from the
        branch for merge, as the thread asks for where GitHub does not let us; 0 without one.
        """
        if not run.state.pull_request and run.state.ended and self._by_hand is None:
            pull = self.pull_request(run)
            self._by_hand = pull.number if pull is not None else 0
        return number_of(run.state.pull_request) or self._by_hand or 0

    def pull_request(self, run: Run) -> PullRequest | None:
        """Return the open pull request of the run's branch for merge, or the newest closed one."""
        return self.forge.pull_request_for(run.state.pull_request_branch or run.state.branch)

    def look_again(self) -> None:
        """Forget the comments: new ones may have come."""
        self._comments.clear()

    def comments(self, number: int = 0) -> tuple[Comment, ...]:
        """All comments of the issue, or of another number, in the order of their ids."""
        wanted = number or self.number
        if wanted not in self._comments:
            self._comments[wanted] = self.forge.comments(wanted)
        return self._comments[wanted]

    def known(self, number: int) -> tuple[Comment, ...]:
        """Return the comments of an issue or pull request that were read, without reading any."""
        return self._comments.get(number, ())

    def remember(self, number: int, comment: Comment) -> None:
        """Remember a comment of ours, so that it need not be read again."""
        if number in self._comments:
            self._comments[number] = (*self._comments[number], comment)

    def forget(self, comment_id: int) -> None:
        """Forget a comment that was deleted."""
        for number, comments in self._comments.items():
            self._comments[number] = tuple(
                comment for comment in comments if comment.id != comment_id
            )

    def own(self, comment: Comment | ReviewComment) -> bool:
        """Return whether forge-bot wrote it. A mark can be copied; the author cannot."""
        return comment.author.named(self.inputs.policy.own)

    def spoken(self, *numbers: int) -> Iterator[ThreadCommand]:
        """The commands of these conversations that their authors may give, in their order."""
        every = [
            (comment, number)
            for number in dict.fromkeys(numbers)
            for comment in self.comments(number)
            if not self.own(comment)
        ]
        for comment, number in sorted(every, key=lambda pair: pair[0].id):
            command = self.parsed(comment).command
            if command is not None and not isinstance(command, Mistyped) and self.may(comment):
                yield ThreadCommand(comment, command, number)

    def spoken_of(self, run: Run) -> Iterator[ThreadCommand]:
        """The commands on the issue and on the pull request of a run."""
        return self.spoken(self.number, self.pull_of(run) or self.number)

    def begins_with_command(self, comment: Comment) -> bool:
        """Return whether a comment begins with a command or what was meant as one."""
        return not isinstance(self.parsed(comment).command, Misplaced | None)

    def parsed(self, comment: Comment) -> ParsedComment:
        """Return a comment as it is read."""
        given = self.inputs
        return parse_comment(comment.body, given.prefix, bare=given.bare, mention=given.mention)

    def may(self, comment: Comment) -> bool:
        """Return whether the author of a comment may give commands. It must not be edited."""
        return self.may_command(comment.author, edited=comment.edited, via_app=comment.via_app)

    def may_command(self, account: Account, *, edited: bool = False, via_app: str = "") -> bool:
        """Return whether somebody may give commands."""
        attempt = Attempt(
            RequestedOperation.COMMAND,
            {ActorPart.AUTHOR: account},
            edited=edited,
            via_app=via_app,
        )
        policy = self.inputs.policy
        memberships = {login: self.membership(login) for login in to_ask_about(attempt, policy)}
        return isinstance(authorise(attempt, memberships, policy), Allowed)

    def membership(self, login: str) -> Membership:
        """Return a person's permissions here; each person is asked about once."""
        known = login.casefold()
        if known not in self._memberships:
            self._memberships[known] = self.forge.membership(login)
        return self._memberships[known]

    def team(self, name: str) -> frozenset[str] | None:
        """Return the members of a team, asked about once; None where they cannot be read."""
        if name not in self._teams:
            self._teams[name] = self.forge.team_members(name)
        return self._teams[name]

    def answered(self, comment: Comment) -> bool:
        """Return whether a reply of our account names the comment."""
        return comment.id in self._replied or any(
            self.written("reply", number, to=str(comment.id)) for number in self._comments
        )

    def replied(self, comment: Comment) -> None:
        """Remember that we have just replied to the comment."""
        self._replied.add(comment.id)

    def written(self, kind: str, number: int = 0, /, **fields: str) -> Comment | None:
        """Return our own comment with this mark, the newest of several, on the issue or at another
        number.
        """
        for comment in reversed(self.comments(number)):
            mark = read_marker(comment.body) if self.own(comment) else None
            if mark is not None and mark.is_about(kind, fields):
                return comment
        return None


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
    """Return whether the approvals that settled a question are enough for all known paths."""
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
    return any(
        (spoken.comment.url, spoken.by.casefold()) == (decision.via, decision.by.casefold())
        for spoken in thread.spoken_of(run)
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
