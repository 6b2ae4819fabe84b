"""Records what a worker hands over: files, and the report that they hold. The supervisor makes each
commit itself, once it has looked at the report, the paths, the sizes, and for secrets.

The worker is believed nothing: it ran a model, and project commands ran beside it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from pydantic import ValidationError

from forge_bot.agent.redaction import encoded_forms, redactor_of
from forge_bot.engine import REPORT, Pipeline, Report, SpawnAgent, advance, fold
from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.phases import DRAFT, WRITING
from forge_bot.engine.reports import (
    ActionFailed,
    AgentFailed,
    Answer,
    Answered,
    ArtifactChanged,
    ArtifactWritten,
    Asked,
    CallBegun,
    CallEnded,
    CallsRequested,
    CommandsRan,
    Paused,
    Prepared,
)
from forge_bot.engine.state import Reason, State
from forge_bot.errors import CommitsRefused, ForgeError, RecordChanged
from forge_bot.forge import WORKFLOWS
from forge_bot.git.commit_objects import changed_files, patched
from forge_bot.project.scoped_commands import is_inside
from forge_bot.prompts.untrusted import clean_plain
from forge_bot.runs.run import HandedFiles, Run
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.store.run_folder import CARRIED, REPORTS, SPECS, STATE, state_file
from forge_bot.values import TaskId

WORKERS = (
    Prepared
    | ArtifactWritten
    | AgentFailed
    | CallsRequested
    | CallBegun
    | CallEnded
    | CommandsRan
    | ActionFailed
    | ArtifactChanged
    | Asked
    | Paused
)
"""The reports that a worker may make. Its supervisor records people's answers and what is
published.
"""

_DAY = timedelta(days=1)
"""The clocks of two machines differ by less."""

MOST_FILES = 400
MOST_BYTES = 20_000_000
MOST_OF_DOCUMENT = 2_000_000
"""Bytes. Only the records of reports and conversations, and held patches, may be longer."""

REQUEST = "request.md"
_GONE = "000000"
_PLAIN_MODES = frozenset({"100644", "100755", _GONE})
_RUN_FILES = re.compile(
    rf"{re.escape(REPORTS)}|{re.escape(STATE)}|{re.escape(CARRIED)}|request\.md|baseline\.md|snippets\.md|draft\.patch"
    r"|calls-\d+\.json|calls-\d+-\d+\.md"
)
"""What a worker writes besides the documents of the pipeline and held patches."""

_HELD = held_patch_name(TaskId("{task}"))
_TASK = "[A-Za-z0-9_.-]{0,40}"


class WorkRecorder:
    """Records the work of one worker, whose run another process of ours may have open."""

    def __init__(self, run: Run, secrets: Mapping[str, str]) -> None:
        self.run = run
        self.record_folder = f"{run.workspace.relative}/"
        self.head = run.tree.commit_id()
        """The newest commit that is ours: every other one is the worker's."""
        self._needles = {
            needle: name for name, value in secrets.items() for needle in encoded_forms(value)
        }
        self._strike = redactor_of(secrets)

    def record(self, files: str) -> str:
        """Record the files of a tree or a commit, of which nothing else counts, and return the new
        commit. Raises CommitsRefused with every reason against it.
        """
        folder, repository = self.record_folder, self.run.repository
        there = repository.read_many(files, (f"{folder}{REPORTS}", f"{folder}{STATE}"))
        report = self._report(there.get(f"{folder}{REPORTS}", b""))
        record = {REPORTS: self.run.workspace.recorded, STATE: state_file(self.run.state)}
        state = self.run.state
        if report is not None:
            state = self._state_after(report)
            record = self.run.workspace.with_report(report, state)
        if there != {f"{folder}{name}": raw for name, raw in record.items()}:
            self._refuse("the record is not the one of its report")
        changed = changed_files(repository.root, self.head, files)
        modes = {path: file.mode for path, file in changed.items()}
        code = [path for path in modes if not path.startswith(self.record_folder)]
        self._refuse(
            *self._paths(modes, code),
            *self._protected(files, code),
            *self._drafted(files, code),
            *self._contents(files, modes),
        )
        handed = HandedFiles(files, self.head)
        try:
            self.head = (
                self.run.keep(handed)
                if report is None
                else self.run.record(report, state, handed=handed)
            )
        except RecordChanged as error:
            self._refuse(error.message)
        return self.head

    def _refuse(self, *problems: str) -> None:
        """Raise CommitsRefused for problems, if there are any."""
        if problems:
            # A path may contain a secret, and the reasons are shown to everybody.
            details = tuple(dict.fromkeys(map(self._strike, problems)))
            raise CommitsRefused("The worker's changes were not pushed.", details=details)

    def _report(self, there: bytes) -> Report | None:
        """Return the one report that is there beyond those that are recorded."""
        known = self.run.workspace.recorded
        lines = there[len(known) :].splitlines()
        if not there.startswith(known):
            self._refuse("earlier reports were changed")
        if len(lines) > 1:
            self._refuse(f"there are {len(lines)} new reports, and each has a commit of its own")
        try:
            report = REPORT.validate_json(lines[0]) if lines else None
        except ValidationError as error:
            self._refuse(f"the new report cannot be read: {str(error)[:500]}")
            raise
        if report is not None and not isinstance(report, WORKERS):
            self._refuse(f"a worker cannot report {report.type}")
        return report

    def _state_after(self, report: Report) -> State:
        if report.at > self.run.now() + _DAY:
            self._refuse(f"the new report is of another time, {report.at}")
        try:
            return advance(self.run.pipeline, self.run.state, report)
        except ForgeError as error:
            self._refuse(error.message)
            raise

    def _paths(self, modes: Mapping[str, str], code: Sequence[str]) -> list[str]:
        problems = [
            f"{path} would be a link or a submodule"
            for path, mode in modes.items()
            if mode not in _PLAIN_MODES
        ]
        problems += [
            f"{path} is none of the files that a run writes about itself"
            for path, mode in modes.items()
            if path.split("/")[0].casefold() == SPECS and not self._is_document(path, mode)
        ]
        problems += [
            f"{path} is a workflow, which only people push"
            for path in code
            if path.startswith(f"{WORKFLOWS}/")
        ]
        if f"{self.record_folder}{REQUEST}" in modes:
            problems.append(
                f"{REQUEST} is the request that the run was started with, and does not change"
            )
        if len(code) > MOST_FILES:
            problems.append(f"{len(code)} files are changed; {MOST_FILES} are the most")
        return problems

    def _is_document(self, path: str, mode: str) -> bool:
        """Return whether a path of the record is a file that a worker writes there."""
        name = path.removeprefix(self.record_folder)
        declared = path == self.record_folder + name and _is_declared(self.run.pipeline, name)
        return declared and mode in {"100644", _GONE}

    def _protected(self, files: str, paths: Sequence[str]) -> list[str]:
        """Return the changes of protected files that are not, byte for byte, what an approved patch
        makes there.
        """
        reasons = protected_changes(paths, self.run.config.protected)
        scope = self.run.state.flags.scope
        outside = [path for path in paths if not is_inside(path, scope)]
        reasons |= dict.fromkeys(outside, f"the run was to stay in {scope}")
        patches = (
            approved_patches(self.run.pipeline, self.run.workspace.reports()) if reasons else ()
        )
        approved = {
            path for patch in patches for path in self._as_patched(files, patch, [*reasons])
        }
        return [
            f"{path} is protected, and nobody approved this change: {why}"
            for path, why in reasons.items()
            if path not in approved
        ]

    def _drafted(self, files: str, paths: Sequence[str]) -> list[str]:
        """Return the changes of files that are not, byte for byte, those of the draft, as long as
        there is one and no implementer has been asked.
        """
        state = self.run.state
        if DRAFT not in state.artifacts or not paths:
            return []
        phase = self.run.pipeline.implementation.id
        asked = isinstance(self.run.action, SpawnAgent) and self.run.action.phase == phase
        begun = any(place.startswith(f"{phase}/") for place in state.visits)
        if asked or begun:
            return []
        drafted = self._as_patched(files, state.artifacts[DRAFT].blob, paths)
        return [f"{path} is not as {DRAFT} makes it" for path in paths if path not in drafted]

    def _as_patched(self, files: str, blob: str, paths: Sequence[str]) -> set[str]:
        """Return the paths whose content is, byte for byte, what a patch makes of our head."""
        repository = self.run.repository
        made = patched(repository.root, self.head, repository.blob(blob), paths)
        now = repository.objects(files, paths)
        return {path for path in paths if made is not None and made.get(path) == now.get(path)}

    def _contents(self, files: str, modes: Mapping[str, str]) -> list[str]:
        sizes = self.run.repository.sizes(files, modes)
        if sum(sizes.values()) > MOST_BYTES:
            return [f"the change is larger than {MOST_BYTES // 1_000_000} MB"]
        problems = [
            f"{path} is longer than documents are"
            for path, size in sizes.items()
            if path.startswith(self.record_folder)
            and size > MOST_OF_DOCUMENT
            and not path.endswith((REPORTS, STATE, CARRIED, ".patch"))
        ]
        was = self.run.repository.read_many(self.head, modes)
        for path, raw in self.run.repository.read_many(files, modes).items():
            # A value that stood there before is no secret that got out now.
            leaked = self._leaked(raw) - self._leaked(was.get(path, b""))
            problems += [f"they hold the value of {name}" for name in sorted(leaked)]
        named = self._leaked("\n".join(path for path in modes if path not in was).encode())
        problems += [f"a file's name holds the value of {name}" for name in sorted(named)]
        return problems

    def _leaked(self, raw: bytes) -> set[str]:
        """Return the names of the secrets whose values are in there, also with signs nobody sees
        between theirs, or across lines.
        """
        text = raw.decode("utf-8", "replace")
        joined = "".join(clean_plain(text).text.split())
        return {
            name for needle, name in self._needles.items() if needle in text or needle in joined
        }


def _is_declared(pipeline: Pipeline, name: str) -> bool:
    """Return whether a worker may write a file of this name into the folder of a run."""
    named = [phase.writes for phase in pipeline.phases if isinstance(phase, WRITING)]
    patterns = [re.escape(name).replace(r"\{task\}", _TASK) for name in (*named, _HELD)]
    return bool(_RUN_FILES.fullmatch(name) or re.fullmatch("|".join(patterns), name))


def approved_patches(pipeline: Pipeline, reports: Sequence[Report]) -> tuple[str, ...]:
    """Return the object ids of the patches that persons approved, as they were when they were
    approved, oldest first.
    """
    blobs: list[str] = []
    for place, report in enumerate(reports):
        if not isinstance(report, Answered) or report.answer is not Answer.APPROVE:
            continue
        before, after = (fold(pipeline, reports[:end]) for end in (place, place + 1))
        if before.gate is not None and len(after.decisions) > len(before.decisions):
            decision = after.decisions[-1]
            held = (
                held_patch_name(decision.task or TaskId(""))
                if decision.reason is Reason.PROTECTED_PATHS
                else ""
            )
            blobs += [file.blob for file in before.gate.files if file.name == held]
    return tuple(blobs)
