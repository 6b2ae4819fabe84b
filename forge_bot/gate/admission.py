"""Admit or refuse one request at the gate, and tell the person who made it."""

from forge_bot.gate import messages
from forge_bot.gate.authorise import (
    ActorPart,
    Denied,
    DenyReason,
    RequestedOperation,
    authorise,
    to_ask_about,
)
from forge_bot.gate.environment_variables import Inputs, StepContext
from forge_bot.gate.events import issue_of_branch
from forge_bot.gate.gate_result import GateOutcome, Result
from forge_bot.gate.github import ApiAnswer, GateClient
from forge_bot.gate.help import help_reply
from forge_bot.gate.intents import Intent, Trigger
from forge_bot.gate.outputs import warning
from forge_bot.gate.own_comments import OwnComments
from forge_bot.gate.people import Account
from forge_bot.gate.roles import Membership, read_membership
from forge_bot.sentences import say


class Admission:
    """Carries out one request on GitHub: one question about each person, a reaction, and comments
    that are never written twice.
    """

    def __init__(
        self, intent: Intent, github: GateClient, inputs: Inputs, around: StepContext
    ) -> None:
        self._intent = intent
        self._github = github
        self._inputs = inputs
        self._around = around
        self._thread = OwnComments(github, intent.thread, inputs.policy.own)

    def outcome(self) -> GateOutcome:
        """Let the intent in, or refuse it."""
        policy = self._inputs.policy
        standings = {
            login: self._standing(login) for login in to_ask_about(self._intent.attempt, policy)
        }
        verdict = authorise(self._intent.attempt, standings, policy)
        if isinstance(verdict, Denied):
            return self._refused(verdict)
        issue = self._issue_of_pull() if self._intent.on_pull else self._intent.thread
        if issue is None:
            return GateOutcome(Result.NOTHING, say("gate.admission.other_pull_request"))
        self._react("eyes")
        if self._intent.mistyped:
            return self._corrected(issue, verdict.by)
        if self._intent.only_help:
            self._help()
            return GateOutcome(Result.HELPED, say("gate.admission.helped"), issue, verdict.by)
        if self._begins and self._intent.way is not Trigger.LABEL:
            # By this mark a workflow knows an issue without the label when it is closed.
            self._note(self._github.react_to_issue(issue, "eyes"))
        tracking = self._tracking(issue)
        if tracking is None and self._intent.way is Trigger.STATE:
            return GateOutcome(Result.NOTHING, say("gate.admission.no_run_under_way"))
        return GateOutcome(
            Result.PROCEED,
            say("gate.admission.allowed", login=verdict.by.login),
            issue,
            verdict.by,
            tracking,
        )

    @property
    def _begins(self) -> bool:
        return self._intent.attempt.operation is RequestedOperation.START

    def _standing(self, login: str) -> Membership:
        answer = self._github.permission(login)
        return read_membership(login, answer.status, answer.body, answer.reason)

    def _issue_of_pull(self) -> int | None:
        """The issue of the run that a pull request belongs to. A branch of a fork may have any
        name, so it must lie here.
        """
        answer = self._github.pull(self._intent.thread)
        head, base = answer.body["head"], answer.body["base"]
        repository = head.number("repo", "id")
        if not answer.good or repository is None or repository != base.number("repo", "id"):
            return None
        return issue_of_branch(head.text("ref"))

    def _react(self, content: str) -> None:
        """React where the intent was said."""
        intent = self._intent
        if intent.comment is not None:
            self._note(self._github.react_to_comment(intent.comment, content))
        elif intent.way is Trigger.LABEL:
            self._note(self._github.react_to_issue(intent.thread, content))

    def _note(self, answer: ApiAnswer) -> None:
        if not answer.good:
            warning(say("gate.admission.no_reaction", reason=messages.plain(answer.told)))

    def _say(self, mark: str, text: str) -> None:
        """Write the answer, unless its mark is in the thread already."""
        _, trouble = self._thread.say_once(mark, text)
        if trouble:
            warning(say("gate.admission.no_answer", reason=messages.plain(trouble)))

    def _refused(self, refused: Denied) -> GateOutcome:
        result = Result.UNVERIFIED if refused.ground is DenyReason.UNVERIFIED else Result.REFUSED
        outcome = GateOutcome(result, messages.plain(refused.sentence))
        said_here = self._intent.way in {Trigger.COMMENT, Trigger.LABEL}
        here = [
            account
            for part in (ActorPart.AUTHOR, ActorPart.SENDER)
            if (account := self._intent.attempt.people.get(part)) is not None
        ]
        own_doing = any(not refused.who or account.named(refused.who) for account in here)
        # Who ran the workflow again sees the log of it; the person who wrote the comment did
        # nothing now. On a pull request of no run the words are for other programs.
        is_answered = said_here and own_doing and refused.told
        if is_answered and not (self._intent.on_pull and self._issue_of_pull() is None):
            self._react("confused")
            comment = self._intent.comment
            self._say(
                messages.refusal_mark(refused, comment),
                messages.refusal(
                    refused,
                    self._inputs.policy.floor,
                    self._inputs.prefix,
                    run_url=self._around.run_url,
                    comment=comment,
                ),
            )
        return outcome

    def _corrected(self, issue: int, by: Account) -> GateOutcome:
        intent = self._intent
        if intent.comment is not None:
            self._react("confused")
            text = messages.correction(
                intent.mistyped,
                self._inputs.prefix,
                intent.comment,
                others=len(intent.said) > len(intent.mistyped),
            )
            self._say(messages.reply_mark(intent.comment), text)
        lines = "; ".join(f"{line.written}: {line.hint}" for line in intent.mistyped)
        return GateOutcome(Result.MISTYPED, messages.plain(lines), issue, by)

    def _help(self) -> None:
        comment = self._intent.comment
        if comment is not None:
            self._react("+1")
            text = help_reply(self._inputs.prefix, comment, bare=self._inputs.bare)
            self._say(messages.reply_mark(comment), text)

    def _tracking(self, issue: int) -> int | None:
        """Return the comment that shows the progress of the run: a new one if a run is to begin,
        otherwise the existing one.
        """
        thread = (
            self._thread
            if issue == self._intent.thread
            else OwnComments(self._github, issue, self._inputs.policy.own)
        )
        mark = messages.tracking_mark(issue)
        if not self._begins:
            comment = thread.find(mark)
            return None if comment is None else comment.id
        comment, trouble = thread.say_once(mark, messages.beginning(self._around.run_url, issue))
        if trouble:
            warning(say("gate.admission.no_tracking_comment", reason=messages.plain(trouble)))
        return None if comment is None else comment.id
