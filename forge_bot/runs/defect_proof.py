"""Run the tests of a change at the base commit, without the rest of the change."""

from collections.abc import Sequence

from forge_bot.artifacts.change_name import ChangeType
from forge_bot.engine import State
from forge_bot.interaction.title_of_change import name_of_change
from forge_bot.runs.project import Project
from forge_bot.runs.run import Run
from forge_bot.runs.without_change import RunsWithoutChange, only_tests
from forge_bot.values import CommandName, CommandResult, RedBeforeGreen
from forge_bot.verification.red_before_green import of_files, ran_green, red_at_base, why_not_red
from forge_bot.verification.selected_tests import select_tests


def red_before_green(
    results: Sequence[CommandResult], state: State, run: Run, project: Project
) -> RedBeforeGreen | None:
    """Return the proof for a change that mends a defect; None for any other change."""
    if not _is_defect(state, run):
        return None
    head = project.tree.commit_id()
    only = only_tests(run, head)
    commands = [
        result
        for result in results
        if result.name is CommandName.TEST
        and not any(each.covers(result) for each in state.unusable)
    ]
    if only is None:
        return RedBeforeGreen(missing="No test was added or changed.")
    if not commands:
        return RedBeforeGreen(missing="No test command counts for this run.")
    found, at_base = _found(commands, state, project, RunsWithoutChange(run, project, only))
    if not found:
        return RedBeforeGreen(missing=next(why_not_red(at_base)))
    return RedBeforeGreen(tests=found, files=only.changed, base=state.base_commit, head=head)


def _is_defect(state: State, run: Run) -> bool:
    """Return whether the request or the design calls the change a fix."""
    plan = run.pipeline.approved_first
    named = ["request.md", *([plan.writes] if plan is not None else [])]
    texts = {name: run.workspace.read(name) for name in named if run.workspace.read_bytes(name)}
    request = {name: text for name, text in texts.items() if name == "request.md"}
    kinds = {name_of_change(run.pipeline, state, each).type for each in (texts, request)}
    return ChangeType.FIX in kinds


def _found(
    commands: Sequence[CommandResult], state: State, project: Project, runs: RunsWithoutChange
) -> tuple[tuple[str, ...], list[CommandResult]]:
    """Return the tests that are red there and green now, and the results there."""
    baseline = {(each.name, each.argv): each.failures for each in state.baseline}
    found: list[str] = []
    at_base: list[CommandResult] = []
    for now in commands:
        argv = runs.narrowed(now.argv) or now.argv
        result = runs.result(argv, project.config.command_seconds)
        at_base.append(result)
        known = {*baseline.get((now.name, now.argv), ()), *now.failures, *now.flaky}
        red = of_files(red_at_base(result, known), runs.only.changed)
        selection = select_tests(now.argv, red)
        if selection is None or ran_green(now.argv, red, project.run_again(selection.argv)):
            found += red
    return tuple(found), at_base
