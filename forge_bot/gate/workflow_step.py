"""The gate as a step of a workflow: environment and payload in, outputs out; one request is
admitted or refused, and the person who made it is told. A second step says that forge-bot could
not be installed.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from forge_bot.errors import ForgeError
from forge_bot.forge import (
    GateClient,
    OwnComments,
    StepContext,
    read_event,
    read_step_context,
    show_error,
    show_notice,
    show_warning,
    write_outputs,
    write_summary,
)
from forge_bot.forge.json_values import Node, read_json
from forge_bot.forge.types import Account, ActorPart, Nothing, Trigger
from forge_bot.gate import messages
from forge_bot.gate.environment_variables import Inputs, read_inputs
from forge_bot.gate.events import GateOutcome, Intent, Result, issue_of_branch, read_request
from forge_bot.gate.grammar import Help, Mistyped
from forge_bot.gate.people import Denied, DenyReason, RequestedOperation, authorise, to_ask_about
from forge_bot.sentences import hint_of


class Admission:
    """Carries out one request: one question about each person, a reaction, and comments
    that are never written twice.
    """

    def __init__(
        self, intent: Intent, client: GateClient, inputs: Inputs, context: StepContext
    ) -> None:
        self._intent = intent
        self._forge = client
        self._inputs = inputs
        self._context = context
        self._thread = OwnComments(client, intent.thread, inputs.policy.own)

    def decide(self) -> GateOutcome:
        """Let the intent in, or refuse it."""
        intent, policy = self._intent, self._inputs.policy
        asked = to_ask_about(intent.attempt, policy)
        memberships = {login: self._forge.membership(login) for login in asked}
        verdict = authorise(intent.attempt, memberships, policy)
        if isinstance(verdict, Denied):
            return self._refuse(verdict)
        issue = self._issue_of_pull() if intent.on_pull else intent.thread
        if issue is None:
            return GateOutcome(Result.NOTHING, "the pull request does not belong to a run here")
        self._react("eyes")
        if isinstance(intent.command, Mistyped):
            return self._correct(intent.command, issue, verdict.by)
        if isinstance(intent.command, Help):
            self._help()
            return GateOutcome(Result.HELPED, "the commands were listed", issue, verdict.by)
        if self._begins and intent.trigger is not Trigger.LABEL:
            # By this mark a workflow knows an issue without the label when it is closed.
            self._react_to("eyes", issue)
        tracking = self._tracking(issue)
        if tracking is None and intent.trigger is Trigger.STATE:
            return GateOutcome(Result.NOTHING, "no run of this issue is under way")
        reason = f"allowed, in the name of {verdict.by.login}"
        return GateOutcome(Result.PROCEED, reason, issue, verdict.by, tracking)

    @property
    def _begins(self) -> bool:
        return self._intent.attempt.operation is RequestedOperation.START

    def _issue_of_pull(self) -> int | None:
        """Return the issue of the run that a pull request belongs to."""
        return issue_of_branch(self._forge.branch_of_pull(self._intent.thread))

    def _react(self, content: str) -> None:
        """React where the intent was written."""
        if self._intent.comment is not None or self._intent.trigger is Trigger.LABEL:
            self._react_to(content, self._intent.thread, self._intent.comment)

    def _react_to(self, content: str, issue: int, comment: int | None = None) -> None:
        answer = self._forge.react(content, issue, comment)
        if not answer.good:
            _warn("the reaction could not be put there", answer.problem)

    def _write(self, mark: str, text: str) -> None:
        """Write the answer, unless its mark is in the thread already."""
        _, problem = self._thread.write_once(mark, text)
        if problem:
            _warn("the answer in the thread", problem)

    def _refuse(self, refused: Denied) -> GateOutcome:
        result = Result.UNVERIFIED if refused.ground is DenyReason.UNVERIFIED else Result.REFUSED
        intent, people = self._intent, self._intent.attempt.people
        # Who ran the workflow again sees the log of it; the person who wrote the comment did
        # nothing now. On a pull request of no run the words are for other programs.
        own_doing = not refused.who or any(
            account is not None and account.named(refused.who)
            for part, account in people.items()
            if part in {ActorPart.AUTHOR, ActorPart.SENDER}
        )
        written_here = intent.trigger in {Trigger.COMMENT, Trigger.LABEL}
        answered = written_here and own_doing and refused.is_answered
        if answered and not (intent.on_pull and self._issue_of_pull() is None):
            self._react("confused")
            floor, prefix = self._inputs.policy.floor, self._inputs.prefix
            text = messages.refusal(refused, floor, prefix, run_url=self._context.run_url)
            self._write(messages.refusal_mark(refused, intent.comment), text)
        return GateOutcome(result, messages.plain(refused.sentence))

    def _correct(self, mistyped: Mistyped, issue: int, by: Account) -> GateOutcome:
        if (comment := self._intent.comment) is not None:
            self._react("confused")
            text = messages.correction(mistyped, self._inputs.prefix)
            self._write(messages.reply_mark(comment), text)
        line = messages.plain(f"{mistyped.written}: {mistyped.hint}")
        return GateOutcome(Result.MISTYPED, line, issue, by)

    def _help(self) -> None:
        comment = self._intent.comment
        if comment is not None:
            self._react("+1")
            text = messages.help_text(self._inputs.prefix, bare=self._inputs.bare)
            self._write(messages.reply_mark(comment), text)

    def _tracking(self, issue: int) -> int | None:
        """Return the comment that shows the progress of the run: a new one if a run is to begin,
        otherwise the existing one.
        """
        thread = self._thread
        if issue != thread.number:
            thread = OwnComments(self._forge, issue, self._inputs.policy.own)
        mark = messages.tracking_mark(issue)
        if self._begins:
            comment, problem = thread.write_once(mark, messages.beginning(self._context.run_url))
            if problem:
                _warn("the comment that tells about the run", problem)
        else:
            comment = thread.find(mark)
        return None if comment is None else comment.id


def _warn(about: str, problem: str) -> None:
    show_warning(f"{about}: {messages.plain(problem)}")


UNVERIFIED = 5
"""Exit status when the forge did not answer: the step is red, so that the command is not lost
without a sign."""


def run_gate(environ: Mapping[str, str]) -> int:
    """Decide about one event, write the outputs, and return the exit status: 0 for every decision,
    also for a refusal.

    A red run for everybody who may not give commands would let strangers paint a repository red.
    """
    try:
        inputs, context = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        return _refused_input(error)
    intent = read_request(read_event(_payload(context.payload), context), inputs)
    if isinstance(intent, Nothing):
        outcome = GateOutcome(Result.NOTHING, intent.reason)
    else:
        client = GateClient(context.api, context.repository, context.token)
        outcome = Admission(intent, client, inputs, context).decide()
    write_outputs(context.outputs, output_values(outcome, intent, context))
    summary = f"forge-bot, at the gate: **{outcome.result}**, {outcome.reason}."
    write_summary(context.summary, summary)
    if outcome.result is Result.UNVERIFIED:
        show_error(f"{outcome.reason}; run this job again, or write another command")
        return UNVERIFIED
    show_notice(f"{outcome.result.value}: {outcome.reason}")
    return 0


def _refused_input(error: ForgeError) -> int:
    show_error(f"{error.code}: {error.message} {hint_of(error)}")
    return error.exit_code


def _payload(path: str) -> Node:
    try:
        return read_json(Path(path).read_bytes())
    except OSError:
        return Node()


def output_values(
    outcome: GateOutcome, intent: Intent | Nothing, context: StepContext
) -> dict[str, str]:
    """Return the outputs of the step: `proceed` decides, the others tell. `wake` has ids only; who
    works reads everything else again.
    """
    comment = None if isinstance(intent, Nothing) else intent.comment
    wake: dict[str, object] = {}
    if isinstance(intent, Intent):
        wake = {
            "trigger": intent.trigger.value,
            "operation": intent.attempt.operation.value,
            "issue": outcome.issue,
            "thread": intent.thread,
            "comment": comment,
            "by": None if outcome.by is None else outcome.by.login,
            "tracking_comment": outcome.tracking,
        }
    return {
        "proceed": "true" if outcome.result is Result.PROCEED else "false",
        "result": outcome.result.value,
        "reason": messages.plain(outcome.reason),
        "issue": _shown(outcome.issue),
        "comment": _shown(comment),
        "tracking_comment": _shown(outcome.tracking),
        "run_url": context.run_url,
        "wake": json.dumps(wake, separators=(",", ":"), ensure_ascii=True),
    }


def _shown(number: int | None) -> str:
    return "" if number is None else str(number)


# -- when nothing could be installed, or a server cannot be reached
# --------------------------------------------------------------------------------------------------


def stranded(environ: Mapping[str, str]) -> int:
    """Report a failed installation in the thread and in the summary, since nothing else of this job
    can; return 0: the step before is what failed.
    """
    try:
        inputs, context = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        return _refused_input(error)
    tell_thread(environ, inputs, context, messages.stranded(context.run_url, inputs.prefix))
    return 0


def tell_thread(
    environ: Mapping[str, str], inputs: Inputs, context: StepContext, text: str
) -> None:
    """Say in the thread of the event and in the summary why nothing was done, once for each run of
    the workflow. The text replaces a tracking comment that only says that a run has begun.
    """
    write_summary(context.summary, text)
    issue = read_json(environ.get("FORGE_BOT_WAKE", "").encode()).number("issue")
    if issue is None:
        return
    client = GateClient(context.api, context.repository, context.token)
    thread = OwnComments(client, issue, inputs.policy.own)
    mark = messages.tracking_mark(issue)
    begun = thread.find(mark)
    if begun is not None and begun.body.startswith(messages.BEGUN):
        answer = client.edit_comment(begun.id, f"{text}\n\n{mark}")
        problem = "" if answer.good else answer.problem
    else:
        mark = messages.stranded_mark(f"{context.run_url}/attempts/{context.attempt}")
        _, problem = thread.write_once(mark, text)
    if problem:
        show_warning(f"the thread could not be told: {messages.plain(problem)}")
