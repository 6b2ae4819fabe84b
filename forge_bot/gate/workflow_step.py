"""The gate as a step of a workflow: environment and payload in, outputs out. A second step says
that forge-bot could not be installed.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from forge_bot.errors import ForgeError
from forge_bot.gate import messages, outputs
from forge_bot.gate.admission import Admission
from forge_bot.gate.environment_variables import Inputs, StepContext, read_inputs, read_step_context
from forge_bot.gate.events import GateOutcome, Intent, Nothing, Result, read_event
from forge_bot.gate.github import GateClient, OwnComments
from forge_bot.gate.json_payload import Node, read_json
from forge_bot.sentences import hint_of

UNVERIFIED = 5
"""Exit status when GitHub did not answer: the step is red, so that the command is not lost without
a sign."""

_NEXT_STEPS = {
    Result.REFUSED: "Somebody with the role {role} or higher can say it in a new comment.",
    Result.UNVERIFIED: "Nothing was done yet. Run this job again, or write another command.",
    Result.MISTYPED: "The answer in the thread says how it is written.",
}


def run_gate(environ: Mapping[str, str], wait: Callable[[float], None] = time.sleep) -> int:
    """Decide about one event, write the outputs, and return the exit status: 0 for every decision,
    also for a refusal.

    A red run for everybody who may not give commands would let strangers paint a repository red.
    """
    try:
        inputs, context = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        return _refused_input(error)
    intent = read_event(context.event, _payload(context.payload), inputs, context)
    if isinstance(intent, Nothing):
        outcome = GateOutcome(Result.NOTHING, intent.reason)
    else:
        github = GateClient(context.api, context.repository, context.token, wait)
        outcome = Admission(intent, github, inputs, context).decide()
    outputs.write_outputs(environ["GITHUB_OUTPUT"], output_values(outcome, intent, context))
    next_step = _NEXT_STEPS.get(outcome.result, "").format(role=inputs.policy.floor.word)
    outputs.write_summary(
        environ.get("GITHUB_STEP_SUMMARY", ""),
        f"forge-bot, at the gate: **{outcome.result}**, {outcome.reason}. {next_step}".strip(),
    )
    if outcome.result is Result.UNVERIFIED:
        outputs.error(f"{outcome.reason}; run this job again, or write another command")
        return UNVERIFIED
    outputs.notice(f"{outcome.result.value}: {outcome.reason}")
    return 0


def _refused_input(error: ForgeError) -> int:
    outputs.error(f"{error.code}: {error.message} {hint_of(error)}")
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
            "check": intent.check,
            "pulls": list(intent.pulls),
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


def stranded(environ: Mapping[str, str], wait: Callable[[float], None] = time.sleep) -> int:
    """Report a failed installation in the thread and in the summary, since nothing else of this job
    can; return 0: the step before is what failed.
    """
    try:
        inputs, context = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        return _refused_input(error)
    tell_thread(environ, inputs, context, messages.stranded(context.run_url, inputs.prefix), wait)
    return 0


def tell_thread(
    environ: Mapping[str, str],
    inputs: Inputs,
    context: StepContext,
    text: str,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Say in the thread of the event and in the summary why nothing was done, once for each run of
    the workflow. The text replaces a tracking comment that only says that a run has begun.
    """
    outputs.write_summary(environ.get("GITHUB_STEP_SUMMARY", ""), text)
    issue = read_json(environ.get("FORGE_BOT_WAKE", "").encode()).number("issue")
    if issue is None:
        return
    github = GateClient(context.api, context.repository, context.token, wait)
    thread = OwnComments(github, issue, inputs.policy.own)
    mark = messages.tracking_mark(issue)
    begun = thread.find(mark)
    if begun is not None and begun.body.startswith(messages.BEGUN):
        answer = github.edit_comment(begun.id, f"{text}\n\n{mark}")
        problem = "" if answer.good else answer.problem
    else:
        mark = messages.stranded_mark(f"{context.run_url}/attempts/{context.attempt}")
        _, problem = thread.write_once(mark, f"{text}\n\n{mark}")
    if problem:
        outputs.warning(f"the thread could not be told: {messages.plain(problem)}")
