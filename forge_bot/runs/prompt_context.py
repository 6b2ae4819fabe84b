"""From an action to a prompt: artifacts, diff, files, profile and what earlier runs teach."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from forge_bot.engine import SpawnAgent
from forge_bot.engine.external_events import CHECKS, CONFLICTS
from forge_bot.engine.phases import (
    AgentPhase,
    AnsweringPhase,
    ReviewPhase,
    TaskReviewPhase,
    VerifyPhase,
)
from forge_bot.engine.process_documents import process_document
from forge_bot.engine.state import Note, TaskState
from forge_bot.engine.transitions import PROCESS
from forge_bot.engine.verification_report import commands_section
from forge_bot.git import Repository
from forge_bot.knowledge import ENV, DocumentNames, Pattern, Profile
from forge_bot.knowledge.history import History, Recall
from forge_bot.prompts.assemble import assemble
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import (
    Capability,
    Delivery,
    InputFile,
    Line,
    Material,
    NextDocument,
    Prompt,
)
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.change_inputs import ChangeInputs
from forge_bot.runs.notifications import Notify, PastRunsRead
from forge_bot.runs.past_run_index import NOBODY, Listener, history_at
from forge_bot.runs.prompt_files import PromptFiles
from forge_bot.runs.run import Run
from forge_bot.runs.tool_effects import CALLS
from forge_bot.store import SPECS
from forge_bot.values import TaskId

REQUEST = "request.md"

_FEW_FILES = 60


class PromptContext:
    """Makes the prompts of one run."""

    def __init__(
        self,
        run: Run,
        profile: Profile,
        environment: Environment,
        delivery: Delivery = "answer",
        tell: Notify | None = None,
    ) -> None:
        self.run = run
        self.tell = tell
        self.changes = ChangeInputs(run)
        self.phases = run.pipeline.phases
        self.delivery: Delivery = delivery
        self.profile = profile
        self.environment = environment
        self.capabilities: tuple[Capability, ...] = ()
        self.menu_notes: tuple[str, ...] = ()

    def prompt(
        self, action: SpawnAgent, task: TaskId | None, turns: tuple[int, int], budget: int, at: str
    ) -> tuple[Prompt, Material]:
        """The prompt for an action (and one task of it), and what it was made from. Files are shown
        as they are at the commit `at`.
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
        task = state.task(task_id) if task_id is not None else None
        notes = [
            note
            for note in state.notes
            if note.phase == action.phase and note.task in {None, task_id}
        ]
        recall = self._recall(phase, task)
        wanted = phase.providers
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
            inputs=self._inputs(action, task, phase, at),
            headings=(*action.headings, *action.closing),
            next_document=self._next_document(action),
            verdicts=(
                tuple(verdict.value for verdict in phase.verdicts)
                if isinstance(phase, ReviewPhase | TaskReviewPhase)
                else ()
            ),
            task=task.spec if task is not None else None,
            round=self.round(action, task_id),
            notes=tuple(note.text for note in notes if self._from_person(note)),
            decided=(*self._rules(phase), *self.decided({note.text for note in notes})),
            problems=tuple(note.text for note in notes if note.by == PROCESS),
            repository=layer_three(self.profile, self._few_files(), state.flags.scope),
            similar=tuple(
                f"{entry.name}: {entry.title}. {entry.summary}" for entry in recall.similar
            ),
            patterns=tuple(_said(entry) for entry in recall.patterns),
            friction=recall.friction,
            instruction=phase.instruction if isinstance(phase, AgentPhase) else "",
            capabilities=tuple(entry for entry in self.capabilities if names(wanted, entry.name)),
            offered=self._offered(),
            menu_notes=self.menu_notes,
            answer="Change" if self.run.pipeline.implements(phase.id) else "Document",
            limits=turns,
        )

    def _next_document(self, action: SpawnAgent) -> NextDocument | None:
        """Return the document that the agent may write with its own; a client's agent writes one
        at a time.
        """
        later = self.run.pipeline.also_written(action.phase, self.run.state.effort)
        if later is None or self.delivery == "files":
            return None
        return NextDocument(
            output_file=later.writes, agent=later.agent, phase=later.id, headings=later.headings
        )

    def _offered(self) -> tuple[Capability, ...]:
        """Return the requests that any agent of the pipeline may make."""
        phases = (each for each in self.run.pipeline.phases if isinstance(each, AnsweringPhase))
        named = tuple(name for phase in phases for name in phase.providers)
        return tuple(entry for entry in self.capabilities if names(named, entry.name))

    def _few_files(self) -> tuple[str, ...]:
        return _few_files(self.run.repository, self.run.state.base_commit)

    def output_file(self, action: SpawnAgent, task: TaskId | None) -> str:
        """The artifact the agent writes."""
        return action.output_file.replace("{task}", task or "")

    def round(self, action: SpawnAgent, task: TaskId | None) -> int:
        """Return the round of this phase, or of this task in it, from 1."""
        place = f"{action.phase}/{task}" if task is not None else action.phase
        return self.run.state.visits.get(place, 0) + 1

    def _from_person(self, note: Note) -> bool:
        agents = {
            phase.agent for phase in self.run.pipeline.phases if isinstance(phase, AnsweringPhase)
        }
        return note.by != PROCESS and note.by not in agents

    def _rules(self, phase: AnsweringPhase) -> tuple[str, ...]:
        """Return the standing rules, for the phases that plan and judge the tasks."""
        return tuple(rule.sentence for rule in self.run.rules.rules) if phase.follows_rules else ()

    def decided(self, said_anyway: set[str]) -> tuple[str, ...]:
        """Return people's answers at the checkpoints, for agents other than the ones addressed."""
        spoken = [
            decision
            for decision in self.run.state.decisions
            if decision.notes and decision.notes not in said_anyway
        ]
        labels = {phase.id: phase.label for phase in self.run.pipeline.phases}
        return tuple(
            f"{decision.by} at {decision.gate} ({labels[decision.gate]}): {decision.notes}"
            for decision in spoken
        )

    # -- inputs
    # ----------------------------------------------------------------------------------------------

    def _inputs(
        self, action: SpawnAgent, task: TaskState | None, phase: AnsweringPhase, at: str
    ) -> tuple[InputFile, ...]:
        """Return the inputs, in the order in which consecutive prompts of a run begin alike.

        The documents come in the order of their phases. Behind those that name files stand these
        files as they were at the base commit, for every agent the same. What was changed since, and
        what one agent alone needs, comes after all documents.
        """
        names = action.input_files
        if action.parallel_task_ids is not None and task is not None:
            names = self._task_inputs(action, task)
        names = self._in_order_of_phases(self._telling(names))
        naming = self._naming_files(names)
        looks_at_code = task is not None or bool(naming) or phase.changes != "none"
        now = self.run.repository.commit_id(at) if looks_at_code else at
        spoken = self.run.state.visits.get(phase.id, 0) > 0
        verifying = isinstance(phase, VerifyPhase) and self.run.state.verification is not None
        request = f"{self.run.request.title}\n\n{self.run.request.text}"
        files = PromptFiles(self.run.repository, self.run.state.base_commit, request)
        shown: list[InputFile] = []
        for name in names:
            # Until the verifier has spoken, the document of that name holds our process's table
            # only, which stands below in full.
            if not (verifying and name == phase.writes and not spoken):
                shown.append(self.artifact(name))
            if name == REQUEST and self._shows_files:
                shown += (*files.looked_up(), *files.house_rules())
            if name in naming:
                shown += files.named_in(self.run.workspace.read(name))
        if task is not None and self.run.pipeline.implements(action.phase):
            shown += self._own_files(now, task, files, names)
        shown += self.changes.inputs(now, phase, task)
        if verifying:
            shown.append(
                InputFile(
                    name="output of the project commands", text=self._outputs(), kind="output"
                )
            )
        return tuple(shown)

    def _telling(self, names: Sequence[str]) -> Sequence[str]:
        """Return documents without the list of a lone task that our own process made of the design:
        each agent has the design, and the implementer the task. A client's agent reads files.
        """
        state, pipeline = self.run.state, self.run.pipeline
        if self.delivery == "files" or len(state.tasks) != 1:
            return names
        listing = {each.writes: each for each in self.phases if isinstance(each, AgentPhase)}
        return [
            name
            for name in names
            if not (name in listing and listing[name].tasks)
            or self.run.workspace.read(name) != process_document(pipeline, state, listing[name])
        ]

    def _in_order_of_phases(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return documents in the order of the phases that wrote them, the request first."""
        order = {phase.id: place for place, phase in enumerate(self.run.pipeline.phases)}
        written = {
            name: order.get(artifact.phase, len(order))
            for name, artifact in self.run.state.artifacts.items()
        }
        return tuple(sorted(names, key=lambda name: written.get(name, -1)))

    @property
    def _shows_files(self) -> bool:
        """Return whether the pipeline shows files to agents: some document of it names them."""
        return any(isinstance(each, AgentPhase) and each.names_files for each in self.phases)

    def _own_files(
        self, now: str, task: TaskState, files: PromptFiles, names: Sequence[str]
    ) -> list[InputFile]:
        """Return what an implementer needs beyond the files that every agent is shown.

        A task that mends what a review or the commands found gets the change so far, and the files
        that it and the words of what found it name. Those words stand in a document of the run.
        """
        own = [f"{task.spec.title}\n" + "\n".join(task.spec.acceptance)]
        own += [self.run.workspace.read(name) for name in names if name in self._deciding]
        if not task.origin:
            return files.for_task(now, task.spec.files, own)
        told = [self.run.workspace.read(name) for name in names if name == task.origin]
        also = self.changes.paths(now)
        shown = files.for_task(now, task.spec.files, [*told, *own], also)
        return [*shown, self.changes.whole(now)]

    @property
    def _deciding(self) -> set[str]:
        """Return the names of the documents that say what changes in which file."""
        return {
            phase.writes
            for phase in self.phases
            if isinstance(phase, AgentPhase) and phase.pull_request == "approach"
        }

    def _outputs(self) -> str:
        verification = self.run.state.verification
        results = verification.results if verification is not None else ()
        tails = (
            f"$ {' '.join(result.argv)}\nexit code {result.exit_code}\n{result.tail}"
            for result in results
        )
        return "\n\n".join((commands_section(self.run.state), *tails))

    def _task_inputs(self, action: SpawnAgent, task: TaskState) -> tuple[str, ...]:
        from forge_bot.engine.next_action import inputs

        phase = self.run.pipeline.phase(action.phase)
        return (
            inputs(self.run.pipeline, self.run.state, phase, task)
            if isinstance(phase, AnsweringPhase)
            else ()
        )

    def artifact(self, name: str) -> InputFile:
        """A document of the run as an agent reads it."""
        if name == REQUEST:
            request = self.run.request
            labels = f"\n\nLabels: {', '.join(request.labels)}" if request.labels else ""
            text = (
                request.text
                if request.text.startswith(request.title)
                else f"{request.title}\n\n{request.text}"
            )
            # What the person at the terminal typed is their own: `Vec<String>` there is no tag that
            # somebody hides behind.
            return self._quoted(
                InputFile(
                    name=name, text=f"# {text}{labels}", untrusted=request.source.type != "text"
                )
            )
        # Logs of checks and results of calls quote whatever ran there.
        return self._quoted(
            InputFile(
                name=name,
                text=self.run.workspace.read(name),
                untrusted=name.startswith((CHECKS, CONFLICTS, CALLS)),
            )
        )

    def _quoted(self, document: InputFile) -> InputFile:
        """Quote a file: an agent that reads files itself would see hidden text there, so it gets
        the cleaned text and not the path.
        """
        hides = self.delivery == "files" and document.untrusted
        return document.model_copy(update={"kind": "output"}) if hides else document

    def _naming_files(self, names: Sequence[str]) -> tuple[str, ...]:
        """The documents among an agent's inputs whose files it is shown."""
        naming = {
            phase.writes
            for phase in self.run.pipeline.phases
            if isinstance(phase, AgentPhase) and phase.names_files
        }
        return tuple(name for name in names if name in naming)

    # -- knowledge
    # ----------------------------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """Return the history in the base commit and in the records that the run began with."""
        state, tell = self.run.state, self.tell
        documents = DocumentNames.of(self.run.pipeline)
        return history_at(
            self.run.repository,
            state.base_commit,
            documents,
            state.recalls_from,
            Listener(lambda read, of: tell(PastRunsRead(read=read, of=of))) if tell else NOBODY,
        )

    def _recall(self, phase: AnsweringPhase, task: TaskState | None) -> Recall:
        if not phase.recalls:
            return Recall()
        request = self.run.request
        text = f"{request.title}\n{request.text}"
        files = task.spec.files if task is not None else ()
        about = text if task is None else f"{task.spec.title}\n{text}"
        # What the agent is not shown is not looked for: the first search in many past runs takes
        # its time.
        return self.history.recall(about, files, exclude=self.run.name, parts=phase.recalls)

    def past_runs(self, query: str) -> str:
        """Past runs like a query and what is to be learned of all runs about it, as text for a
        model.
        """
        history = self.history
        alike = history.similar(query, exclude=self.run.name)
        found = [f"- {entry.name}: {entry.title}. {entry.summary}" for entry in alike]
        learned = history.recall(query, parts=("patterns", "friction"))
        lessons = [f"- {_said(entry)}" for entry in learned.patterns]
        lessons += [f"- [an agent got stuck] {point}" for point in learned.friction]
        said = found or ["No past run is like this."]
        return "\n".join([*said, *(["", "Lessons of past runs:"] if lessons else []), *lessons])


def names(globs: Sequence[str], name: str) -> bool:
    """Return whether a list of a pipeline names a capability; `*` stands for any characters."""
    return any(fnmatchcase(name, glob) for glob in globs)


def _said(entry: Pattern) -> str:
    """Return a finding of earlier runs as a line; what a person said comes from a comment, and
    loses what is not seen of that.
    """
    if entry.by_person:
        return (
            f"[a person sent work back] {clean(entry.text).text} (in {entry.seen}"
            f" run{'s' if entry.seen > 1 else ''})"
        )
    return f"[{entry.severity.value}] {entry.text} (seen {entry.seen} times)"


def layer_three(profile: Profile, files: tuple[str, ...], scope: str = "") -> tuple[Line, ...]:
    """Return a prompt's description of the repository; `files` are all of its files, if there are
    few.
    """
    commands = profile.commands

    def words(kind: str) -> str:
        # The placeholder for the folder of tools means nothing to a model.
        return "; ".join(
            " ".join(command.argv).replace(f"{ENV}/bin/", "") for command in getattr(commands, kind)
        )

    stays = f"The change stays in {scope}/. A change of any other file waits for a person."
    facts = (
        ("Scope", stays if scope else ""),
        (
            "Languages",
            ", ".join(f"{language.name} ({language.percent}%)" for language in profile.languages),
        ),
        ("Build command", words("build")),
        ("Test command", words("test")),
        ("Lint command", words("lint")),
        ("CI", profile.ci),
        ("Conventions", ", ".join(profile.conventions)),
        ("Files", "\n".join(files)) if files else ("Layout", "\n".join(profile.layout)),
    )
    return tuple(Line(label=label, text=text) for label, text in facts if text)


@lru_cache(maxsize=8)
def _few_files(repository: Repository, commit: str) -> tuple[str, ...]:
    """The files of a commit beside the records of runs; none of them if there are many. What an id
    names never changes.
    """
    names = [name for name in repository.list_files(commit) if not name.startswith(f"{SPECS}/")]
    return tuple(names) if len(names) <= _FEW_FILES else ()
