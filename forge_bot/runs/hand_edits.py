"""Documents that people changed by hand while nobody held the run."""

from collections.abc import Iterator

from forge_bot.engine import Exec, SpawnAgent, WriteFile
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.engine.reports import ArtifactChanged
from forge_bot.git import blob_id
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import local_user
from forge_bot.values import Inspection


def hand_edits(run: Run, *, external_worktree: bool = False) -> Iterator[ArtifactChanged]:
    """Yield a report for each document that a person changed by hand while a question is open.

    A document that was changed while none is open gets its recorded version back. So does one that
    a killed process had written and not yet recorded: its author's prompt shows the version before.
    With `external_worktree` somebody may be writing it just now.
    """
    being_written = _being_written(run) if external_worktree else set[str]()
    for name, record in tuple(run.state.artifacts.items()):
        raw = run.workspace.read_bytes(name)
        if name in being_written or (raw is not None and blob_id(raw) == record.blob):
            continue
        if raw is None or run.state.gate is None or name == "request.md":
            raw = _restored(run, name)
        if raw is not None and blob_id(raw) != record.blob and run.state.gate is not None:
            yield _changed_by_hand(run, name, raw)


def _being_written(run: Run) -> set[str]:
    match run.action:
        case SpawnAgent(parallel_task_ids=tasks, output_file=name):
            return {name.replace("{task}", task) for task in tasks} if tasks else {name}
        case WriteFile(path=name):
            return {name}
        case Exec(operation="verify", artifact=name) if name is not None:
            return {name}
        case _:
            return set()


def _restored(run: Run, name: str) -> bytes | None:
    old = run.repository.read(run.ref, f"{run.workspace.relative}/{name}")
    if old is not None and old != run.workspace.read_bytes(name):
        run.workspace.write(name, old)
        run.notices.append(
            f"{name} was changed while no question was open; the recorded version is back"
        )
    return old


def _editor(run: Run, name: str, raw: bytes) -> str:
    """Return who made an edit: the author of its commit, or the user of this process."""
    path = f"{run.workspace.relative}/{name}"
    committed = run.repository.read(run.ref, path) == raw
    return (committed and run.tree.last_author(path)) or local_user()


def _inspected(run: Run, name: str, text: str) -> Inspection:
    """Return the facts of a document that an agent should have written."""
    # They import the Markdown parser, which most commands on a run do not need.
    from forge_bot.runs.agent_work.apply_output import inspected_with_graph
    from forge_bot.runs.agent_work.artifact_contract import contract_of

    writers = (phase for phase in run.pipeline.phases if isinstance(phase, AnsweringPhase))
    writer = next((phase for phase in writers if phase.writes == name), None)
    if writer is None:
        return Inspection()
    contract = contract_of(run, writer, ()).replace(verdicts=(), may_end_run=False)
    return inspected_with_graph(run, writer, contract.inspect(text), text)


def _changed_by_hand(run: Run, name: str, raw: bytes) -> ArtifactChanged:
    text = raw.decode("utf-8", "replace")
    stamp = run.now()
    report = ArtifactChanged(
        key=f"{name}@{blob_id(raw)}@{stamp.isoformat()}",
        at=stamp,
        artifact=name,
        blob=blob_id(raw),
        inspection=_inspected(run, name, text),
        by=_editor(run, name, raw),
    )
    run.notices.append(f"{name} was changed by hand; the question is asked anew for this version")
    if unseen := what_is_hidden(text):
        run.notices.append(
            f"{name} now holds what a reader is not shown: {unseen}; the question shows it as "
            "it is written"
        )
    return report
