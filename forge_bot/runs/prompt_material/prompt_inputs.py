"""The inputs of a prompt: documents of the run, and the files and changes that an agent needs."""

import re
import shlex
from collections.abc import Collection, Sequence

from forge_bot.engine import SpawnAgent
from forge_bot.engine.external_events import FOLLOW_UP
from forge_bot.engine.phases import DRAFT, AgentPhase, AnsweringPhase, ReviewPhase, VerifyPhase
from forge_bot.engine.process_documents import process_document
from forge_bot.engine.state import TaskState
from forge_bot.engine.verification_report import commands_section
from forge_bot.knowledge.history import REQUEST
from forge_bot.prompts.material import Delivery, InputFile
from forge_bot.runs.branch_for_merge import newest_base
from forge_bot.runs.capabilities.perform_calls import CALLS
from forge_bot.runs.frozen_attachments import attachment_inputs
from forge_bot.runs.prompt_material.prompt_files import PromptFiles
from forge_bot.runs.run import Run
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import cut

_DIFF_SHOWN = 120_000

_CONTEXT = 160
"""Characters of an unchanged line in a diff."""

_SHORT_ID = 12

_NOT_APPLIED = "These edits wait for a person: they are not in the files that you see.\n\n"


class ChangeInputs:
    """The changes of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def inputs(self, now: str, phase: AnsweringPhase, task: TaskState | None) -> list[InputFile]:
        """Return the inputs on the changes up to the commit `now`."""
        match phase.changes:
            case "task":
                return [self._task_diff(task, now)]
            case "run":
                return [self.whole(now)]
            case "names":
                files = self._diff("files the run changed", self.base, now, stat=True)
                return [files, InputFile(name="log of the run", text=self.log(), kind="output")]
            case "none":
                return []

    @property
    def base(self) -> str:
        """The newest commit of the base branch that the run has."""
        return newest_base(self.run)

    def whole(self, now: str) -> InputFile:
        """Return all changes of the run up to the commit `now`."""
        return self._diff("all changes of the run", self.base, now)

    def paths(self, now: str) -> tuple[str, ...]:
        """Return the files that the run changed, without its own record."""
        changed = self.run.tree.changed(self.base, now)
        return tuple(path for path in changed if not path.startswith(f"{SPECS}/"))

    def log(self) -> str:
        """Return the events so far, one line for each report."""
        lines: list[str] = []
        state = self.run.state
        for entry in state.log:
            task = f" task {entry.task}" if entry.task is not None else ""
            calls = (
                f" ({entry.usage.calls} model calls)"
                if entry.usage is not None and entry.usage.calls
                else ""
            )
            lines.append(f"{entry.phase}{task}: {entry.event}{calls}")
        return "\n".join(lines)

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
        # A changelog has lines of hundreds of characters around an entry.
        lines = [cut(line, _CONTEXT) if line[:1] == " " else line for line in text.split("\n")]
        return InputFile(name=name, text="\n".join(lines), kind="diff")

    def _task_diff(self, task: TaskState | None, now: str) -> InputFile:
        """Return the change of one task: the files of its commits, from before the first of them.
        Other tasks' files stay out.
        """
        if task is None:
            return self._diff("changes of the run", self.base, now)
        before, paths = self._task_changes(task)
        return self._diff(f"changes of task {task.spec.id}", before, now, of=paths)

    def _task_changes(self, task: TaskState) -> tuple[str, set[str] | None]:
        """Return the commit before a task's first one, and the files its commits changed.

        They are None, for all files, if it made no commit.
        """
        base, tree = self.run.state.base_commit, self.run.tree
        mine = [
            commit
            for commit in tree.commits(base)
            if ("Forge-Task", task.spec.id) in commit.trailers
        ]
        paths = {path for commit in mine for path in tree.changed(f"{commit.id}^", commit.id)}
        return (self.run.repository.commit_id(f"{mine[-1].id}^"), paths) if mine else (base, None)

    def command(self, task: TaskState | None, phase: AnsweringPhase) -> str:
        """Return the command by which an agent can show the changes for a phase itself; empty if
        the phase does not need changes.
        """
        if phase.changes == "none":
            return ""
        before, paths = (
            self._task_changes(task)
            if phase.changes == "task" and task is not None
            else (self.base, None)
        )
        named = sorted(path for path in paths or () if not path.startswith(f"{SPECS}/"))
        return shlex.join(
            ["git", "diff", before[:_SHORT_ID], "HEAD", "--", *(named or (".", f":!{SPECS}"))]
        )


_PARTS = re.compile(r"(?m)^(?=diff --git |@@ )")
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,\d+)? @@")
_NAMED_TWICE = re.compile(r"(?m)^(?:diff --git|index) .*\n|^--- .*\n(?=\+\+\+ [\"b])")


def _narrowed(patch: str) -> str:
    """Return a patch for a reader who has seen the files: each file named once, and one line around
    each hunk instead of three.
    """
    return "".join(
        _narrowed_hunk(part)
        if part.startswith("@@ ")
        else (_NAMED_TWICE.sub("", part) if "\n+++ " in part else part)
        for part in _PARTS.split(patch)
    )


def _narrowed_hunk(hunk: str) -> str:
    head, *lines = hunk.split("\n")
    changed = [place for place, line in enumerate(lines) if line[:1] in {"+", "-"}]
    counted = _HUNK.match(head)
    if counted is None or not changed:
        # A person may have edited the patch by hand.
        return hunk
    begin = max(changed[0] - 1, 0)
    shown = "\n".join(lines[begin : changed[-1] + 2])
    line, around = int(counted[1]) + begin, head[counted.end() :]
    return f"@@ line {line} @@{around}\n{shown}".rstrip("\n") + "\n"


class PromptInputs:
    """Chooses the inputs of the prompts of one run."""

    def __init__(self, run: Run, changes: ChangeInputs, delivery: Delivery) -> None:
        self.run = run
        self.changes = changes
        self.delivery: Delivery = delivery
        self.phases = run.pipeline.phases

    def of(
        self, action: SpawnAgent, task: TaskState | None, phase: AnsweringPhase, at: str
    ) -> tuple[InputFile, ...]:
        """Return the inputs, in an order in which consecutive prompts of a run begin alike.

        The documents come in the order of their phases. The files that a document names follow it,
        as they were at the base commit, the same for every agent. Later changes, and the inputs of
        one agent alone, come after all documents.
        """
        left_out = self.further(phase)
        given = self._telling(self.names(action, task), task)
        names = self._order_by_phase([name for name in given if name not in left_out])
        naming = self._naming_files(names, phase, task)
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
            if name == REQUEST:
                model = self.run.config.model_for(action.tier)
                shown += attachment_inputs(self.run, model, self.delivery)
            if name == REQUEST and self._shows_files:
                if self.delivery == "answer" or not (naming or self._follows_plan(phase)):
                    shown += files.looked_up()
                if self.delivery == "answer" or not self._follows_plan(phase):
                    shown += files.house_rules()
            if name in naming:
                # A plan of the same author names what changes; the rest its author has only read.
                record = self.run.state.artifacts.get(name)
                alone = record is None or not record.next_documents
                shown += files.named_in(self.run.workspace.read(name), shown_too=alone)
        own: list[InputFile] = []
        if task is not None and self.run.pipeline.implements(action.phase):
            own += self._own_files(now, task, files, names)
        own += self.changes.inputs(now, phase, task)
        if verifying:
            own.append(
                InputFile(
                    name="output of the project commands", text=self._outputs(), kind="output"
                )
            )
        return (*shown, *(each.replace(shared=False) for each in own))

    def names(self, action: SpawnAgent, task: TaskState | None) -> tuple[str, ...]:
        if action.parallel_task_ids is not None and task is not None:
            return self._task_inputs(action, task)
        return action.input_files

    def further(self, phase: AnsweringPhase) -> tuple[str, ...]:
        """Return the documents that the plan was made of: an agent that reads files and follows the
        plan need not read them.
        """
        plan = self.run.pipeline.approved_first
        if self.delivery == "answer" or plan is None or not self._follows_plan(phase):
            return ()
        before = self.phases[: self.run.pipeline.position(plan.id)]
        written = [phase.writes for phase in before if isinstance(phase, AgentPhase)]
        return tuple(
            name for name in written if name in phase.reads and name in self.run.state.artifacts
        )

    def _follows_plan(self, phase: AnsweringPhase) -> bool:
        plan, pipeline = self.run.pipeline.approved_first, self.run.pipeline
        return plan is not None and pipeline.position(phase.id) > pipeline.position(plan.id)

    def _telling(self, names: Sequence[str], task: TaskState | None) -> Sequence[str]:
        """Return documents without the list of a lone task that our own process made of the design:
        each agent has the design, and the implementer the task. An agent that reads files has its
        task in the prompt.
        """
        state, pipeline = self.run.state, self.run.pipeline
        listing = {phase.writes: phase for phase in self.phases if isinstance(phase, AgentPhase)}
        if self.delivery == "files" and task is not None:
            return [name for name in names if not (name in listing and listing[name].tasks)]
        if len(state.tasks) != 1:
            return names
        return [
            name
            for name in names
            if not (name in listing and listing[name].tasks)
            or self.run.workspace.read(name) != process_document(pipeline, state, listing[name])
        ]

    def _order_by_phase(self, names: Sequence[str]) -> tuple[str, ...]:
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
        return any(isinstance(phase, AgentPhase) and phase.names_files for phase in self.phases)

    def _own_files(
        self, now: str, task: TaskState, files: PromptFiles, names: Sequence[str]
    ) -> list[InputFile]:
        """Return the additional files of an implementer.

        A task that fixes findings of a review or of the commands gets the change so far, the files
        of that change, and the files that the findings name. The findings are in a document of the
        run.
        """
        own = [f"{task.spec.title}\n" + "\n".join(task.spec.acceptance)]
        own += [self.run.workspace.read(name) for name in names if name in self._deciding]
        if not task.origin:
            return files.for_task(now, task.spec.files, own)
        origin = [self.run.workspace.read(name) for name in names if name == task.origin]
        also = self.changes.paths(now)
        shown = files.for_task(now, task.spec.files, [*origin, *own], also)
        return [*shown, self.changes.whole(now)]

    @property
    def _deciding(self) -> set[str]:
        """Return the names of the documents that decide which file changes how."""
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
        if not isinstance(phase, AnsweringPhase):
            return ()
        return inputs(self.run.pipeline, self.run.state, phase, task)

    def artifact(self, name: str) -> InputFile:
        """A document of the run as an agent reads it."""
        if name == REQUEST:
            request = self.run.request
            labels = f"\n\nLabels: {', '.join(request.labels)}" if request.labels else ""
            text = request.text.removeprefix("# ")
            if not text.startswith(request.title.removesuffix(" …")):
                text = f"{request.title}\n\n{request.text}"
            # What the person at the terminal typed is their own: `Vec<String>` there is no tag that
            # somebody hides behind.
            return self._quote(
                InputFile(
                    name=name, text=f"# {text}{labels}", untrusted=request.source.type != "text"
                )
            )
        text = self.run.workspace.read(name)
        if name.endswith(".patch"):
            text = _NOT_APPLIED + _narrowed(text)
        # Logs of checks and results of calls quote whatever ran there.
        quotes = name.startswith((FOLLOW_UP, CALLS))
        return self._quote(InputFile(name=name, text=text, untrusted=quotes))

    def _quote(self, document: InputFile) -> InputFile:
        """Quote a file: an agent that reads files itself would see hidden text there, so it gets
        the cleaned text and not the path.
        """
        hides = self.delivery == "files" and document.untrusted
        return document.replace(kind="output") if hides else document

    def _naming_files(
        self, names: Sequence[str], phase: AnsweringPhase, task: TaskState | None
    ) -> tuple[str, ...]:
        """The documents among an agent's inputs whose files it is shown: where it reads the plan
        and neither implements it nor is shown its changes, those of the plan.
        """
        if DRAFT in names and isinstance(phase, AgentPhase | ReviewPhase):
            # The draft shows the places; its author and its reviewer ask for what else decides.
            return ()
        naming = {
            phase.writes
            for phase in self.phases
            if isinstance(phase, AgentPhase) and phase.names_files
        }
        if self.delivery == "answer" and (plan := self.run.pipeline.approved_first) is not None:
            naming.add(plan.writes)
        if self.further(phase):
            judges_plan = task is None and phase.changes == "none"
            naming = {self.run.pipeline.planned_in} if judges_plan else set[str]()
        return tuple(name for name in names if name in naming)
