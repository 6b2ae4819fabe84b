"""Run the tests of a change at the base commit, without the rest of the change."""

from collections.abc import Sequence

from forge_bot.artifacts.change_name import ChangeType
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.engine import State
from forge_bot.git.commit_history import CommitInfo, FileVersion, first_parents
from forge_bot.git.commit_objects import make_commit, tree_with
from forge_bot.interaction.title_of_change import name_of_change
from forge_bot.runs.notifications import Message
from forge_bot.runs.project import Project
from forge_bot.runs.reruns import BaseTree
from forge_bot.runs.run import Run
from forge_bot.sentences import say
from forge_bot.values import CommandName, CommandResult, RedBeforeGreen
from forge_bot.verification.red_before_green import of_files, ran_green, red_at_base, why_not_red
from forge_bot.verification.selected_tests import select_tests, uncached

_TASK = "Forge-Task"


def red_before_green(
    results: Sequence[CommandResult], state: State, run: Run, project: Project
) -> RedBeforeGreen | None:
    """Return the proof for a change that mends a defect; None for any other change."""
    if not _is_defect(state, run):
        return None
    head = project.tree.commit_id()
    commits = first_parents(run.repository.root, state.base_commit, head)
    files = _test_files(commits)
    commands = [
        result
        for result in results
        if result.name is CommandName.TEST
        and not any(each.covers(result) for each in state.unusable)
    ]
    if not files:
        return RedBeforeGreen(missing="No test was added or changed.")
    if not commands:
        return RedBeforeGreen(missing="No test command counts for this run.")
    names = tuple(sorted(files))
    project.tell(Message(text=say("runs.defect_proof.tests_run_at_the_base")))
    found, at_base = _found(
        commands,
        state,
        project,
        BaseTree(run, project, _with_only(run, state, commits, files)),
        names,
    )
    if not found:
        return RedBeforeGreen(missing=next(why_not_red(at_base)))
    return RedBeforeGreen(tests=found, files=names, base=state.base_commit, head=head)


def _is_defect(state: State, run: Run) -> bool:
    """Return whether the request or the design calls the change a fix."""
    plan = run.pipeline.approved_first
    named = ["request.md", *([plan.writes] if plan is not None else [])]
    texts = {name: run.workspace.read(name) for name in named if run.workspace.read_bytes(name)}
    request = {name: text for name, text in texts.items() if name == "request.md"}
    kinds = {name_of_change(run.pipeline, state, each).type for each in (texts, request)}
    return ChangeType.FIX in kinds


def _test_files(commits: Sequence[CommitInfo]) -> dict[str, FileVersion]:
    """Return the files of tests that the run's tasks changed, as they are at the end."""
    ours = {
        file.path
        for commit in commits
        if dict(commit.trailers).get(_TASK)
        for file in commit.files
        if belongs_to_tests(file.path)
    }
    return {file.path: file for commit in commits for file in commit.files if file.path in ours}


def _with_only(
    run: Run, state: State, commits: Sequence[CommitInfo], files: dict[str, FileVersion]
) -> str:
    """Return a commit that is the base with these files only. No branch leads to it."""
    root = run.repository.root
    tree = tree_with(root, run.repository.tree_id(state.base_commit), [*files.values()])
    said = "The tests of a change, without its code"
    return make_commit(root, tree, [state.base_commit], said, (), commits[-1].signature)


def _found(
    commands: Sequence[CommandResult],
    state: State,
    project: Project,
    base: BaseTree,
    files: Sequence[str],
) -> tuple[tuple[str, ...], list[CommandResult]]:
    """Return the tests that are red there and green now, and the results there."""
    baseline = {(each.name, each.argv): each for each in state.baseline}
    found: list[str] = []
    at_base: list[CommandResult] = []
    with base:
        for now in commands:
            result = base.at_base().run_again(uncached(now.argv))
            at_base.append(result)
            red = of_files(red_at_base(baseline.get((now.name, now.argv)), result, now), files)
            selection = select_tests(now.argv, red)
            if selection is None or ran_green(now.argv, red, project.run_again(selection.argv)):
                found += red
    return tuple(found), at_base
