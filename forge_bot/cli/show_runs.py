"""Commands that only look: status, show, list."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.errors import UnknownArtifact
from forge_bot.git import Repository
from forge_bot.runs.files_of_run import artifact_text
from forge_bot.runs.find_runs import RunInfo, resolve_run, runs

if TYPE_CHECKING:
    from rich.table import Table

    from forge_bot.engine.phase_rows import Row
    from forge_bot.runs.snapshot_of_run import RunSnapshot
    from forge_bot.values import Recorded

_MARKS = {
    "done": "[green]✓[/]",
    "current": "[cyan]●[/]",
    "waiting": "[yellow]?[/]",
    "skipped": "[dim]–[/]",
    "open": "[dim]○[/]",
}


def status(folder: Path, name: str | None, *, as_json: bool) -> int:
    """Print the state of a run, phase by phase, and the next step."""
    found = _read(folder, name)
    if as_json:
        sys.stdout.write(_json(found) + "\n")
        return 0
    from forge_bot.engine.phase_rows import rows
    from forge_bot.temporal.run_place import place_of

    console = Console(soft_wrap=True)
    _head(found, console)
    if (place := place_of(found.repository, found.state.run)) is not None and not found.info.ended:
        console.print(f"[dim]led by {escape(place.told)}[/]", highlight=False)
    console.print(_phases(rows(found.pipeline, found.state)))
    _tail(found, console)
    return 0


def _json(found: "RunSnapshot") -> str:
    """Return state.json, the estimate if the run was begun on this machine, and the batch that is
    waited for; in ASCII, since standard output may be any encoding.
    """
    from forge_bot.runs.estimate import kept_estimate

    estimate = kept_estimate(found.repository, found.state.run)
    parts: dict[str, Recorded | None] = {"estimate": estimate}
    if not (found.info.ended or found.info.waiting):
        from forge_bot.runs.batch_wait import batch_wait

        parts["batch"] = batch_wait(found.repository, found.info)
    more = {name: each.model_dump(mode="json") for name, each in parts.items() if each is not None}
    return json.dumps({**found.state.model_dump(mode="json"), **more}, indent=2)


def show(folder: Path, name: str | None, artifact: str) -> int:
    """An artifact: rendered for a terminal, as it is for a pipe."""
    repository = Repository.find(folder)
    info = resolve_run(repository, name)
    # What a file says needs no state, and is there to read where the reports are broken.
    shown = (artifact_text(repository, info, each) for each in (artifact, f"{artifact}.md"))
    text = next((each for each in shown if each is not None), None)
    if text is None:
        raise _unknown(_snapshot(repository, info), artifact)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
    elif artifact.endswith(".patch"):
        Console().print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        from rich.markdown import Markdown

        Console().print(Markdown(text, hyperlinks=False))
    return 0


def _unknown(found: "RunSnapshot", artifact: str) -> UnknownArtifact:
    known = ", ".join(
        ("request.md", *(name for name in found.state.artifacts if name != "request.md"))
    )
    return UnknownArtifact(
        f"The run {found.info.name} has no {artifact}.", hint=f"It has: {known}."
    )


def list_runs(folder: Path) -> int:
    """All runs of the repository, newest first."""
    repository = Repository.find(folder)
    console = Console(soft_wrap=True)
    known = runs(repository)
    if not known:
        console.print(
            'No run yet. Start one: [bold]forge-bot run "what is to be done"[/]', highlight=False
        )
        return 0
    for info in known:
        console.print(f"[bold]{escape(info.name)}[/]  {escape(info.title)}", highlight=False)
        console.print(
            f"  {_where(repository, info)} [dim]· effort {info.effort} · {_branch(info)} ·"
            f" {info.updated_at:%Y-%m-%d %H:%M} UTC[/]",
            highlight=False,
        )
    return 0


def _where(repository: Repository, info: RunInfo) -> str:
    if info.waiting:
        return f"[yellow]waits for you at {info.phase}[/]"
    if info.ended:
        return escape(info.status)
    from forge_bot.runs.batch_wait import batch_in_words

    batch = batch_in_words(repository, info)
    return f"at {info.phase}" + (f", {escape(batch)}" if batch else "")


def _branch(info: RunInfo) -> str:
    """The branch; of a run that only a remote has, as that remote's, which going on with it takes
    over; or what it is called now.
    """
    if info.renamed:
        return f"{escape(info.branch)}, which is called {escape(info.renamed)} now"
    if info.kept:
        return f"{escape(info.branch)}, which is gone; its record is on {escape(info.kept_on)}"
    return (
        f"{escape(info.remote)}/{escape(info.branch)}, on the remote only"
        if info.remote
        else escape(info.branch)
    )


def _read(folder: Path, name: str | None) -> "RunSnapshot":
    repository = Repository.find(folder)
    return _snapshot(repository, resolve_run(repository, name))


def _snapshot(repository: Repository, info: RunInfo) -> "RunSnapshot":
    # A list needs neither these nor what they read.
    from forge_bot.runs.snapshot_of_run import run_snapshot
    from forge_bot.settings import load_config

    return run_snapshot(repository, info, load_config(repository.text_here))


def _head(found: "RunSnapshot", console: Console) -> None:
    state = found.state
    console.print(f"[bold]{escape(state.title)}[/]")
    where = (
        f" · work tree {escape(str(found.info.tree))}"
        if found.info.tree is not None
        else " · no work tree here"
    )
    console.print(
        f"[dim]run {escape(state.run)} · effort {state.effort} ({escape(state.effort_reason)})[/]",
        highlight=False,
    )
    console.print(f"[dim]branch {_branch(found.info)}{where}[/]\n", highlight=False)


def _phases(shown: "tuple[Row, ...]") -> "Table":
    from rich.table import Table

    from forge_bot.cli.amounts import money, tokens

    table = Table(box=None, pad_edge=False, show_header=False)
    for row in shown:
        style = "dim" if row.standing in {"skipped", "open"} else None
        used = f"{tokens(row.usage)} · {money(row.usage.cost)}" if row.usage.calls else ""
        table.add_row(
            _MARKS[row.standing],
            row.phase,
            row.label,
            f"[dim]{escape(row.note)}[/]",
            f"[dim]{used}[/]",
            style=style,
        )
    return table


def _tail(found: "RunSnapshot", console: Console) -> None:
    from forge_bot.cli.amounts import money, tokens
    from forge_bot.engine.capability_uses import use_lines

    state = found.state
    for line in use_lines(state):
        cost = f", {money(line.cost)}" if line.cost is not None else ""
        console.print(
            f"[dim]  {escape(line.name)}: {escape(line.words)}{cost}[/]",
            highlight=False,
            soft_wrap=True,
        )
    cap = f" of {money(state.budget.cap)}" if state.budget.cap is not None else ""
    most = f" of {state.budget.token_cap:,}" if state.budget.token_cap is not None else ""
    console.print(
        f"\n[dim]so far: {tokens(state.usage)}{most} · {money(state.usage.cost)}{cap}[/]",
        highlight=False,
    )
    if state.gate is not None:
        answers = ", ".join(
            (*state.gate.options, *(() if "abandon" in state.gate.options else ("abandon",)))
        )
        console.print(
            f"[yellow]?[/] [bold]{state.gate.name} waits for you[/]: forge-bot {escape(answers)}",
            highlight=False,
        )
        for file in state.gate.files:
            console.print(f"    forge-bot show {escape(file.name)}", highlight=False)
    elif not state.ended:
        _next_step(found, console)


def _next_step(found: "RunSnapshot", console: Console) -> None:
    """Print what goes on with a run that waits for nobody."""
    from forge_bot.runs.batch_wait import batch_in_words

    if batch := batch_in_words(found.repository, found.info):
        console.print(f"[yellow]…[/] [bold]{escape(batch)}[/]", highlight=False)
        console.print("  [bold]forge-bot resume[/] looks whether it has ended", highlight=False)
    else:
        console.print("  [bold]forge-bot resume[/] goes on", highlight=False)
