"""The requirements of an artifact, the problems of a text that has to meet them; and signs of risk
in it and in how a repository is set up, which a person should see first.
"""

import re
from collections.abc import Collection, Sequence

from pydantic import Field

from forge_bot.artifacts.design_outline import read_open_decisions
from forge_bot.artifacts.markdown import read_section, split_documents
from forge_bot.artifacts.plans import document_facts, read_nothing_to_do
from forge_bot.artifacts.read_artifact import AnswersFor, inspect, numbered_requirements
from forge_bot.engine import SpawnAgent
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.phases import (
    AgentPhase,
    AnsweringPhase,
    AnyPhase,
    ReviewPhase,
    TaskReviewPhase,
)
from forge_bot.engine.process_documents import REQUIREMENTS
from forge_bot.git import Repository
from forge_bot.interaction.house_demands import GUIDES, refusals_of_ai
from forge_bot.interaction.pull_request_template import find_template
from forge_bot.knowledge.history import REQUEST
from forge_bot.prompts.untrusted import what_is_hidden, with_visible_tags
from forge_bot.runs.frozen_attachments import decision_needed, unseen_risks
from forge_bot.runs.project_commands.commit_profile import Profile
from forge_bot.runs.run import Run
from forge_bot.runs.run_snapshot import RunSnapshot
from forge_bot.sandbox.box import BackendName
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.values import Frozen, Inspection, Problem, TaskId, Verdict

_HIDDEN = (
    "it holds what a reader is not shown: {what}; take it out, or put it into backticks or a code"
    " block so that it is seen; `|` in a table's cell is written `\\|`, in code too"
)


class ArtifactContract(Frozen):
    """The requirements of an artifact."""

    headings: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = ()
    answers_for: AnswersFor = AnswersFor()
    tasks: bool = False
    plans: bool = False
    carries: tuple[str, ...] = ()
    may_end_run: bool = False
    open_decision: str = Field(default="", description="what a person has to decide, as a phrase")
    next_documents: tuple["ArtifactContract", ...] = ()

    def split(self, text: str) -> tuple[str, ...]:
        """Return this document and the next ones of an answer. What stands in them like a tag of no
        language is seen as it is written.
        """
        text = with_visible_tags(text)
        if not self.next_documents or read_nothing_to_do(text)[0] is not None:
            return (text,)
        return split_documents(text, 1 + len(self.next_documents))

    def inspect(self, text: str, next_files: tuple[str, ...] | None = None) -> Inspection:
        """Return the values in the artifact, and its problems. The next documents are in the same
        text, or in files of their own.

        Invisible text is a problem: a later model would read it, and the person who approves does
        not see it.
        """
        own, *following = self.split(text) if next_files is None else (text, *next_files)
        inspection = self._inspect(own)
        pairs = tuple(zip(self.next_documents, following, strict=False))
        problems = (
            problem for contract, later in pairs for problem in contract.inspect(later).problems
        )
        return inspection.replace(
            next_documents=tuple(later for _, later in pairs),
            problems=(*inspection.problems, *problems),
        )

    def _inspect(self, text: str) -> Inspection:
        inspection = inspect(
            text,
            headings=self.headings,
            verdicts=self.verdicts,
            answers_for=self.answers_for,
            tasks=self.tasks,
        )
        inspection = inspection.replace(
            **document_facts(text, plans=self.plans, carries=self.carries)
        )
        if self.plans:
            decisions, unread = read_open_decisions(text)
            if self.open_decision and not (decisions or unread):
                unread = (Problem(place="Decisions", message=self.open_decision, fatal=False),)
            inspection = inspection.replace(problems=(*inspection.problems, *unread))
        if self.may_end_run:
            unneeded, lacking = read_nothing_to_do(text)
            inspection = inspection.replace(
                nothing_to_do=unneeded, problems=(*inspection.problems, *lacking)
            )
        if any(one.fatal for one in inspection.problems) or not (unseen := what_is_hidden(text)):
            return inspection
        problem = Problem(place="", message=_HIDDEN.format(what=unseen), fatal=False)
        return inspection.replace(problems=(*inspection.problems, problem))

    def complaints(self, text: str, next_files: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return why the artifact has to go back to its author; empty if it can be taken."""
        inspection = self.inspect(text, next_files)
        return (*map(str, inspection.problems), *inspection.contradictions)


def answer_contract(
    run: Run | RunSnapshot, action: SpawnAgent, task: TaskId | None
) -> ArtifactContract:
    """Return the contract of an answer to an action, of one task where it has several. It may hold
    the documents of later phases too.
    """
    phase = run.pipeline.phase(action.phase)
    table = REQUIREMENTS in {*action.headings, *action.closing}
    later = run.pipeline.also_written(action.phase, run.state.effort)
    return contract_of(run, phase, action.headings).replace(
        answers_for=_answers_for(run, phase, task, table=table),
        next_documents=tuple(contract_of(run, phase, phase.headings) for phase in later),
    )


def _answers_for(
    run: Run | RunSnapshot, phase: AnyPhase, task: TaskId | None, *, table: bool
) -> AnswersFor:
    """Return the requirements that a review answers for: those that the task names, else all where
    the review is of the whole change.
    """
    if not (table or isinstance(phase, TaskReviewPhase)) or not isinstance(
        phase, ReviewPhase | TaskReviewPhase
    ):
        return AnswersFor()
    ids = tuple(listed_requirements(run))
    persons = tuple(requirement.number for requirement in person_requirements(run.state))
    if table:
        return AnswersFor(ids=ids, persons=persons, table=True)
    reviewed = run.state.task(task)
    words = (reviewed.spec.title, *reviewed.spec.acceptance) if reviewed is not None else ()
    named = {number for text in words for number in re.findall(r"\b[A-Z]-\d+", text)}
    return AnswersFor(ids=tuple(number for number in (*ids, *persons) if number in named))


def listed_requirements(run: Run | RunSnapshot) -> dict[str, str]:
    """Return the run's requirements by number, from the first document that lists them."""
    written = [phase.writes for phase in run.pipeline.phases if isinstance(phase, AgentPhase)]
    lists = (numbered_requirements(run.artifact(name) or "") for name in written)
    none = dict[str, str]()
    return next((listed for listed in lists if listed), none)


def contract_of(
    run: Run | RunSnapshot, phase: AnyPhase, headings: tuple[str, ...]
) -> ArtifactContract:
    plan = run.pipeline.approved_first
    plans = plan is not None and phase.id == plan.id
    return ArtifactContract(
        headings=headings,
        verdicts=phase.verdicts if isinstance(phase, ReviewPhase | TaskReviewPhase) else (),
        tasks=isinstance(phase, AgentPhase) and phase.tasks,
        plans=plans,
        carries=phase.carries if isinstance(phase, AnsweringPhase) else (),
        may_end_run=isinstance(phase, AgentPhase) and phase.may_end_run,
        open_decision=decision_needed(run.artifact(REQUEST)) if plans else "",
    )


_PATH = re.compile(r"`([\w./@+-]+)`")
_LIKE_A_PATH = re.compile(r"\.?[\w-]+(?:/[\w.-]+)*/[\w-]+\.\w{1,8}")
_MANY_FILES = 15


def _design_risks(
    design: str, files: Collection[str], patterns: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the risks that a design changes protected paths or many files: signs, not proofs. What
    it changes stands under `Changes`; without such a section all that it names counts.

    `files` are those of the repository, `patterns` its own protected paths. A name that is none of
    the files counts if it looks like a path with a folder.
    """
    named = _PATH.findall(read_section(design, "Changes") or design)
    paths = sorted({path for path in named if path in files or _LIKE_A_PATH.fullmatch(path)})
    touched = protected_changes(paths, patterns)
    risks = [f"names protected files: {', '.join([*touched][:5])}"] if touched else []
    risks += [f"names {len(paths):,} files"] if len(paths) > _MANY_FILES else []
    return tuple(risks)


def ai_risks(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return what the repository's guide and its template for pull requests say against changes by
    AI.
    """
    template = find_template(repository.list_files(commit))
    texts = repository.read_many(commit, [*GUIDES, *filter(None, [template])])
    return refusals_of_ai({path: raw.decode("utf-8", "replace") for path, raw in texts.items()})


def setup_risks(profile: Profile, backend: BackendName | None) -> tuple[str, ...]:
    """Risk flags of the repository: nothing to verify with, no sandbox around its commands, no
    network namespace around setup.

    `backend` is None where nothing had to be run.
    """
    risks: list[str] = []
    if not profile.commands.test:
        risks.append("there are no tests to verify with")
    if backend is BackendName.OFF:
        risks.append("project commands run without a sandbox: see forge-bot doctor")
    if profile.commands.setup and backend in _SETUP_RISKS:
        risks.append(_SETUP_RISKS[backend])
    return tuple(risks)


_SETUP_RISKS: dict[BackendName | None, str] = {
    BackendName.OFF: "setup has the machine's network, without a proxy",
    BackendName.LANDLOCK: (
        "setup has no network namespace here: it could call any address at one port, past the proxy"
    ),
}


def signs_of_risk(run: Run, phase: AnyPhase, text: str) -> tuple[str, ...]:
    """Return the signs of risk in a document that a person is shown at the next question."""
    if not (isinstance(phase, AgentPhase) and phase.shows_risks):
        return ()
    files = run.repository.list_files(run.state.base_commit)
    return (*_design_risks(text, files, run.config.protected), *unseen_risks(run))
