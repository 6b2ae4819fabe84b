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
from forge_bot.sentences import say

if TYPE_CHECKING:
    from rich.table import Table

    from forge_bot.runs.kept_status import OpenQuestion, PhaseLine, RunStatusShown
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
    # A list needs none of it.
    from forge_bot.runs.kept_status import read_status

    repository = Repository.find(folder)
    info = resolve_run(repository, name)
    shown, state = read_status(repository, info)
    if as_json:
        sys.stdout.write(_json(repository, info, state) + "\n")
        return 0
    from forge_bot.temporal.run_place import place_of

    console = Console(soft_wrap=True)
    _head(info, shown, console)
    if (place := place_of(repository, info.name)) is not None and not info.ended:
        console.print(f"[dim]led by {escape(place.told)}[/]", highlight=False)
    console.print(_phases(shown.phases))
    _tail(shown, console)
    if shown.question is not None:
        _question(shown.question, console)
    elif not shown.ended:
        _next_step(repository, info, console)
    return 0


def _json(repository: Repository, info: RunInfo, state: bytes) -> str:
    """Return state.json, the estimate if the run was begun on this machine, and the batch that is
    waited for; in ASCII, since standard output may be any encoding.
    """
    from forge_bot.runs.estimate import kept_estimate

    parts: dict[str, Recorded | None] = {"estimate": kept_estimate(repository, info.name)}
    if not (info.ended or info.waiting):
        from forge_bot.runs.batch_wait import batch_wait

        parts["batch"] = batch_wait(repository, info)
    more = {name: each.model_dump(mode="json") for name, each in parts.items() if each is not None}
    return json.dumps({**json.loads(state), **more}, indent=2)


def show(folder: Path, name: str | None, artifact: str) -> int:
    """An artifact: rendered for a terminal, as it is for a pipe."""
    repository = Repository.find(folder)
    info = resolve_run(repository, name)
    # What a file says needs no state, and is there to read where the reports are broken.
    shown = (artifact_text(repository, info, each) for each in (artifact, f"{artifact}.md"))
    text = next((each for each in shown if each is not None), None)
    if text is None:
        raise _unknown(repository, info, artifact)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
    elif artifact.endswith(".patch"):
        Console().print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        from rich.markdown import Markdown

        Console().print(Markdown(text, hyperlinks=False))
    return 0


def _unknown(repository: Repository, info: RunInfo, artifact: str) -> UnknownArtifact:
    from forge_bot.runs.snapshot_of_run import run_snapshot
    from forge_bot.settings import load_config

    state = run_snapshot(repository, info, load_config(repository.text_here)).state
    known = ", ".join(("request.md", *(name for name in state.artifacts if name != "request.md")))
    return UnknownArtifact(
        say("cli.show_runs.run_has", name=info.name, artifact=artifact),
        hint=say("cli.show_runs.it_has", known=known),
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


def _head(info: RunInfo, shown: "RunStatusShown", console: Console) -> None:
    console.print(f"[bold]{escape(shown.title)}[/]")
    where = (
        f" · work tree {escape(str(info.tree))}"
        if info.tree is not None
        else " · no work tree here"
    )
    console.print(
        f"[dim]run {escape(info.name)} · effort {shown.effort} ({escape(shown.effort_reason)})[/]",
        highlight=False,
    )
    console.print(f"[dim]branch {_branch(info)}{where}[/]\n", highlight=False)


def _phases(shown: "tuple[PhaseLine, ...]") -> "Table":
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


def _tail(shown: "RunStatusShown", console: Console) -> None:
    from forge_bot.cli.amounts import money, tokens

    for line in shown.capabilities:
        cost = f", {money(line.cost)}" if line.cost is not None else ""
        console.print(
            f"[dim]  {escape(line.name)}: {escape(line.words)}{cost}[/]",
            highlight=False,
            soft_wrap=True,
        )
    cap = f" of {money(shown.cap)}" if shown.cap is not None else ""
    most = f" of {shown.token_cap:,}" if shown.token_cap is not None else ""
    console.print(
        f"\n[dim]so far: {tokens(shown.usage)}{most} · {money(shown.usage.cost)}{cap}[/]",
        highlight=False,
    )


def _question(asked: "OpenQuestion", console: Console) -> None:
    answers = ", ".join((*asked.answers, *(() if "abandon" in asked.answers else ("abandon",))))
    console.print(
        f"[yellow]?[/] [bold]{asked.gate} waits for you[/]: forge-bot {escape(answers)}",
        highlight=False,
    )
    for file in asked.files:
        console.print(f"    forge-bot show {escape(file)}", highlight=False)


def _next_step(repository: Repository, info: RunInfo, console: Console) -> None:
    """Print what goes on with a run that waits for nobody."""
    from forge_bot.runs.batch_wait import batch_in_words

    if batch := batch_in_words(repository, info):
        console.print(f"[yellow]…[/] [bold]{escape(batch)}[/]", highlight=False)
        console.print("  [bold]forge-bot resume[/] looks whether it has ended", highlight=False)
    else:
        console.print("  [bold]forge-bot resume[/] goes on", highlight=False)
