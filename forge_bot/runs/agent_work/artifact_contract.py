"""The requirements of an artifact, and the problems of a text that has to meet them."""

from forge_bot.artifacts.nothing_to_do import read_nothing_to_do
from forge_bot.artifacts.open_decisions import read_open_decisions
from forge_bot.artifacts.plans import document_facts
from forge_bot.artifacts.read_artifact import inspect
from forge_bot.artifacts.sections import split_documents
from forge_bot.engine import SpawnAgent
from forge_bot.engine.phases import (
    AgentPhase,
    AnsweringPhase,
    AnyPhase,
    ReviewPhase,
    TaskReviewPhase,
)
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.run import Run
from forge_bot.settings.instructions import Rules
from forge_bot.values import Frozen, Inspection, Problem, Verdict

_HIDDEN = (
    "it holds what a reader is not shown: {what}; take it out, or put it into backticks or a code"
    " block so that it is seen"
)


class ArtifactContract(Frozen):
    """The requirements of an artifact."""

    headings: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = ()
    tasks: bool = False
    rules: Rules = Rules()
    plans: bool = False
    carries: tuple[str, ...] = ()
    may_end_run: bool = False
    next_document: "ArtifactContract | None" = None

    def split(self, text: str) -> tuple[str, str]:
        """Return this document and the next one of an answer; "" if it has no other."""
        if self.next_document is None or read_nothing_to_do(text)[0] is not None:
            return text, ""
        return split_documents(text)

    def inspect(self, text: str) -> Inspection:
        """Return the values in the artifact, and its problems.

        Invisible text is a problem: a later model would read it, and the person who approves does
        not see it.
        """
        own, following = self.split(text)
        found = self._inspected(own)
        if self.next_document is None or not following:
            return found
        problems = (*found.problems, *self.next_document.inspect(following).problems)
        return found.replace(next_document=following, problems=problems)

    def _inspected(self, text: str) -> Inspection:
        found = inspect(text, headings=self.headings, verdicts=self.verdicts, tasks=self.tasks)
        found = found.replace(tasks=self.rules.applied(found.tasks)) if found.tasks else found
        found = found.replace(**document_facts(text, plans=self.plans, carries=self.carries))
        if self.plans:
            _, unread = read_open_decisions(text)
            found = found.replace(problems=(*found.problems, *unread))
        if self.may_end_run:
            unneeded, lacking = read_nothing_to_do(text)
            found = found.replace(nothing_to_do=unneeded, problems=(*found.problems, *lacking))
        unseen = (
            what_is_hidden(text) if not any(problem.fatal for problem in found.problems) else ""
        )
        if not unseen:
            return found
        problem = Problem(place="", message=_HIDDEN.format(what=unseen), fatal=False)
        return found.replace(problems=(*found.problems, problem))

    def complaints(self, text: str) -> tuple[str, ...]:
        """Return why the artifact has to go back to its author; empty if it can be taken."""
        inspection = self.inspect(text)
        found = [str(problem) for problem in inspection.problems]
        if inspection.verdict is Verdict.UNREADABLE:
            allowed = ", ".join(verdict.value for verdict in self.verdicts)
            found.append(
                f"there must be exactly one verdict out of {allowed}, and it must agree with the"
                " findings"
            )
        return tuple(found)


def artifact_contract(run: Run, action: SpawnAgent) -> ArtifactContract:
    """The contract of the artifact that an action asks for."""
    return contract_of(run, run.pipeline.phase(action.phase), action.headings)


def answer_contract(run: Run, action: SpawnAgent) -> ArtifactContract:
    """The contract of an answer, which may hold the document of a later phase too."""
    own = artifact_contract(run, action)
    later = run.pipeline.also_written(action.phase, run.state.effort)
    if later is None:
        return own
    return own.replace(next_document=contract_of(run, later, later.headings))


def contract_of(run: Run, phase: AnyPhase, headings: tuple[str, ...]) -> ArtifactContract:
    """Return the contract of a phase's artifact."""
    plan = run.pipeline.approved_first
    return ArtifactContract(
        headings=headings,
        verdicts=phase.verdicts if isinstance(phase, ReviewPhase | TaskReviewPhase) else (),
        tasks=isinstance(phase, AgentPhase) and phase.tasks,
        rules=run.rules if isinstance(phase, AgentPhase) and phase.tasks else Rules(),
        plans=plan is not None and phase.id == plan.id,
        carries=phase.carries if isinstance(phase, AnsweringPhase) else (),
        may_end_run=isinstance(phase, AgentPhase) and phase.may_end_run,
    )
