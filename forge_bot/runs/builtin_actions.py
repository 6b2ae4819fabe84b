"""The actions of a run that need no model: setup and baseline, with the document
about commands that tell nothing; verification, approved patches, ready-made documents.
"""

import json
from collections.abc import Sequence

from forge_bot.agent.assignment import with_tries
from forge_bot.engine import Exec, State, WriteFile
from forge_bot.engine.phases import AnsweringPhase, VerifyPhase
from forge_bot.engine.process_documents import drafted_document
from forge_bot.engine.reports import (
    ActionFailed,
    ArtifactWritten,
    CommandsRan,
    Prepared,
    Report,
    VerifiedCommands,
    head_of,
)
from forge_bot.engine.state import Verification
from forge_bot.engine.verification_report import commands_section
from forge_bot.errors import ForgeError, GitFailed
from forge_bot.git import blob_id
from forge_bot.project.graph.verify_graph import broken_rules
from forge_bot.runs.agent_work.apply_output import OutputApplier
from forge_bot.runs.agent_work.artifact_contract import (
    ai_risks,
    contract_of,
    setup_risks,
    signs_of_risk,
)
from forge_bot.runs.branch_for_merge import newest_base
from forge_bot.runs.edit_checks.edit_tries import EditTries
from forge_bot.runs.edit_checks.proof_by_tests import (
    red_before_green,
    requirement_check,
    result_before,
    weakened_in,
    with_flaky_tests,
)
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.sentences import hint_of, say
from forge_bot.settings.config import CONFIG
from forge_bot.text_format import code_block, several
from forge_bot.values import CommandName, CommandResult, TaskId
from forge_bot.verification.command_outcome import (
    TAIL_CHARACTERS,
    TAIL_LINES,
    CommandOutput,
    shown_output,
)
from forge_bot.verification.judgement import (
    Cause,
    UnusableCommand,
    cause_of,
    explain_unjudged,
    judge,
    newly_failing,
    said_before,
    unusable,
)


def executed(
    action: Exec, state: State, tries: EditTries, withheld: tuple[str, ...] = ()
) -> tuple[Report, tuple[str, ...]]:
    """Do what this process does whoever leads the run; return the report, and the paths that belong
    to it. `withheld` files of a patch are left out of it. Raises GitFailed.
    """
    run, project = tries.run, tries.project
    match action.operation:
        case "prepare":
            return prepared(action, run, project), ()
        case "verify":
            return verified(action, state, run, project), ()
        case "apply-held":
            return applied(action, state, tries, withheld)
        case "step":
            from forge_bot.runs.perform_steps import step_performed

            return step_performed(action, run)
        case "call-tools" | "pull-request" | "post-to-source" | "final-commit":
            raise AssertionError(action.operation)


def prepared(action: Exec, run: Run, project: Project) -> Prepared:
    """Run setup, then build, test and lint as the baseline."""
    results = project.set_up()
    ready = all(result.exit_code == 0 for result in results)
    outputs = project.check(_was_green) if ready else ()
    checks = tuple(output.result for output in outputs)
    # On a machine without a sandbox, a project without commands is no error.
    needed = bool(results or checks) or project.config.sandbox == "off"
    risks = (
        *setup_risks(project.profile, project.runner.backend if needed else None),
        *ai_risks(run.repository, run.state.base_commit),
    )
    settings = (run.config.commands, *run.config.projects.values())
    is_set = any(one.lint is not None for one in settings)
    unusable_commands = unusable((*results, *checks), lint_is_set=is_set)
    asked = [command for command in unusable_commands if not command.left_out]
    left_behind = project.left_behind(checks)
    if not asked:
        _tell_of_red(checks, left_behind, project.tell)
        for command in unusable_commands:
            project.tell(Message(text=explain_unjudged(command)))
    document = _baseline_document((*results, *checks), asked, left_behind)
    raw = run.workspace.write(_BASELINE, document) if asked else b""
    return Prepared(
        **head_of(action.action_id, run.now()),
        results=(*results, *checks),
        risks=risks,
        unusable=unusable_commands,
        artifact=_BASELINE if asked else "",
        blob=blob_id(raw) if asked else "",
    )


def verified(action: Exec, state: State, run: Run, project: Project) -> CommandsRan:
    """Run build, test and lint after the work, and write their table into the artifact."""
    without = any(command.cause is Cause.SETUP_FAILED for command in state.unusable)
    # A person agreed to go on without setup: it is not tried again, and what needs it cannot run.
    before = (result for result in state.baseline if result.name is CommandName.SETUP)
    broken = tuple(
        result for result in (before if without else project.set_up()) if result.exit_code != 0
    )
    outputs = () if without else project.check(lambda result: _is_as_before(result, state))
    outputs = with_flaky_tests(outputs, state, run, project)
    results = (*broken, *(_new_first(output, state) for output in outputs))
    rules = broken_rules(run.repository, state.base_commit, project.tree.commit_id())
    judgement = judge(state.baseline, results, state.unusable, broken=rules)
    requirements = None if judgement.red else requirement_check(outputs, state, run, project)
    proof = None if judgement.red else red_before_green(outputs, state, run, project)
    weakened = weakened_in(run, newest_base(run), project.tree.commit_id())
    artifact = action.artifact or next(
        phase.writes for phase in run.pipeline.phases if isinstance(phase, VerifyPhase)
    )
    ran = VerifiedCommands(
        results=results, red_before_green=proof, requirements=requirements, weakened=weakened
    )
    verification = Verification(**dict(judgement), **dict(ran))
    table = commands_section(state.replace(verification=verification))
    raw = run.workspace.write(artifact, f"# Final verification\n\n{table}")
    return CommandsRan(
        **head_of(action.action_id, run.now()),
        **dict(ran),
        artifact=artifact,
        blob=blob_id(raw),
        broken_rules=rules,
    )


def _was_green(result: CommandResult) -> bool:
    return result.exit_code == 0 and cause_of(result) is None


def _is_as_before(result: CommandResult, state: State) -> bool:
    """Return whether a result is usable and has no failure that was not there before the change."""
    before = result_before(result, state)
    if before is None or cause_of(before) is not None or cause_of(result) is not None:
        return False
    return not newly_failing(before, result)


def _new_first(output: CommandOutput, state: State) -> CommandResult:
    """Return the result of a command that was red before, with the output on new failures first:
    that on old ones could use up the space.
    """
    result, before = output.result, result_before(output.result, state)
    if before is None or not before.exit_code or not (new := newly_failing(before, result)):
        return result
    lines = output.output.splitlines()
    return result.replace(tail=shown_output(lines, TAIL_CHARACTERS, TAIL_LINES, new))


def applied(
    action: Exec, state: State, tries: EditTries, withheld: tuple[str, ...]
) -> tuple[ArtifactWritten, tuple[str, ...]]:
    """Apply the patch that a person approved, without the withheld files. Return the report and the
    paths that it touched.

    What the project's commands say of the patch is written into the task's document, for its
    reviewer. Raises GitFailed if the patch does not fit.
    """
    run, task, name = tries.run, action.task or TaskId(""), action.artifact or ""
    raw = run.workspace.read_bytes(name)
    if raw is None or blob_id(raw) != state.artifacts[name].blob:
        patch = f"{run.workspace.relative}/{name}"
        hint = (
            f"`git restore {patch}` brings it back; what you want different belongs into a "
            "commit of yours."
        )
        raise GitFailed(f"{name} is not the patch that was approved.", hint=hint)
    outcome = tries.patch(task, name, withheld)
    paths = OutputApplier(run).apply_held(name, withheld)
    artifact = run.pipeline.implementation.writes.replace("{task}", task)
    before = run.artifact(artifact) or drafted_document(run.pipeline, state, paths)
    raw = run.workspace.write(artifact, with_tries(before, (outcome,)))
    report = ArtifactWritten(
        **head_of(action.action_id, run.now(), task),
        phase=action.phase,
        task=task,
        artifact=artifact,
        blob=blob_id(raw),
        inspection=contract_of(run, run.pipeline.implementation, ()).inspect(before),
    )
    return report, paths


def written(action: WriteFile, run: Run) -> ArtifactWritten:
    """Write the document that the engine made, and return the report."""
    raw = run.workspace.write(action.path, action.content)
    phase = run.pipeline.phase(action.phase)
    headings = phase.headings if isinstance(phase, AnsweringPhase) else ()
    return ArtifactWritten(
        **head_of(action.action_id, run.now()),
        phase=action.phase,
        artifact=action.path,
        blob=blob_id(raw),
        inspection=contract_of(run, phase, headings).inspect(action.content),
        risks=signs_of_risk(run, phase, action.content),
    )


def not_done(action: Exec, run: Run, error: ForgeError) -> ActionFailed:
    """Return the report that git or GitHub refused the action."""
    return ActionFailed(
        **head_of(action.action_id, run.now()), message=f"{error.message} {hint_of(error)}"
    )


_BASELINE = "baseline.md"
_MOST_SHOWN = 8
_IGNORED_SHOWN = 5
_LONGEST_LINE = 400

_HEAD = f"""\
# The baseline tells nothing

These commands ran at the base commit, before any change. What they say is nothing that a change
could be compared with.

- `reject` with a note runs setup and baseline once more, for example after {CONFIG} was mended.
- `approve` goes on and judges without these commands. The pull request says so.
"""
_WRITE_DOWN = (
    f"Write the command in {CONFIG} as this project calls it, under `commands:`, or leave it out "
    "there (`[]`)."
)
_ADVICE = {
    Cause.TIMED_OUT: f"Give it more time with `command_seconds` in {CONFIG}, or run less.",
    Cause.SETUP_FAILED: (
        f"Write down what installs it under `commands:` in {CONFIG}; where another version of an "
        "interpreter is asked for, call that one by its name. Credentials of a registry are named "
        "by `setup_credentials`, and their values given as FORGE_SETUP_NAME."
    ),
}


def _tell_of_red(results: Sequence[CommandResult], ignored: Sequence[str], tell: Notify) -> None:
    """Tell how many failures there were before any change, if there were some, and which ignored
    files the tests did not find.
    """
    if red := sum(len(result.failures) for result in results if result.exit_code != 0):
        was = "was" if red == 1 else "were"
        text = f"{several(red, 'failure')} {was} there before the change; only new ones count"
        tell(Message(text=text))
    if ignored:
        tell(Message(text=_left_behind(ignored)))


def _left_behind(names: Sequence[str]) -> str:
    carry = json.dumps(names[:_IGNORED_SHOWN], ensure_ascii=False)
    return (
        "The tests ran in a tree of their own, without the files that git ignores in your "
        f"checkout. If they need some, name these in {CONFIG}: `carry: {carry}`"
    )


def _baseline_document(
    results: Sequence[CommandResult],
    unusable: Sequence[UnusableCommand],
    left_behind: Sequence[str] = (),
) -> str:
    """Return the text about the unusable commands; the same results give the same text. It names
    ignored files that the tests did not find.
    """
    known = {(result.name, result.argv): result for result in results}
    shown = unusable[:_MOST_SHOWN]
    parts = [_HEAD, *(_part(command, known[command.name, command.argv]) for command in shown)]
    if len(unusable) > _MOST_SHOWN:
        parts.append(f"{say('runs.baseline_document.more', count=len(unusable) - _MOST_SHOWN)}\n")
    if left_behind:
        parts.append(f"{_left_behind(left_behind)}\n")
    return "\n".join(parts)


def _part(command: UnusableCommand, result: CommandResult) -> str:
    code = "" if result.timed_out else f" ({say('words.exit_code', code=result.exit_code)})"
    tail = [line[:_LONGEST_LINE] for line in result.tail.splitlines()]
    output = code_block("\n".join(tail)) if any(line.strip() for line in tail) else "No output."
    advice = _ADVICE.get(command.cause, _WRITE_DOWN)
    what = f"{said_before(command)}{code}. The end of its output:"
    head = f"## {command.name.value}: `{' '.join(command.argv)}`"
    return "\n\n".join((head, what, output, f"{advice}\n"))
