"""The gate as a step of a workflow: environment and payload in, outputs out."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from forge_bot.errors import ForgeError
from forge_bot.gate import outputs
from forge_bot.gate.environment_variables import Inputs, StepContext, read_inputs, read_step_context
from forge_bot.gate.events import read_event
from forge_bot.gate.gate_result import GateOutcome, Result
from forge_bot.gate.intents import Intent, NoIntent, intent_of
from forge_bot.gate.json_payload import Node, read_json
from forge_bot.gate.messages import plain, summary
from forge_bot.sentences import hint_of, say

WAKE_VERSION = 1
UNVERIFIED = 5
"""Exit status when GitHub did not answer: the step is red, so that the command is not lost without
a sign."""


def run_gate(environ: Mapping[str, str], wait: Callable[[float], None] = time.sleep) -> int:
    """Decide about one event, write the outputs, and return the exit status: 0 for every decision,
    also for a refusal.

    A red run for everybody who may not give commands would let strangers paint a repository red.
    """
    try:
        inputs, around = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        outputs.error(f"{error.code}: {error.message} {hint_of(error)}")
        return error.exit_code
    intent = intent_of(read_event(around.event, _payload(around.payload)), inputs, around)
    outcome = (
        GateOutcome(Result.NOTHING, intent.reason)
        if isinstance(intent, NoIntent)
        else _visited(intent, inputs, around, wait)
    )
    outputs.write_outputs(environ["GITHUB_OUTPUT"], values(outcome, intent, around))
    outputs.write_summary(
        environ.get("GITHUB_STEP_SUMMARY", ""),
        summary(outcome.result, outcome.reason, inputs.policy.floor),
    )
    if outcome.result is Result.UNVERIFIED:
        outputs.error(say("gate.workflow_step.unverified", reason=outcome.reason))
        return UNVERIFIED
    outputs.notice(f"{outcome.result.value}: {outcome.reason}")
    return 0


def _payload(path: str) -> Node:
    try:
        return read_json(Path(path).read_bytes())
    except OSError:
        return Node()


def _visited(
    intent: Intent, inputs: Inputs, around: StepContext, wait: Callable[[float], None]
) -> GateOutcome:
    # Most events ask for nothing; for them nobody has to be asked, and the modules that speak HTTP
    # are not loaded.
    from forge_bot.gate.admission import Admission
    from forge_bot.gate.github import GateClient

    return Admission(
        intent, GateClient(around.api, around.repository, around.token, wait), inputs, around
    ).outcome()


def values(outcome: GateOutcome, intent: Intent | NoIntent, around: StepContext) -> dict[str, str]:
    """The outputs of the step: `proceed` decides, the others tell. `wake` has ids only; who works
    reads everything else again.
    """
    comment = None if isinstance(intent, NoIntent) else intent.comment
    wake: dict[str, object] = {"v": WAKE_VERSION, "result": outcome.result.value}
    if isinstance(intent, Intent):
        wake |= {
            "way": intent.way.value,
            "deed": intent.attempt.operation.value,
            "issue": outcome.issue,
            "thread": intent.thread,
            "comment": comment,
            "check": intent.check,
            "pulls": list(intent.pulls),
            "by": None if outcome.by is None else outcome.by.login,
            "by_id": None if outcome.by is None else outcome.by.id,
            "attempt": around.attempt,
            "tracking_comment": outcome.tracking,
        }
    return {
        "proceed": "true" if outcome.result is Result.PROCEED else "false",
        "result": outcome.result.value,
        "reason": plain(outcome.reason),
        "issue": _shown(outcome.issue),
        "comment": _shown(comment),
        "tracking_comment": _shown(outcome.tracking),
        "run_url": around.run_url,
        "wake": json.dumps(wake, separators=(",", ":"), ensure_ascii=True),
    }


def _shown(number: int | None) -> str:
    return "" if number is None else str(number)
