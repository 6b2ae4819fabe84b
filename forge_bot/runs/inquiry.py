"""A person's question about a run, answered by a model that may look things up. The run's state
does not change, except for the cost.
"""

import asyncio

from forge_bot.agent.assignment import Assignment, StopReason, WorkLimits, WorkResult, beginning
from forge_bot.agent.converse import converse
from forge_bot.agent.model_answers import Document
from forge_bot.agent.models.base import ChatMessage
from forge_bot.engine.phases import LOOKING_AROUND
from forge_bot.engine.reports import Asked
from forge_bot.errors import BadOption
from forge_bot.prompts.assemble import assemble
from forge_bot.prompts.material import InputFile, Material
from forge_bot.runs.agent_work.agents import Agents, available
from forge_bot.runs.capabilities.outside_capabilities import describe_capability
from forge_bot.runs.frozen_attachments import attachment_inputs, images_for
from forge_bot.runs.models_and_prompts import INQUIRY, opening
from forge_bot.runs.notifications import Explained, PhaseBegan, PhaseEnded
from forge_bot.runs.prompt_material.prompt_context import layer_three
from forge_bot.runs.question import open_question
from forge_bot.runs.this_process import now
from forge_bot.text_format import cut
from forge_bot.values import Tier

_LABEL = "Your question"
_LONGEST = 20_000
_ANSWER_KEPT = 4_000
"""Characters of an answer that stay in the record, for questions that follow up on it."""

_EARLIER = 4
"""Earlier questions of the same gate or phase that a new one comes with."""


def answer_in(finished: WorkResult) -> str:
    """Return the answer to a question, as Markdown; empty if there is none."""
    return finished.answer.artifact_markdown.strip() if finished.answer is not None else ""


def _checked(question: str) -> str:
    text = question.replace("\0", "").strip()
    if not any(character.isalnum() for character in text):
        raise BadOption(
            "The question has no words.",
            hint='Write for example: forge-bot ask "Why is the old name kept?"',
        )
    if len(text) > _LONGEST:
        raise BadOption(
            f"The question has {len(text):,} characters; {_LONGEST:,} are the most.",
            hint="Name a file instead of quoting it.",
        )
    return text


class Inquirer:
    """Answers a person's question about a run that this process holds, as one of its agents."""

    def __init__(self, agents: Agents, *, by: str, via: str) -> None:
        self.agents = agents
        self.run = run = agents.run
        self.model = agents.models[Tier.STANDARD]
        self.by = by
        self.via = via
        self.asked = [one for one in run.workspace.reports() if isinstance(one, Asked)]
        self.round = len(self.asked) + 1
        self.name = f"ask/{self.round}"
        gate = run.state.gate
        self.place = gate.name if gate is not None else run.state.current_phase
        self.earlier = [one for one in self.asked if one.phase == self.place][-_EARLIER:]
        self.prompts = agents.prompts
        self.context = agents.worktrees.own.context
        self.capabilities = self.context.catalogue(LOOKING_AROUND)
        self.images = images_for(run, run.config.model_for(Tier.STANDARD))

    def inquire(self, question: str, key: str = "") -> WorkResult:
        """Answer a question about the open gate, or about the run so far, and record the cost.

        No event loop may be running. `key` is the caller's own, such as a comment's id. If an
        answer is recorded under it, that answer is returned and no model is asked. A question that
        was recorded without an answer is asked anew.

        Raises BadOption for a question without words or of more than 20,000 characters, and
        ModelUnavailable. For every other end without an answer, `stop` and `message` give the
        reason.
        """
        before = next((report for report in self.asked if report.key == key), None)
        if before is not None and before.answer:
            known = Document(artifact_markdown=before.answer)
            return WorkResult(stop=StopReason.ANSWERED, answer=known, usage=before.usage)
        # A key counts once, and what is asked anew costs anew.
        finished, report = asyncio.run(self.look_into(question, "" if before else key))
        if report is not None:
            self.run.tell(report)
        return available(finished)

    async def look_into(self, question: str, key: str = "") -> tuple[WorkResult, Asked | None]:
        """Let a model answer a question, and show the answer; with the report on its cost, which
        the caller records, if it cost anything.

        Killed between the two, the same question gets the answer in the journal: what is recorded
        was shown. Pass the result to `available` once the report is recorded. Raises BadOption as
        `inquire` does.
        """
        text = _checked(question)
        self.agents.tell(PhaseBegan(phase=self.place, label=_LABEL, agent=INQUIRY))
        finished = await self._answered(text)
        answer = answer_in(finished)
        if finished.stop is not StopReason.MODEL_UNAVAILABLE:
            words = "answered" if answer else f"no answer: {finished.message}"
            ended = PhaseEnded(phase=self.place, label=_LABEL, result=words, usage=finished.usage)
            self.agents.tell(ended.replace(good=bool(answer)))
        if answer:
            self.agents.tell(Explained(answer=answer))
        if not (finished.usage.calls or finished.usage.cost or finished.usage.unanswered):
            return finished, None
        return finished, Asked(
            key=key or self.name,
            at=now(),
            phase=self.place,
            question=text,
            answer=cut(answer, _ANSWER_KEPT),
            usage=finished.usage,
            by=self.by,
            via=self.via,
        )

    async def _answered(self, text: str) -> WorkResult:
        """Return the result of the model's work on the question."""
        agents = self.agents
        await asyncio.to_thread(agents.access.renew, self.model.name)
        return await converse(
            self._assignment(text),
            lambda: asyncio.to_thread(self._opening, text),
            model=self.model,
            context=self.context,
            journal=agents.journal,
            ledger=agents.ledger,
            notice=agents.thinking,
            images={image.digest: data for image, data in self.images},
        )

    def _opening(self, text: str) -> tuple[ChatMessage, ...]:
        material, budget = self._material(text), self.run.config.agent.prompt_tokens
        prompt = assemble(material, self.prompts.environment, token_budget=budget)
        images = [image for image, _ in self.images]
        return opening(prompt, material.inputs, self.agents.tell, images=images)

    def _assignment(self, text: str) -> Assignment:
        run = self.run
        documents = [str(run.workspace.read_bytes(name)) for name in self._documents()]
        return Assignment(
            action_id=self.name,
            agent=INQUIRY,
            phase=self.place,
            round=self.round,
            began=beginning(text, documents, self._standing(), run.state.step),
            providers=tuple(entry.name for entry in self.capabilities),
            limits=WorkLimits(**run.config.agent.model_dump()),
        )

    def _material(self, text: str) -> Material:
        state, settings = self.run.state, self.run.config.agent
        return Material(
            agent=INQUIRY,
            phase=self.place,
            label="Answer the question",
            delivery="answer",
            workspace=self.run.workspace.relative,
            output_file="answer.md",
            branch=state.branch,
            base=state.base_branch,
            inputs=self._inputs(),
            decided=self.prompts.decided(set()),
            question=text,
            repository=layer_three(self.prompts.profile, ()),
            capabilities=tuple(map(describe_capability, self.capabilities)),
            limits=(settings.turns, settings.requests_per_turn),
        )

    def _inputs(self) -> tuple[InputFile, ...]:
        documents = [
            name for name in self._documents() if self.run.workspace.read_bytes(name) is not None
        ]
        stands = InputFile(
            name="where the run stands", text=self._standing(), kind="output", untrusted=True
        )
        conversation = "\n\n".join(
            f"Question: {report.question}\n\nAnswer: {report.answer}" for report in self.earlier
        )
        before = InputFile(name="questions asked here before", text=conversation, kind="output")
        model = self.run.config.model_for(Tier.STANDARD)
        attached = attachment_inputs(self.run, model, "answer")
        shown = (self.prompts.inputs.artifact(name) for name in documents)
        return (*shown, *attached, stands, *([before] if conversation else []))

    def _documents(self) -> tuple[str, ...]:
        """Return the request and the documents of the open gate. Without a gate, or if it shows
        nothing, return every document so far.
        """
        state = self.run.state
        files = [file.name for file in state.gate.files] if state.gate is not None else []
        order = {phase.id: place for place, phase in enumerate(self.run.pipeline.phases)}
        every = sorted(state.artifacts, key=lambda name: order[state.artifacts[name].phase])
        return tuple(dict.fromkeys(("request.md", *(files or every))))

    def _standing(self) -> str:
        state = self.run.state
        phase = self.run.pipeline.phase(state.current_phase)
        status = state.current_phase_status.value.replace("_", " ")
        lines = [f"Phase: {phase.label} ({phase.id}), {status}"]
        if (asked := open_question(self.run)) is not None:
            lines += [f"Open question: {asked.title}", *asked.data.decision]
            lines += [f"Risk: {risk}" for risk in asked.data.risks]
            lines += [
                f"Finding: [{finding.severity.value}] {finding.description}"
                for finding in asked.data.findings
            ]
        lines += [
            f"Task {task.spec.id}, {task.spec.title}: {task.status.value}" for task in state.tasks
        ]
        paths = ", ".join(f"{self.run.workspace.relative}/{name}" for name in state.artifacts)
        return "\n".join((*lines, f"Documents of the run: {paths}"))
