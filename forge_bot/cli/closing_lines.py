"""Print the end of an invocation: the result, where it is, and the next commands to type."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.options import Ending
from forge_bot.cli.progress import Progress
from forge_bot.forge import pull_request_command
from forge_bot.git.revisions import ENDED
from forge_bot.runs.branch_for_merge import Offer, newest_base, offered, target_of
from forge_bot.runs.publish_result import (
    PULL_REQUEST,
    body_file,
    pull_request_text,
    wanted_pull_request,
)
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import is_kept, remove_work_tree
from forge_bot.runs.this_process import Outcome
from forge_bot.text_format import money, named_once, several

_MOST_FILES = 60
_SHORT = 12


def print_result(outcome: Outcome, run: Run, progress: Progress, ending: Ending) -> int:
    """Show the outcome, and remove the work tree of a run that is done; return the exit code."""
    progress.stop()
    match outcome:
        case Outcome.DONE:
            _print_done(run, progress, ending)
        case Outcome.ABANDONED:
            progress.print_line(f"[bold]Abandoned.[/] The branch {escape(run.state.branch)} stays.")
        case Outcome.WAITING | Outcome.BUDGET | Outcome.FAILED | Outcome.USAGE | Outcome.REFUSED:
            pass
    return outcome.value


def _print_done(run: Run, progress: Progress, ending: Ending) -> None:
    state = run.state
    progress.print_line(f"\n[bold green]✓ Done.[/] {escape(state.title)}")
    progress.print_line(escape(_describe_changes(run)))
    total = state.usage
    tokens = total.input_tokens + total.output_tokens
    spent = f"{total.calls} calls · {tokens:,} tokens · {money(total.cost)}"
    progress.print_line(f"[dim]{spent}[/]\n")
    kept = f"{ENDED}{run.name}" if is_kept(run.repository, run.name, run.tree.commit_id()) else ""
    code = offered(run) if state.nothing_to_do is None else Offer()
    for note in _list_notes(run):
        progress.print_line(f"{note}\n")
    for row in _list_places(run, code, kept):
        progress.print_line(row)
    # The commands name folders that are there, so before the work tree goes.
    following = _list_next_commands(run, code, kept, ending)
    progress.print_line(_remove_work_tree(run, ending))
    if code.left_behind:
        not_moved = (
            f"{escape(code.branch)} was not moved: it is checked out, or people changed the "
            "same lines there. This takes the new commits:"
        )
        progress.print_line(f"\n  {not_moved}\n  {escape(code.left_behind)}")
    for line in following:
        progress.print_line(escape(line))


def _list_notes(run: Run) -> Iterator[str]:
    """Yield what a person should know about the result."""
    if (nothing := run.state.nothing_to_do) is not None:
        yield f"There was nothing to do: {nothing.why.value}."
    if (judged := run.state.verification) is not None:
        asked = judged.requirements.said if judged.requirements is not None else ()
        for note in (*judged.notes, *asked):
            yield f"[yellow]![/] {escape(named_once(note))}"


def _list_places(run: Run, code: Offer, kept: str) -> Iterator[str]:
    """Yield the rows that say where the code, the record and the documents are."""
    state = run.state
    if code.branch:
        branch = escape(code.branch)
        begins = (
            f"[bold]{branch}[/]"
            if state.here
            else "[bold]{branch}[/] (from {base}{commits})".format(
                branch=branch,
                base=escape(state.base_branch),
                commits=f", {several(code.commits, 'commit')}",
            )
        )
        yield _format_row("branch", begins)
    yield _format_row("record", escape(kept or f"branch {state.branch}"))
    show = "forge-bot show"
    if run.pipeline.summary:
        yield _format_row("what was done", escape(f"{show} {run.pipeline.summary}"))
    if run.workspace.read_bytes(PULL_REQUEST) is not None:
        shown = escape(state.pull_request or f"{show} {PULL_REQUEST}")
        yield _format_row("pull request", shown)


def _format_row(name: str, text: str) -> str:
    return f"  {name:<13} {text}"


def _remove_work_tree(run: Run, ending: Ending) -> str:
    """Remove the run's work tree unless it is to stay; return a line about it."""
    place = escape(str(run.tree.path))
    if run.tree.path != run.places.tree:
        return _format_row("work tree", place)
    if ending.keep:
        kept = f"{place}; forge-bot clean removes it"
    elif because := remove_work_tree(run.repository, run.name):
        kept = f"{place}, kept: {escape(because)}"
    else:
        kept = "removed; forge-bot retry makes a new one"
    return _format_row("work tree", kept)


def _list_next_commands(run: Run, code: Offer, kept: str, ending: Ending) -> list[str]:
    """Return the lines that a person types now: to look, to merge, or to offer the change."""
    if not code.branch:
        return []
    state, branch = run.state, shlex.quote(code.branch)
    target = shlex.quote(target_of(run))
    # In a person's own branch the change begins at a commit.
    since = f"{state.base_commit[:_SHORT]}.." if state.here else f"{target}..."
    root = run.repository.root
    lines = [""] if Path.cwd().is_relative_to(root) else ["", f"  cd {shlex.quote(str(root))}"]
    lines.append(f"  git diff {since}{branch}")
    if target != branch:
        lines.append(f"  git switch {target} && git merge {branch}")
    if run.repository.remote_url() is None or run.state.pull_request:
        return lines
    lines.append("or")
    if not (ending.push or ending.open_pr):
        lines.append(f"  git push -u origin {' '.join(filter(None, (branch, kept)))}")
    if body_file(run).is_file():
        written = pull_request_text(run)
        wanted = wanted_pull_request(run, code.branch, written)
        lines.append(f"  {shlex.join(pull_request_command(wanted))}")
    return lines


def _describe_changes(run: Run) -> str:
    """A table of the files that the run changed, as long as a person reads one."""
    base = newest_base(run)
    code = [path for path in run.tree.changed(base) if not path.startswith(".specs/")]
    if not code:
        return "no file outside the record changed"
    if len(code) > _MOST_FILES:
        return f"{len(code):,} files changed; git diff --stat lists them"
    return run.tree.diff(base, paths=code, stat=True).strip("\n")
