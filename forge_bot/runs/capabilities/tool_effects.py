"""Calls that may change something: shown as a document, made once, with their results in documents
for the agent that asked.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.agent.providers.provider_catalogue import result_of
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue
from forge_bot.engine import Exec, State
from forge_bot.engine.call_records import outstanding_call
from forge_bot.engine.reports import (
    CallBegun,
    CallEnded,
    CallOutcome,
    CallsRequested,
    RequestedCall,
    head_of,
)
from forge_bot.engine.state import CallRecord, CallStatus
from forge_bot.git import blob_id
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.capabilities.outside_capabilities import use_of
from forge_bot.runs.run import Run
from forge_bot.text_format import code_block
from forge_bot.values import PhaseId, TaskId, Usage

CALLS = "calls-"
"""The beginning of the names of these documents."""

_RESULT_CHARACTERS = 8_000

Act = Callable[[CapabilityRequest, int], tuple[CapabilityResult, bool]]
"""Makes a call; also tells whether its outcome is unknown."""


def calls_requested(
    run: Run,
    action_id: str,
    place: tuple[PhaseId, TaskId | None],
    wanted: Sequence[CapabilityRequest],
    catalogue: ToolCatalogue,
    usage: Usage,
) -> CallsRequested:
    """Write the document that shows the calls, and return the report of their request."""
    phase, task = place
    skills = catalogue.skill_definitions
    calls = tuple(
        RequestedCall(
            capability=request.capability,
            capability_type="skill" if request.capability in skills else "mcp_tool",
            params=request.params,
            reasoning=" ".join(clean(request.reasoning).text.split())[:500],
            digest=catalogue.digests[request.capability],
        )
        for request in wanted
    )
    number = sum(name.startswith(CALLS) for name in run.state.artifacts) + 1
    name = f"{CALLS}{number}.json"
    raw = run.workspace.write(name, document(calls))
    return CallsRequested(
        **head_of(action_id, run.now(), task),
        phase=phase,
        task=task,
        calls=calls,
        asks=any(request.capability in catalogue.asked for request in wanted),
        artifact=name,
        blob=blob_id(raw),
        usage=usage,
    )


def document(calls: Sequence[RequestedCall | CallRecord]) -> str:
    """Return the document of exactly these calls: every argument, in full."""
    shown = [
        {
            "capability": call.capability,
            "capability_type": call.capability_type,
            "params": json.loads(call.params),
            "reasoning": call.reasoning,
            "digest": call.digest,
        }
        for call in calls
    ]
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def next_call(
    action: Exec, state: State, run: Run, catalogue: ToolCatalogue, act: Act
) -> Iterator[CallBegun | CallEnded]:
    """Make the next call: yield its beginning, and continue only when that is recorded. A call that
    an earlier process began is not repeated.
    """
    call = outstanding_call(state)
    if call is None:
        return
    if call.status is CallStatus.BEGUN:
        message = "The process that made this call died before an answer came."
        yield _end_call(action, run, call, CallOutcome.UNKNOWN, message)
        return
    yield CallBegun(
        key=f"{action.action_id}/begun",
        at=run.now(),
        action_id=action.action_id,
        artifact=call.artifact,
        index=call.index,
    )
    shown = [record for record in state.calls if record.artifact == call.artifact]
    if run.workspace.read(call.artifact) != document(shown):
        message = f"{call.artifact} does not show what was to be called, so nothing was called."
        yield _end_call(action, run, call, CallOutcome.FAILED, message)
        return
    if catalogue.digests.get(call.capability, call.digest) != call.digest:
        message = (
            f"{call.capability} is not what it was when this was asked for: nothing was called."
        )
        yield _end_call(action, run, call, CallOutcome.FAILED, message)
        return
    wanted = CapabilityRequest(
        key=f"{call.artifact}/{call.index}", capability=call.capability, params=call.params
    )
    began = time.monotonic()
    result, unknown = act(wanted, _RESULT_CHARACTERS)
    result = result.replace(seconds=round(time.monotonic() - began, 3))
    done = CallOutcome.DONE if result.status is ResultStatus.OK else CallOutcome.FAILED
    outcome = CallOutcome.UNKNOWN if unknown else done
    yield _end_call(action, run, call, outcome, result)


def _end_call(
    action: Exec, run: Run, call: CallRecord, outcome: CallOutcome, result: CapabilityResult | str
) -> CallEnded:
    text, note, usage = (
        (result, "", Usage())
        if isinstance(result, str)
        else (result.content, result.note, result.usage)
    )
    name = f"{call.artifact.removesuffix('.json')}-{call.index + 1}.md"
    outcome_words = f"{outcome.value} ({note})" if note else outcome.value
    raw = run.workspace.write(
        name,
        f"# {call.capability}: {outcome_words}\n\n## Arguments\n\n"
        f"{code_block(call.params)}\n\n## Result\n\n"
        f"{code_block(text)}\n",
    )
    return CallEnded(
        **head_of(action.action_id, run.now()),
        artifact=call.artifact,
        index=call.index,
        outcome=outcome,
        result=name,
        blob=blob_id(raw),
        usage=usage,
        uses=() if isinstance(result, str) else (use_of(result),),
    )


def settled_calls(state: State) -> Mapping[tuple[str, str], CapabilityResult]:
    """Return the results of ended calls; no call is made a second time."""
    results: dict[tuple[str, str], CapabilityResult] = {}
    for call in state.calls:
        status_and_text = {
            CallStatus.DONE: (
                ResultStatus.SKIPPED_DUPLICATE,
                f"It was made, once. {call.result} has the result.",
            ),
            CallStatus.FAILED: (
                ResultStatus.SKIPPED_DUPLICATE,
                f"It failed, and is not made again as it is. {call.result} says why.",
            ),
            CallStatus.UNKNOWN: (
                ResultStatus.DENIED,
                "Whether it was made is not known, so it is not made again.",
            ),
            CallStatus.DECLINED: (ResultStatus.DENIED, "A person declined it."),
        }.get(call.status)
        if status_and_text is not None:
            wanted = CapabilityRequest(key="", capability=call.capability, params=call.params)
            results[call.capability, call.params] = result_of(wanted, *status_and_text)
    return results
