"""Print the end of an invocation: the result, where it is, and the next commands to type."""

import shlex
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.options import Ending
from forge_bot.cli.progress import Progress
from forge_bot.git.revisions import HEADS
from forge_bot.runs.ended_records import recorded_on
from forge_bot.runs.leftovers import remove_work_tree
from forge_bot.runs.open_pull_request import creation
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.publish_result import (
    PULL_REQUEST,
    body_file,
    pull_request_text,
    wanted_pull_request,
)
from forge_bot.runs.pull_request_branch import Offer, is_separate, offered
from forge_bot.runs.run import Run
from forge_bot.wording import money, several

_MOST_FILES = 60


def print_result(outcome: Outcome, run: Run, progress: Progress, ending: Ending) -> int:
    """Say how it ended, and take the work tree of a run that is done away; the exit code."""
    progress.stop()
    match outcome:
        case Outcome.DONE:
            _done(run, progress, ending)
        case Outcome.ABANDONED:
            progress.line(f"[bold]Abandoned.[/] The branch {escape(run.state.branch)} stays.")
        case Outcome.WAITING | Outcome.BUDGET | Outcome.FAILED | Outcome.USAGE | Outcome.REFUSED:
            pass
    return outcome.value


def _done(run: Run, progress: Progress, ending: Ending) -> None:
    state = run.state
    progress.line(f"\n[bold green]✓ Done.[/] {escape(state.title)}")
    progress.line(escape(_changes(run)))
    total = state.usage
    tokens = total.input_tokens + total.output_tokens
    progress.line(f"[dim]{total.calls} calls · {tokens:,} tokens · {money(total.cost)}[/]\n")
    separate = is_separate(state)
    kept = recorded_on(run.repository).get(run.name, "").removeprefix(HEADS) if separate else ""
    code = offered(run) if separate else Offer(branch=state.branch)
    if state.nothing_to_do is not None:
        progress.line(f"There was nothing to do: {state.nothing_to_do.why.value}.\n")
        code = Offer()
    if state.verification is not None and state.verification.requirements is not None:
        for said in state.verification.requirements.said:
            progress.line(f"[yellow]![/] {escape(said)}\n")
    if code.branch:
        count = f", {several(code.commits, 'commit')}" if separate else ""
        begins = escape(state.base_branch)
        progress.line(f"  branch        [bold]{escape(code.branch)}[/] (from {begins}{count})")
    if separate:
        progress.line(f"  record        branch {escape(kept or state.branch)}")
    if run.pipeline.summary:
        progress.line(f"  what was done forge-bot show {escape(run.pipeline.summary)}")
    if run.workspace.read_bytes(PULL_REQUEST) is not None:
        progress.line(f"  pull request  {escape(state.pull_request or _shown())}")
    following = _next_lines(run, code, kept, ending)
    progress.line(_work_tree(run, ending))
    if code.left_behind:
        progress.line(
            f"\n  {escape(code.branch)} was not moved: it is checked out, or people changed the"
            f" same lines there. This takes the new commits:\n  {escape(code.left_behind)}"
        )
    for each in following:
        progress.line(escape(each))


def _shown() -> str:
    return f"forge-bot show {PULL_REQUEST}"


def _work_tree(run: Run, ending: Ending) -> str:
    """Take the run's work tree away unless it is to stay; a line that says where it is."""
    place = escape(str(run.tree.path))
    if run.tree.path != run.places.tree:
        return f"  work tree     {place}"
    if ending.keep:
        return f"  work tree     {place}; forge-bot clean removes it"
    because = remove_work_tree(run.repository, run.name)
    return (
        f"  work tree     {place}, kept: {escape(because)}"
        if because
        else "  work tree     removed; forge-bot retry makes a new one"
    )


def _next_lines(run: Run, code: Offer, kept: str, ending: Ending) -> list[str]:
    """Return the lines that a person types now: to look, to merge, or to offer the change."""
    if not code.branch:
        return []
    base, branch = shlex.quote(run.state.base_branch), shlex.quote(code.branch)
    away = "" if Path.cwd().is_relative_to(run.repository.root) else _folder(run.repository.root)
    without = "" if is_separate(run.state) else " -- . ':!.specs'"
    lines = [
        f"\n  {away}git diff {base}...{branch}{without}",
        f"  {away}git switch {base} && git merge {branch}",
    ]
    if run.repository.remote_url() is None or run.state.pull_request:
        return lines
    lines.append("or")
    if not (ending.push or ending.open_pr):
        lines.append(f"  {away}git push -u origin {' '.join(filter(None, (branch, kept)))}")
    if body_file(run).is_file():
        written = pull_request_text(run)
        wanted = wanted_pull_request(run, code.branch, written)
        lines.append(f"  {away}{shlex.join(creation(wanted))}")
    return lines


def _folder(root: Path) -> str:
    return f"cd {shlex.quote(str(root))} && "


def _changes(run: Run) -> str:
    """A table of the changed files, as long as a person reads one."""
    code = _code(run)
    if not code:
        return "no file outside the record changed"
    if len(code) > _MOST_FILES:
        return f"{len(code):,} files changed; git diff --stat lists them"
    return run.tree.diff(run.state.base_commit, paths=code, stat=True).strip()


def _code(run: Run) -> list[str]:
    return [
        path for path in run.tree.changed(run.state.base_commit) if not path.startswith(".specs/")
    ]
