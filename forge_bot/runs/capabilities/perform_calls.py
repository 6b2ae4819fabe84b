"""Perform what models ask for. A skill is a conversation of its own with the same model, journal
and budget. A call that may change something is shown as a document and made once, with its result
in a document for the agent that asked.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.agent.ask_model import BatchLane
from forge_bot.agent.assignment import Assignment, StopReason, WorkLimits, WorkResult
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    Effect,
    ResultStatus,
    head,
    result_of,
)
from forge_bot.agent.converse import converse
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.models.base import ChatMessage, Model
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.tools.skills import (
    RUN_SCRIPT,
    SkillDefinition,
    files_of,
    read_skill,
    skill_context,
    skill_digest,
)
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue
from forge_bot.engine import Exec, SpawnAgent, State
from forge_bot.engine.call_records import next_document, outstanding_call
from forge_bot.engine.reports import (
    CallBegun,
    CallEnded,
    CallOutcome,
    CallsRequested,
    RequestedCall,
    head_of,
)
from forge_bot.engine.state import CallRecord, CallStatus
from forge_bot.errors import BadCapabilities
from forge_bot.git import blob_id
from forge_bot.prompts.assemble import assemble
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import InputFile, Material
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.capabilities.outside_capabilities import (
    OutsideCapabilities,
    describe_capability,
    use_of,
)
from forge_bot.runs.models_and_prompts import PERFORMER, opening
from forge_bot.runs.notifications import TellThinking
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.sandbox.box import CommandOutcome
from forge_bot.settings.config import Config
from forge_bot.text_format import code_block
from forge_bot.values import TaskId, Tier, Usage

_TURNS = 12
_RAN = frozenset({ResultStatus.OK, ResultStatus.TOOL_ERROR, ResultStatus.TIMEOUT})


@dataclass(frozen=True)
class SkillPlace:
    """The work that a skill is performed for, and the commit that it looks at."""

    work: Assignment
    commit: str
    providers: ProviderContext
    lane: BatchLane | None = None


@dataclass(frozen=True)
class SkillPerformer:
    """Performs the skills of one run."""

    config: Config
    project: Project
    outside: OutsideCapabilities
    models: Mapping[Tier, Model]
    journal: Journal
    ledger: Ledger
    templates: Environment
    thinking: TellThinking

    async def execute_skill(self, wanted: CapabilityRequest, place: SkillPlace) -> CapabilityResult:
        """Return the outcome of a skill.

        It succeeded if its agent ended with an answer, and the last run of each script with exit
        code 0. The claims of the answer do not count.
        """
        try:
            skill = self._choose_skill(wanted.capability)
        except BadCapabilities as error:
            return result_of(wanted, ResultStatus.TOOL_ERROR, error.message)
        folder, policy = Path(skill.skill_path), self.outside.setup.policy
        network = wanted.capability in policy.network

        def run_script(argv: Sequence[str]) -> CommandOutcome:
            return self.project.run_script(
                place.commit, argv, folder, network=network, seconds=policy.seconds
            )

        context = skill_context(skill, place.providers, run_script)
        finished = await converse(
            self._assignment(wanted, place, context),
            lambda: asyncio.to_thread(self._opening, wanted, skill, place, context),
            model=self.models[place.work.tier],
            context=context,
            journal=self.journal,
            ledger=self.ledger,
            notice=lambda notice: self.thinking(notice, place.work.task),
            lane=place.lane,
        )
        return _result(wanted, finished, place.work.limits.result_chars)

    def _choose_skill(self, name: str) -> SkillDefinition:
        """Return a skill with its instructions. Raises BadCapabilities if it has changed."""
        known = self.outside.catalogue.skill_definitions[name]
        folder = Path(known.skill_path)
        if skill_digest(folder) != self.outside.catalogue.digests[name]:
            raise BadCapabilities(f"{name} was changed since this run has read it: not performed.")
        return read_skill(folder, known.skill_path, whole=True)

    def _assignment(
        self, wanted: CapabilityRequest, place: SkillPlace, context: ProviderContext
    ) -> Assignment:
        policy, work = self.outside.setup.policy, place.work
        return Assignment(
            action_id=f"{work.prefix}{wanted.key}",
            agent=PERFORMER,
            phase=work.phase,
            task=work.task,
            round=work.round,
            # Its place, without the digest of its words.
            asked_at=re.sub(r"-[0-9a-f]{10}$", "", wanted.key),
            tier=work.tier,
            providers=tuple(spec.name for spec in context.catalogue()),
            running=tuple(spec.name for spec in context.catalogue() if spec.effect is Effect.RUNS),
            limits=WorkLimits(**self.config.agent.model_dump()).replace(
                turns=_TURNS,
                seconds=policy.skill_seconds,
                command_seconds=self.project.most_seconds + policy.seconds,
            ),
        )

    def _opening(
        self,
        wanted: CapabilityRequest,
        skill: SkillDefinition,
        place: SkillPlace,
        context: ProviderContext,
    ) -> tuple[ChatMessage, ...]:
        run = self.outside.run
        references, scripts = files_of(skill)
        files = "\n".join(f"- {name}" for name in (*references, *scripts)) or "None."
        request = str(json.loads(wanted.params)["request"])
        shown = (
            (f"instructions of the skill {skill.name}", skill.instructions or skill.description),
            ("files of the skill", files),
            ("what the agent asks for", "\n\n".join(filter(None, (request, wanted.reasoning)))),
        )
        inputs = [InputFile(name=name, text=text, kind="output") for name, text in shown]
        material = Material(
            agent=PERFORMER,
            phase=place.work.phase,
            label=f"Perform the skill {skill.name}",
            delivery="answer",
            workspace=run.workspace.relative,
            output_file="result.md",
            branch=run.state.branch,
            base=run.state.base_branch,
            inputs=(*inputs[:2], inputs[2].replace(untrusted=True)),
            capabilities=tuple(describe_capability(entry) for entry in context.catalogue()),
            limits=(_TURNS, self.config.agent.requests_per_turn),
        )
        budget = self.config.agent.prompt_tokens
        return opening(assemble(material, self.templates, token_budget=budget))


def _result(wanted: CapabilityRequest, finished: WorkResult, limit: int) -> CapabilityResult:
    """Return the result with the exit codes of the scripts, beside the agent's words."""
    scripts = [item for item in finished.observations if item.capability == RUN_SCRIPT]
    ran = {
        str(json.loads(item.params).get("path")): item for item in scripts if item.status in _RAN
    }
    refused = bool(scripts) and not ran
    facts = "; ".join(
        f"{name}: {item.note.partition(';')[0] or item.status.value}" for name, item in ran.items()
    )
    answer = finished.answer.artifact_markdown.strip() if finished.answer is not None else ""
    words = answer or finished.message or f"It ended without a result: {finished.stop.value}."
    shown = head(words, limit)
    succeeded = not refused and all(item.status is ResultStatus.OK for item in ran.values())
    good = finished.stop is StopReason.ANSWERED and succeeded
    late = finished.stop is StopReason.DEADLINE
    failed = ResultStatus.TIMEOUT if late else ResultStatus.TOOL_ERROR
    result = result_of(wanted, ResultStatus.OK if good else failed, shown.content)
    none_ran = "its script was refused" if refused else "no script ran"
    note = "; ".join(filter(None, (facts or none_ran, shown.note)))
    return result.replace(note=note, usage=finished.usage)


CALLS = "calls-"
"""The beginning of the names of these documents."""

_RESULT_CHARACTERS = 8_000

Act = Callable[[CapabilityRequest, int], tuple[CapabilityResult, bool]]
"""Makes a call; also tells whether its outcome is unknown."""


def calls_requested(
    run: Run,
    action: SpawnAgent,
    task: TaskId | None,
    finished: WorkResult,
    catalogue: ToolCatalogue,
) -> CallsRequested:
    """Write the document that shows the calls, and return the report of their request."""
    skills = catalogue.skill_definitions
    calls = tuple(
        RequestedCall(
            capability=request.capability,
            capability_type="skill" if request.capability in skills else "mcp_tool",
            params=request.params,
            reasoning=" ".join(clean(request.reasoning).text.split())[:500],
            digest=catalogue.digests[request.capability],
        )
        for request in finished.calls
    )
    name = next_document(run.state, CALLS)
    raw = run.workspace.write(name, document(calls))
    return CallsRequested(
        **head_of(action.action_id, run.now(), task),
        phase=action.phase,
        task=task,
        calls=calls,
        asks=any(request.capability in catalogue.asked for request in finished.calls),
        artifact=name,
        blob=blob_id(raw),
        usage=finished.usage,
    )


def document(calls: Sequence[RequestedCall | CallRecord]) -> str:
    """Return the document of exactly these calls: every argument, in full."""
    keys = ("capability", "capability_type", "params", "reasoning", "digest")
    shown = [
        {key: getattr(call, key) for key in keys} | {"params": json.loads(call.params)}
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
    changed = ""
    if run.workspace.read(call.artifact) != document(shown):
        changed = f"{call.artifact} does not show what was to be called"
    elif catalogue.digests.get(call.capability, call.digest) != call.digest:
        changed = f"{call.capability} is not what it was when this was asked for"
    if changed:
        message = f"{changed}, so nothing was called."
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
        if (settled := _SETTLED.get(call.status)) is not None:
            status, text = settled
            wanted = CapabilityRequest(key="", capability=call.capability, params=call.params)
            results[call.capability, call.params] = result_of(
                wanted, status, text.format(document=call.result)
            )
    return results


_SETTLED = {
    CallStatus.DONE: (
        ResultStatus.SKIPPED_DUPLICATE,
        "It was made, once. {document} has the result.",
    ),
    CallStatus.FAILED: (
        ResultStatus.SKIPPED_DUPLICATE,
        "It failed, and is not made again as it is. {document} says why.",
    ),
    CallStatus.UNKNOWN: (
        ResultStatus.DENIED,
        "Whether it was made is not known, so it is not made again.",
    ),
    CallStatus.DECLINED: (ResultStatus.DENIED, "A person declined it."),
}
