"""From an action to a prompt: artifacts, diff, files, profile and the lessons of earlier runs."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from forge_bot.agent.tools.setup import matches_a_glob
from forge_bot.artifacts.tasks import is_whole
from forge_bot.engine import SpawnAgent
from forge_bot.engine.drafts import may_draft
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.phases import AgentPhase, AnsweringPhase, ReviewPhase, TaskReviewPhase
from forge_bot.engine.state import Reason, TaskState
from forge_bot.engine.transitions import PROCESS
from forge_bot.git import Repository
from forge_bot.knowledge.history import Lesson, history_at
from forge_bot.project.detected_commands import Command
from forge_bot.prompts.assemble import assemble
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import Capability, Delivery, Line, Material, NextDocument, Prompt
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.project_commands.commit_profile import Profile
from forge_bot.runs.prompt_material.prompt_inputs import ChangeInputs, PromptInputs
from forge_bot.runs.run import Run
from forge_bot.text_format import command_line, short_line
from forge_bot.values import TaskId, TaskSpec
from forge_bot.verification.judgement import going_without_setup

_FEW_FILES = 60
_OF_COMMANDS = (Reason.BASELINE, Reason.SETUP_FAILED)


class PromptContext:
    """Makes the prompts of one run."""

    def __init__(
        self,
        run: Run,
        profile: Profile,
        environment: Environment,
        delivery: Delivery = "answer",
    ) -> None:
        self.run = run
        self.changes = ChangeInputs(run)
        self.delivery: Delivery = delivery
        self.inputs = PromptInputs(run, self.changes, delivery)
        self.profile = profile
        self.environment = environment
        self.capabilities: tuple[Capability, ...] = ()
        self.menu_notes: tuple[str, ...] = ()

    def prompt(
        self, action: SpawnAgent, task: TaskId | None, turns: tuple[int, int], budget: int, at: str
    ) -> tuple[Prompt, Material]:
        """Return the prompt for an action (and one task of it), and its inputs. Files are shown as
        they are at the commit `at`.
        """
        material = self._material(action, task, turns, at)
        return assemble(material, self.environment, token_budget=budget), material

    def _material(
        self, action: SpawnAgent, task_id: TaskId | None, turns: tuple[int, int], at: str
    ) -> Material:
        state = self.run.state
        phase = self.run.pipeline.phase(action.phase)
        if not isinstance(phase, AnsweringPhase):
            raise TypeError(f"{action.phase} has no agent")
        task = state.task(task_id)
        return Material(
            agent=action.agent,
            phase=action.phase,
            label=phase.label,
            delivery=self.delivery,
            workspace=self.run.workspace.relative,
            output_file=self.output_file(action, task_id),
            branch=state.branch,
            base=state.base_branch,
            change=self.changes.command(task, phase) if self.delivery == "files" else "",
            inputs=self.inputs.of(action, task, phase, at),
            further=self.inputs.further(phase),
            headings=(*action.headings, *action.closing),
            next_documents=self._next_documents(action),
            verdicts=_verdicts(phase),
            task=self._task(task),
            round=self.round(action, task_id),
            **self._collect_remarks(phase, task_id),
            repository=layer_three(
                self.profile,
                _few_files(self.run.repository, state.base_commit),
                state.flags.scope,
                going_without_setup(state.unusable),
            ),
            **self._recall(phase, task),
            instruction=phase.instruction if isinstance(phase, AgentPhase) else "",
            capabilities=self._list_capabilities(phase.providers),
            # The requests that any agent of the pipeline may make.
            offered=self._list_capabilities(
                [name for phase in self.run.pipeline.speaking for name in phase.providers]
            ),
            menu_notes=self.menu_notes,
            answer="Change" if self.run.pipeline.implements(phase.id) else "Document",
            drafts=self.delivery == "answer" and may_draft(self.run.pipeline, state, phase.id),
            limits=turns,
        )

    def _task(self, task: TaskState | None) -> TaskSpec | None:
        """Return the task of the prompt. Criteria that only name the design are left out: the agent
        reads the design.
        """
        if task is None or not is_whole(task.spec.acceptance, self.run.pipeline.planned_in):
            return task.spec if task is not None else None
        return task.spec.replace(acceptance=())

    def _next_documents(self, action: SpawnAgent) -> tuple[NextDocument, ...]:
        """Return the documents that the agent may write with its own, unless they were written."""
        state = self.run.state
        later = self.run.pipeline.also_written(action.phase, state.effort)
        written = state.artifacts if self.delivery == "files" else ()
        return tuple(
            NextDocument(
                output_file=phase.writes,
                agent=phase.agent,
                phase=phase.id,
                headings=phase.headings,
                sized=not any(
                    later.tasks and state.effort in later.skip
                    for later in self.run.pipeline.phases
                    if isinstance(later, AgentPhase)
                ),
            )
            for phase in later
            if phase.writes not in written
        )

    def _list_capabilities(self, wanted: Sequence[str]) -> tuple[Capability, ...]:
        """Return the requests that an agent may make, or any agent of the pipeline."""
        return tuple(entry for entry in self.capabilities if matches_a_glob(entry.name, wanted))

    def output_file(self, action: SpawnAgent, task: TaskId | None) -> str:
        return action.output_file.replace("{task}", task or "")

    def round(self, action: SpawnAgent, task: TaskId | None) -> int:
        place = f"{action.phase}/{task}" if task is not None else action.phase
        return self.run.state.visits.get(place, 0) + 1

    def _collect_remarks(self, phase: AnsweringPhase, task: TaskId | None) -> dict[str, Any]:
        """Return what a phase, or its task, is told by people and by the process."""
        notes = [
            note
            for note in self.run.state.notes
            if note.phase == phase.id and note.task in {None, task}
        ]
        no_person = {PROCESS, *(phase.agent for phase in self.run.pipeline.speaking)}
        return {
            "notes": tuple(note.text for note in notes if note.by not in no_person),
            "decided": (*self.decided({note.text for note in notes}), *self._list_requirements()),
            "problems": tuple(note.text for note in notes if note.by == PROCESS),
        }

    def decided(self, said_anyway: set[str]) -> tuple[str, ...]:
        """Return people's answers at the checkpoints, for agents other than the ones addressed,
        without those about setup and commands.
        """
        labels = {phase.id: phase.label for phase in self.run.pipeline.phases}
        return tuple(
            f"{decision.by} at {decision.gate} ({labels[decision.gate]}): {decision.notes}"
            for decision in (*self.run.state.decisions, *self.run.state.sent_back)
            if decision.notes
            and decision.notes not in said_anyway
            and decision.reason not in _OF_COMMANDS
        )

    def _list_requirements(self) -> tuple[str, ...]:
        """Return what people required with their approvals, for every agent."""
        return tuple(
            f"{asked.number}, required by a person at {asked.gate}: {asked.text}"
            for asked in person_requirements(self.run.state)
        )

    def _recall(self, phase: AnsweringPhase, task: TaskState | None) -> dict[str, Any]:
        """Return lessons of earlier runs, a line each. What the agent is not shown is not looked
        for: the first search in many past runs takes its time.
        """
        parts = phase.recalls
        if not parts:
            return {}
        run, request = self.run, self.run.request
        history = history_at(run.repository, run.state.base_commit, run.pipeline.summary)
        text = f"{request.title}\n{request.text}"
        files = task.spec.files if task is not None else ()
        about = text if task is None else f"{task.spec.title}\n{text}"
        alike = history.similar(about, files, exclude=run.name) if "similar" in parts else ()
        patterns = history.patterns(about, files) if "patterns" in parts else ()
        return {
            "similar": tuple(past.in_words() for past in alike),
            "patterns": tuple(map(_lesson_in_words, patterns)),
            "friction": history.friction(about) if "friction" in parts else (),
        }


def _verdicts(phase: AnsweringPhase) -> tuple[str, ...]:
    if not isinstance(phase, ReviewPhase | TaskReviewPhase):
        return ()
    return tuple(verdict.value for verdict in phase.verdicts)


def _lesson_in_words(entry: Lesson) -> str:
    """Return a finding of earlier runs as a line. Invisible text is removed from the words of a
    person, since they come from a comment.
    """
    if entry.by_person:
        return (
            f"[a person sent work back] {clean(entry.text).text} (in {entry.seen}"
            f" run{'s' if entry.seen > 1 else ''})"
        )
    return f"[{entry.severity.value}] {entry.text} (seen {entry.seen} times)"


def layer_three(
    profile: Profile, files: tuple[str, ...], scope: str = "", without: str = ""
) -> tuple[Line, ...]:
    """Return a prompt's description of the repository; `files` are all of its files, if few.
    `without` says that no command can run.
    """
    commands = profile.commands

    def words(commands: Sequence[Command]) -> str:
        return "; ".join(
            command_line(command.argv)
            + (f" (the script is: {short_line(command.script)})" if command.script else "")
            for command in commands
        )

    stays = f"The change stays in {scope}/. A change of any other file waits for a person."
    facts = (
        ("Scope", stays if scope else ""),
        (
            "Languages",
            ", ".join(f"{language.name} ({language.percent}%)" for language in profile.languages),
        ),
        ("Build command", words(commands.build)),
        ("Test command", words(commands.test)),
        ("Linter", words(commands.lint)),
        ("Characters of a line, at most", profile.longest_line),
        ("McCabe complexity of a function, at most", profile.highest_complexity),
        ("No command runs", without),
        ("Files", "\n".join(files)) if files else ("Layout", "\n".join(profile.layout)),
    )
    return tuple(Line(label=label, text=text) for label, text in facts if text)


@lru_cache(maxsize=8)
def _few_files(repository: Repository, commit: str) -> tuple[str, ...]:
    """The files of a commit but hidden ones; none of them if there are many. What an id
    names never changes.
    """
    names = [name for name in repository.list_files(commit) if not name.startswith(".")]
    return tuple(names) if len(names) <= _FEW_FILES else ()
