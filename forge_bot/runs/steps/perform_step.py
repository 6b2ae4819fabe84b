"""Performs the steps of a run: calls, questions before effects, and files that were approved."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from difflib import unified_diff

from pydantic import JsonValue

from forge_bot.engine import Exec
from forge_bot.engine.phases import StepPhase
from forge_bot.engine.reports import ActionFailed, ArtifactWritten, head_of
from forge_bot.engine.step_contracts import FileToWrite, WriteArguments
from forge_bot.engine.steps import Step, StepPipeline
from forge_bot.errors import ForgeError, StepFailed
from forge_bot.git import blob_id
from forge_bot.prompts import escape
from forge_bot.runs.run import Run
from forge_bot.runs.steps.step_calls import StepCalls, StepValues, taken
from forge_bot.sentences import hint_of
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.store import SPECS, inside, write_whole

LARGEST_OUTPUT = 1_000_000
"""Characters of what a step gives."""

_SHOWN = 20_000


def step_performed(
    action: Exec, run: Run
) -> tuple[ArtifactWritten | ActionFailed, tuple[str, ...]]:
    """Perform a step; the report on it, and the paths it wrote outside the workspace."""
    phase = run.pipeline.phase(action.phase)
    pipeline = run.pipeline.steps
    if not isinstance(phase, StepPhase) or pipeline is None:
        raise AssertionError(phase.id)
    performer = StepPerformer(run, pipeline)
    try:
        text, paths = performer.done(phase)
    except ForgeError as error:
        if phase.step.required or phase.asks:
            message = " ".join((error.message, *error.details, hint_of(error)))
            return ActionFailed(**head_of(action.action_id, run.now()), message=message.strip()), ()
        text, paths = "null\n", ()
    raw = run.workspace.write(phase.writes, text)
    report = ArtifactWritten(
        **head_of(action.action_id, run.now()),
        phase=action.phase,
        artifact=phase.writes,
        blob=blob_id(raw),
    )
    return report, paths


class StepPerformer:
    """Performs steps of one run. Nothing but an approved writing step changes the work tree."""

    def __init__(self, run: Run, pipeline: StepPipeline) -> None:
        self._run = run
        self._pipeline = pipeline
        self._calls = StepCalls(run)

    def done(self, phase: StepPhase) -> tuple[str, tuple[str, ...]]:
        """Return the document of a phase, and the paths that were written. Raises ForgeError."""
        if phase.asks:
            return self._question(phase.step), ()
        step = phase.step
        if step.kind == "fs_write":
            files = self._files(step, self._values())
            self._require_approval(step, files)
            self._write(files)
            paths = tuple(file.path for file in files)
            return _write_json({"paths": list(paths)}), paths
        output = self._calls.output(step, self._values().arguments(step))
        text = _write_json(output)
        _check_size(step, len(text))
        return text, ()

    def _values(self, *, ahead: bool = False) -> StepValues:
        project = self._calls.project()
        return StepValues(self._run, self._pipeline, project, self._output_ahead if ahead else None)

    def _output_ahead(self, step: Step) -> JsonValue:
        """Return a step's output in advance: calls change nothing, so it can be known before."""
        if step.kind not in {"resource", "tool"}:
            return None
        return self._calls.output(step, self._values(ahead=True).arguments(step))

    # -- questions

    def _question(self, step: Step) -> str:
        """Return the document for the approval: the known facts, and every file that the steps
        after the question will write.
        """
        values = self._values(ahead=True)
        lines = [f"# {escape.heading(step.label)}", ""]
        if step.elicitation_schema:
            lines += [f"{escape.heading(step.elicitation_schema)}.", ""]
        if step.kind == "elicitation" and step.input_map:
            source = json.dumps(values.arguments(step), ensure_ascii=False, indent=1)
            lines += ["## What it is about", "", escape.show_source(source[:_SHOWN], "json"), ""]
        behind = self._pipeline.behind(step)
        lines += ["## After a yes", ""]
        lines += [f"- {escape.heading(later_step.label)}" for later_step in behind] or [
            "- the run goes on"
        ]
        for later_step in behind:
            if later_step.kind == "fs_write":
                lines += ["", *self._show_files(later_step, self._files(later_step, values))]
        return "\n".join(lines).rstrip() + "\n"

    def _show_files(self, step: Step, files: list[FileToWrite]) -> Iterator[str]:
        yield f"## {escape.heading(step.label)}"
        yield ""
        yield _approval_line(step, files)
        for file in files:
            yield ""
            yield f"### {escape.heading(file.path)}"
            yield ""
            before = self._before(file.path)
            if before is None:
                yield escape.show_source(file.content, "")
                continue
            difference = unified_diff(
                before.splitlines(), file.content.splitlines(), "before", "after", lineterm=""
            )
            yield escape.show_source("\n".join(difference) or "It is the same.", "diff")

    # -- files

    def _files(self, step: Step, values: StepValues) -> list[FileToWrite]:
        """Return the files that a step writes. Raises StepFailed, PathEscapes."""
        asked = taken(WriteArguments, step, values.arguments(step))
        alone = [FileToWrite(path=asked.path, content=asked.content)] if asked.path else []
        files = [*alone, *asked.files]
        _check_size(step, sum(len(file.content) for file in files))
        for file in files:
            inside(self._run.tree.path, file.path)
            if file.path.startswith((f"{SPECS}/", ".git/")):
                raise StepFailed(f"{step.step}: {file.path} belongs to the record of runs.")
        data = {file.path: file.content.encode() for file in files}
        refused = protected_changes(data, self._run.config.protected)
        if refused:
            path, reason = next(iter(refused.items()))
            raise StepFailed(f"{step.step}: {path} is protected: {reason}.")
        return files

    def _before(self, path: str) -> str | None:
        file = inside(self._run.tree.path, path)
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None

    def _require_approval(self, step: Step, files: list[FileToWrite]) -> None:
        gate = self._pipeline.gate_before(step)
        question = self._run.workspace.read(gate.question)
        if _approval_line(step, files) not in question.splitlines():
            raise StepFailed(
                (
                    f"{step.step} would write something else than {gate.question} shows, so it "
                    "writes nothing."
                ),
                hint="Reject, and the question is asked anew.",
            )

    def _write(self, files: list[FileToWrite]) -> None:
        for file in files:
            write_whole(inside(self._run.tree.path, file.path), file.content)


def _check_size(step: Step, size: int) -> None:
    if size > LARGEST_OUTPUT:
        raise StepFailed(
            f"{step.step} gives {size:,} characters; {LARGEST_OUTPUT:,} are the most.",
            hint="Ask for less: a narrower query.",
        )


def _approval_line(step: Step, files: Sequence[FileToWrite]) -> str:
    """Return the line of a question by which a writing step finds its approval."""
    named = [[file.path, file.content] for file in files]
    digest = hashlib.sha256(json.dumps(named, ensure_ascii=False).encode()).hexdigest()
    return f"- `{step.step}` writes exactly this: sha256 {digest}"


def _write_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
