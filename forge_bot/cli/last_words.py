"""The last words of an invocation: what came out, and where to look."""

from rich.markup import escape

from forge_bot.cli.progress import Progress, money
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.publish import PULL_REQUEST
from forge_bot.runs.run import Run

_MOST_FILES = 60


def print_result(outcome: Outcome, run: Run, progress: Progress) -> int:
    """Say how it ended; the exit code."""
    progress.stop()
    match outcome:
        case Outcome.DONE:
            _done(run, progress)
        case Outcome.ABANDONED:
            progress.line(f"[bold]Abandoned.[/] The branch {escape(run.state.branch)} stays.")
        case Outcome.WAITING | Outcome.BUDGET | Outcome.FAILED | Outcome.USAGE | Outcome.REFUSED:
            pass
    return outcome.value


def _done(run: Run, progress: Progress) -> None:
    state = run.state
    progress.line(f"\n[bold green]✓ Done.[/] {escape(state.title)}")
    progress.line(escape(_changes(run)))
    total = state.usage
    tokens = total.input_tokens + total.output_tokens
    progress.line(f"[dim]{total.calls} calls · {tokens:,} tokens · {money(total.cost)}[/]")
    progress.line(
        f"\n  branch        [bold]{escape(state.branch)}[/] (from {escape(state.base_branch)})"
    )
    progress.line(f"  work tree     {escape(str(run.tree.path))}")
    progress.line(
        f"  what was done {escape(run.workspace.relative)}/{escape(run.pipeline.summary)}"
    )
    if run.workspace.read_bytes(PULL_REQUEST) is not None:
        progress.line(f"  pull request  {escape(run.workspace.relative)}/{PULL_REQUEST}")
    progress.line(
        f"\n  git diff {escape(state.base_branch)}...{escape(state.branch)} -- . ':!.specs'"
    )


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
