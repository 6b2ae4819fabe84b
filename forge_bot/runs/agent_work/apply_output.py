"""Apply a model's answer: write its document, and its edits to the work tree. Edits that need a
person's approval are held as a patch.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from forge_bot.agent.assignment import HEADING as TRIES
from forge_bot.agent.assignment import FormattedFile
from forge_bot.agent.edits import EditPlan, Folder, plan_edits
from forge_bot.agent.model_answers import Change, Document, Edit
from forge_bot.artifacts.design_outline import read_open_decisions
from forge_bot.artifacts.markdown import read_section, without_section
from forge_bot.engine import SpawnAgent
from forge_bot.engine.capability_uses import HEADING, uses_section
from forge_bot.engine.drafts import may_correct, may_draft
from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.phases import DRAFT, AgentPhase, VerifyPhase
from forge_bot.engine.reports import ArtifactWritten, CorrectedDesign, head_of
from forge_bot.engine.verification_report import composed
from forge_bot.errors import GitFailed, PathEscapes
from forge_bot.git import MergeConflict, Tree, blob_id, merge
from forge_bot.git.commit_history import changed
from forge_bot.git.commit_objects import commit_of_patch
from forge_bot.project.scoped_commands import is_inside
from forge_bot.runs.agent_work.artifact_contract import (
    ArtifactContract,
    answer_contract,
    contract_of,
    signs_of_risk,
)
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.store.files import inside, write_whole
from forge_bot.values import Inspection, TaskId, Usage, Verdict

_MOST_OF_DRAFT = 40_000
"""Characters of a drafted patch."""

_WITHOUT_NOTES = (
    "edits correct the draft, with the verdict APPROVE_WITH_NOTES and a finding for each: a review"
    " that sends it back, or finds nothing, has none"
)
_PROTECTED = "{paths} is protected: a correction may not change it; say REVISE"
_WHOLE = "a correction edits passages of {name}: it neither writes nor deletes the document"
_FIXED = (
    f"a correction of {{name}} keeps its numbered questions with their options, each R-n and"
    f" “{TRIES}”; where that is wrong, say REVISE"
)
_NUMBER = re.compile(r"\b[RP]-\d+")

Files = tuple[tuple[str, bytes | None], ...]
"""Files by name as they are to be; None for those that go."""


class AnswerPlan(EditPlan):
    """The planned edits of an answer; `design` is the design as a correction leaves it."""

    design: str | None = None


class OutputApplier:
    """Applies the answers of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def check(
        self, contract: ArtifactContract, tree: Tree
    ) -> Callable[[Document | Change], tuple[str, ...]]:
        """Return the check of one agent's answers: why an answer for a tree goes back to the model,
        nothing if it can be used.
        """

        def complaints(answer: Document | Change) -> tuple[str, ...]:
            text = answer.artifact_markdown
            if not isinstance(answer, Change):
                return contract.complaints(text)
            plan = self.plan(answer, tree)
            unfit = self._why_no_correction(contract.inspect(text).verdict, plan)
            return (*contract.complaints(text), *plan.problems, *unfit)

        return complaints

    def plan(self, answer: Change, tree: Tree) -> AnswerPlan:
        """Plan the edits of an answer; those that correct a draft on top of it, and with it."""
        folder = Folder(tree.path)
        design = self._design.writes if self._design is not None else ""
        try:
            drafted = self._drafted()
        except GitFailed:
            return AnswerPlan(problems=(f"{DRAFT} does not fit any more: say REVISE",))

        def read(path: str) -> bytes | None:
            if path == design:
                return self.run.workspace.read_bytes(path)
            before = folder.read(path)
            return drafted.get(path, before)

        plan = plan_edits(read, answer.edits, folder.line_end_of_kind)
        files = dict(plan.files)
        raw = files.pop(design, None)
        text = None if raw is None else raw.decode("utf-8", "replace")
        problems = self._why_no_edits(answer.edits, text) or plan.problems
        whole = {**drafted, **files} if files else files
        return AnswerPlan(files=tuple(whole.items()), design=text, problems=problems)

    def _why_no_edits(self, edits: Sequence[Edit], text: str | None) -> tuple[str, ...]:
        """Return why a review may not have these edits of the design, which leave this text."""
        if (design := self._design) is None:
            return ()
        name, before = design.writes, self.run.workspace.read(design.writes)
        whole = {PurePosixPath(one.path) for one in edits if one.operation in {"write", "delete"}}
        if PurePosixPath(name) in whole:
            return (_WHOLE.format(name=name),)
        if text is None:
            return ()
        complaints = contract_of(self.run, design, design.headings).complaints
        new = [f"{name}: {one}" for one in complaints(text) if one not in complaints(before)]
        fixed = [(read_open_decisions(one), read_section(one, TRIES)) for one in (before, text)]
        if fixed[0] != fixed[1] or {*_NUMBER.findall(before)} - {*_NUMBER.findall(text)}:
            new.append(_FIXED.format(name=name))
        return tuple(new)

    def _drafted(self) -> dict[str, bytes | None]:
        """Return the files that a draft changes, while its review may correct it. Raises GitFailed
        where it does not fit any more.
        """
        run = self.run
        if not self._corrects:
            return {}
        root, head = run.repository.root, run.tree.head().commit
        made = commit_of_patch(root, head, run.workspace.read_bytes(DRAFT) or b"")
        paths = changed(root, head, made)
        files = run.repository.read_many(made, paths)
        return {path: files.get(path) for path in paths}

    @property
    def _design(self) -> AgentPhase | None:
        """The phase whose document an answer may correct with the draft."""
        return self.run.pipeline.approved_first if self._corrects else None

    @property
    def _corrects(self) -> bool:
        state = self.run.state
        return may_correct(self.run.pipeline, state, state.current_phase)

    def _why_no_correction(self, verdict: Verdict | None, plan: EditPlan) -> tuple[str, ...]:
        """Return why a review may not have these edits of a draft."""
        if not self._corrects:
            return ()
        if verdict is not Verdict.APPROVE_WITH_NOTES:
            return (_WITHOUT_NOTES,)
        held = self.held_paths(tuple(path for path, _ in plan.files))
        return (_PROTECTED.format(paths=", ".join(held)),) if held else ()

    def land(
        self,
        action: SpawnAgent,
        task: TaskId | None,
        answer: Document | Change,
        usage: Usage,
        tree: Tree,
        formatted: Sequence[FormattedFile] = (),
    ) -> tuple[ArtifactWritten, tuple[str, ...]]:
        """Write an answer's document and edits, with the files that were formatted. Return the
        report on it, and the paths outside the workspace that belong to its commit.

        `tree` is where the agent worked. If that is a tree of its own, its changes are merged into
        the run's; raises MergeConflict, with nothing written, when they do not fit together with
        what was merged before.
        """
        contract = answer_contract(self.run, action, task)
        inspection = contract.inspect(answer.artifact_markdown)
        plan = AnswerPlan()
        if isinstance(answer, Change) and not inspection.problems:
            plan = self.plan(answer, tree)
        if self._why_no_correction(inspection.verdict, plan):
            plan = AnswerPlan()
        files = self.merged(_with_formatting(plan.files, formatted), tree)
        text, *_ = contract.split(answer.artifact_markdown)
        report = self._write_artifact(action, task, text, inspection, usage)
        if may_draft(self.run.pipeline, self.run.state, action.phase):
            if len(inspection.next_documents) == len(contract.next_documents):
                report = self._keep_draft(report, files)
            return self._correct_design(report, plan), ()
        self._write(files)
        return self._hold_risky(report, tuple(path for path, _ in files), task)

    def land_files(
        self,
        action: SpawnAgent,
        task: TaskId | None,
        text: str,
        usage: Usage,
        touched: tuple[str, ...],
        next_files: tuple[str, ...] = (),
    ) -> tuple[ArtifactWritten, tuple[str, ...]]:
        """The same for an agent that wrote into the run's tree itself: the texts of its artifact
        and of the next documents, and the paths it touched outside.

        What touches protected paths is taken out of the tree again and waits as a patch.
        """
        inspection = answer_contract(self.run, action, task).inspect(text, next_files)
        report = self._write_artifact(action, task, text, inspection, usage)
        if inspection.problems:
            held = self.held_paths(touched)
            return report, tuple(path for path in touched if path not in held)
        return self._hold_risky(report, touched, task)

    def _write_artifact(
        self,
        action: SpawnAgent,
        task: TaskId | None,
        markdown: str,
        inspection: Inspection,
        usage: Usage,
    ) -> ArtifactWritten:
        """Write the artifact to the workspace, and return the report on it."""
        artifact = action.output_file.replace("{task}", task or "")
        text = markdown.rstrip() + "\n"
        phase = self.run.pipeline.phase(action.phase)
        if isinstance(phase, VerifyPhase):
            text = composed(text, self.run.state)
        if phase in self.run.pipeline.providing("summary") and (
            section := uses_section(self.run.state)
        ):
            text = f"{without_section(text, HEADING).rstrip()}\n\n{section}"
        raw = self.run.workspace.write(artifact, text)
        return ArtifactWritten(
            **head_of(action.action_id, now(), task),
            phase=action.phase,
            task=task,
            artifact=artifact,
            blob=blob_id(raw),
            inspection=inspection,
            usage=usage,
            risks=signs_of_risk(self.run, phase, text),
        )

    def _correct_design(self, report: ArtifactWritten, plan: AnswerPlan) -> ArtifactWritten:
        """Write the design as a correction leaves it, and return the report with it, unless the
        draft could not be kept so.
        """
        run, design = self.run, self._design
        if design is None or plan.design is None or (plan.files and report.held is None):
            return report
        contract = contract_of(run, design, design.headings)
        text, *_ = contract.split(plan.design)
        raw = run.workspace.write(design.writes, text.rstrip() + "\n")
        corrected = CorrectedDesign(
            blob=blob_id(raw),
            inspection=contract.inspect(text),
            risks=signs_of_risk(run, design, text),
        )
        held = report.held_blob or run.state.artifacts[DRAFT].blob
        return report.replace(corrected=corrected, held=DRAFT, held_blob=held)

    def merged(self, files: Files, tree: Tree) -> Files:
        """Return the files for the run's tree. Raises MergeConflict."""
        if tree.path == self.run.tree.path:
            return files
        theirs, ours = Folder(tree.path), Folder(self.run.tree.path)
        try:
            return tuple(
                (path, merge(self.run.tree.path, theirs.read(path), ours.read(path), data))
                for path, data in files
            )
        except PathEscapes as error:
            raise MergeConflict(error.message) from error

    def _hold_risky(
        self, report: ArtifactWritten, touched: tuple[str, ...], task: TaskId | None
    ) -> tuple[ArtifactWritten, tuple[str, ...]]:
        """Return the report, and the touched paths of its commit. Those that a person has to see
        first wait as a patch, and in the tree they are as they were.
        """
        risky = self.held_paths(touched)
        if risky:
            patch = self.run.tree.patch(risky)
            self.run.tree.discard(risky)
            name = held_patch_name(task or TaskId(""))
            raw = self.run.workspace.write(name, patch)
            report = report.replace(held=name, held_blob=blob_id(raw), held_paths=risky)
        return report, tuple(path for path in touched if path not in risky)

    def _keep_draft(self, report: ArtifactWritten, files: Files) -> ArtifactWritten:
        """Return the report with the edits as the draft, and leave the tree as it is. Nobody drafts
        edits of protected files, what a person cannot read, or more than they would: an implementer
        follows. A correction keeps the modes of files that the draft has.
        """
        touched = tuple(path for path, _ in files)
        if not files or self.held_paths(touched):
            return report
        if self._corrects:
            self.run.tree.apply(self.run.workspace.read(DRAFT))
        self._write(files)
        patch = self.run.tree.patch(touched)
        self.run.tree.discard(touched)
        if len(patch) > _MOST_OF_DRAFT or "\nGIT binary patch\n" in patch:
            return report
        raw = self.run.workspace.write(DRAFT, patch)
        return report.replace(held=DRAFT, held_blob=blob_id(raw))

    def held_paths(self, touched: tuple[str, ...]) -> tuple[str, ...]:
        protected = protected_changes(touched, self.run.config.protected)
        scope = self.run.state.flags.scope
        outside = [path for path in touched if not is_inside(path, scope)]
        return tuple(sorted({*protected, *outside}))

    def _write(self, files: Sequence[tuple[str, bytes | None]]) -> None:
        for path, data in files:
            file = inside(self.run.tree.path, path)
            if data is None:
                file.unlink(missing_ok=True)
            else:
                write_whole(file, data)

    def apply_held(self, name: str, without: Sequence[str] = ()) -> tuple[str, ...]:
        """Apply the patch a person approved; the paths it touched. Raises GitFailed when it does
        not fit any more.

        Files that `without` names by git's wildcards stay as they are: a person applies that part
        of the patch.
        """
        before = {change.path for change in self.run.tree.status()}
        self.run.tree.apply(self.run.workspace.read(name), without=without)
        paths = tuple(change.path for change in self.run.tree.status() if change.path not in before)
        if name == DRAFT and (held := self.held_paths(paths)):
            self.run.tree.discard(paths)
            raise GitFailed(f"{DRAFT} changes protected files: {', '.join(held)}.")
        return paths


def _with_formatting(files: Files, formatted: Sequence[FormattedFile]) -> Files:
    """Return files as they were formatted; one with other bytes since stays as it is."""
    known = {(file.path, file.before): file.text.encode() for file in formatted}
    return tuple((path, data and known.get((path, blob_id(data)), data)) for path, data in files)
