"""From an action to a prompt: artifacts, diff, files, profile and what earlier runs teach."""

import re
import shlex
from collections.abc import Collection, Sequence
from functools import lru_cache
from posixpath import normpath
from typing import assert_never

from forge_bot.engine import SpawnAgent
from forge_bot.engine.external_events import CHECKS
from forge_bot.engine.phase_rows import in_task_order
from forge_bot.engine.pipeline import (
    AgentPhase,
    AnsweringPhase,
    ReviewPhase,
    TaskReviewPhase,
    VerifyPhase,
)
from forge_bot.engine.state import Note, TaskState
from forge_bot.engine.transitions import PROCESS
from forge_bot.engine.verification_report import commands_section
from forge_bot.git import Repository
from forge_bot.knowledge import ENV, DocumentNames, Pattern, Profile
from forge_bot.knowledge.history import History, Recall
from forge_bot.prompts.assemble import assemble
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import Capability, Delivery, InputFile, Line, Material, Prompt
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.past_run_index import history_at
from forge_bot.runs.run import Run
from forge_bot.store import SPECS
from forge_bot.values import TaskId

_FILE_SHOWN = 48_000
"""Characters of a task's declared files that an implementer sees from the start; what does not fit
it asks for."""

_FILES_SHOWN = 24_000
"""Characters of the files named by the analysis that later agents see from the start."""

_NAMED = re.compile(r"`([\w./@+-]+\.\w+)`")
_FEW_FILES = 60

_DIFF_SHOWN = 120_000

_SHORT_ID = 12


class PromptContext:
    """Makes the prompts of one run."""

    def __init__(
        self,
        run: Run,
        profile: Profile,
        environment: Environment,
        capabilities: Sequence[Capability],
        delivery: Delivery = "answer",
    ) -> None:
        self.run = run
        self.delivery: Delivery = delivery
        self.profile = profile
        self.environment = environment
        self.capabilities = tuple(capabilities)

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
            change=self._command(task, phase) if self.delivery == "files" else "",
            inputs=self._inputs(action, task, phase, at),
            headings=(*action.headings, *action.closing),
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
            repository=layer_three(self.profile, self._few_files()),
            similar=tuple(
                f"{entry.name}: {entry.title}. {entry.summary}" for entry in recall.similar
            ),
            patterns=tuple(_said(entry) for entry in recall.patterns),
            friction=recall.friction,
            capabilities=tuple(entry for entry in self.capabilities if entry.name in wanted),
            limits=turns,
        )

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
        names = action.input_files
        if action.parallel_task_ids is not None and task is not None:
            names = self._task_inputs(action, task)
        shown = [self.artifact(name) for name in names]
        naming = self._naming_files(names)
        looks_at_code = task is not None or bool(naming) or phase.changes != "none"
        now = self.run.repository.commit_id(at) if looks_at_code else at
        if task is not None and action.phase == self.run.pipeline.implementation.id:
            shown += self._files(now, task.spec.files, _FILE_SHOWN)
        elif task is None and naming:
            shown += self._files(now, self._relevant_files(naming), _FILES_SHOWN)
        shown += self._changes(now, phase, task)
        if isinstance(phase, VerifyPhase) and self.run.state.verification is not None:
            # Until the verifier has spoken, the document of that name holds our process's table
            # only, which stands here in full.
            spoken = self.run.state.visits.get(phase.id, 0) > 0
            shown = [each for each in shown if spoken or each.name != phase.writes]
            shown.append(
                InputFile(
                    name="output of the project commands", text=self._outputs(), kind="output"
                )
            )
        return tuple(shown)

    def _changes(self, now: str, phase: AnsweringPhase, task: TaskState | None) -> list[InputFile]:
        base = self.run.state.base_commit
        match phase.changes:
            case "task":
                return [self._task_diff(task, now)]
            case "run":
                return [self._diff("all changes of the run", base, now)]
            case "names":
                files = self._diff("files the run changed", base, now, stat=True)
                return [files, InputFile(name="log of the run", text=self._log(), kind="output")]
            case "none":
                return []
            case _:
                assert_never(phase.changes)

    def _outputs(self) -> str:
        verification = self.run.state.verification
        results = verification.results if verification is not None else ()
        tails = (
            f"$ {' '.join(result.argv)}\nexit code {result.exit_code}\n{result.tail}"
            for result in results
        )
        return "\n\n".join((commands_section(self.run.state), *tails))

    def _log(self) -> str:
        lines: list[str] = []
        state = self.run.state
        for entry in in_task_order(state.log, [task.spec.id for task in state.tasks]):
            task = f" task {entry.task}" if entry.task is not None else ""
            calls = (
                f" ({entry.usage.calls} model calls)"
                if entry.usage is not None and entry.usage.calls
                else ""
            )
            lines.append(f"{entry.phase}{task}: {entry.event}{calls}")
        return "\n".join(lines)

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
        if name == "request.md":
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
        # Logs of checks quote whatever ran there.
        return self._quoted(
            InputFile(
                name=name, text=self.run.workspace.read(name), untrusted=name.startswith(CHECKS)
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

    def _relevant_files(self, naming: Sequence[str]) -> list[str]:
        """The files that documents name, so that not every agent has to ask for them again."""
        texts = "\n".join(self.run.workspace.read(name) for name in naming)
        named = dict.fromkeys(normpath(name) for name in _NAMED.findall(texts))
        return [name for name in named if not name.startswith(f"{SPECS}/")]

    def _files(self, commit: str, names: Sequence[str], most: int) -> list[InputFile]:
        """Text files of a commit, in the order of their names here; if not all fit into `most`
        characters, the smaller ones.
        """
        found = {
            name: raw
            for name, raw in self.run.repository.read_many(commit, names).items()
            if b"\0" not in raw
        }
        fitting: set[str] = set()
        for name in sorted(found, key=lambda name: len(found[name])):
            most -= len(found[name])
            if most < 0:
                break
            fitting.add(name)
        return [
            InputFile(name=name, text=raw.decode("utf-8", "replace"), kind="file")
            for name, raw in found.items()
            if name in fitting
        ]

    def _diff(
        self,
        name: str,
        base: str,
        now: str,
        *,
        of: Collection[str] | None = None,
        stat: bool = False,
    ) -> InputFile:
        tree = self.run.tree
        changed = [
            path
            for path in tree.changed(base, now)
            if not path.startswith(f"{SPECS}/") and (of is None or path in of)
        ]
        text = (
            tree.diff(base, now, changed, stat=stat, max_bytes=_DIFF_SHOWN)
            if changed
            else "Nothing was changed outside the run's own record."
        )
        return InputFile(name=name, text=text, kind="diff")

    def _task_diff(self, task: TaskState | None, now: str) -> InputFile:
        """Return the change of one task: the files of its commits, from before the first of them.
        Other tasks' files stay out.
        """
        if task is None:
            return self._diff("changes of the run", self.run.state.base_commit, now)
        before, paths = self._task_changes(task)
        return self._diff(f"changes of task {task.spec.id}", before, now, of=paths)

    def _task_changes(self, task: TaskState) -> tuple[str, set[str] | None]:
        """The commit before a task's first one, and the files its commits changed; None for all
        files if it made no commit.
        """
        base, tree = self.run.state.base_commit, self.run.tree
        mine = [
            commit
            for commit in tree.commits(base)
            if ("Forge-Task", task.spec.id) in commit.trailers
        ]
        paths = {path for commit in mine for path in tree.changed(f"{commit.id}^", commit.id)}
        return (self.run.repository.commit_id(f"{mine[-1].id}^"), paths) if mine else (base, None)

    def _command(self, task: TaskState | None, phase: AnsweringPhase) -> str:
        """The command that shows what the phase looks at, for an agent that runs it by itself;
        empty where it looks at no change.
        """
        if phase.changes == "none":
            return ""
        before, paths = (
            self._task_changes(task)
            if phase.changes == "task" and task is not None
            else (self.run.state.base_commit, None)
        )
        named = sorted(path for path in paths or () if not path.startswith(f"{SPECS}/"))
        return shlex.join(
            ["git", "diff", before[:_SHORT_ID], "HEAD", "--", *(named or (".", f":!{SPECS}"))]
        )

    # -- knowledge
    # ----------------------------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """Return the history in the base commit."""
        return history_at(
            self.run.repository, self.run.state.base_commit, DocumentNames.of(self.run.pipeline)
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
        """Past runs like a query, as text for a model."""
        found = self.history.similar(query, exclude=self.run.name)
        return (
            "\n".join(f"- {entry.name}: {entry.title}. {entry.summary}" for entry in found)
            or "No past run is like this."
        )


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


def layer_three(profile: Profile, files: tuple[str, ...]) -> tuple[Line, ...]:
    """Return a prompt's description of the repository; `files` are all of its files, if there are
    few.
    """
    commands = profile.commands

    def words(kind: str) -> str:
        # The placeholder for the folder of tools means nothing to a model.
        return "; ".join(
            " ".join(command.argv).replace(f"{ENV}/bin/", "") for command in getattr(commands, kind)
        )

    facts = (
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
