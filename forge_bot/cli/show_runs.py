"""The commands that only look: `forge-bot status`, `list` and `show`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.errors import ForgeError, UnknownArtifact
from forge_bot.git import Repository
from forge_bot.runs.find_runs import (
    RunInfo,
    artifact_text,
    fetch_ended,
    resolve_run,
    run_standing,
    runs,
)
from forge_bot.text_format import money

if TYPE_CHECKING:
    from rich.table import Table

    from forge_bot.engine import Pipeline, State
    from forge_bot.engine.state import OpenGate
    from forge_bot.runs.create_run import RunPlan


_MARKS = {
    "done": "[green]✓[/]",
    "current": "[cyan]●[/]",
    "waiting": "[yellow]?[/]",
    "skipped": "[dim]–[/]",
    "open": "[dim]○[/]",
}


def show_status(folder: Path, name: str | None, *, as_json: bool) -> int:
    """Print the state of a run, phase by phase, and the next step."""
    # A list needs none of it.
    from forge_bot.runs.run_snapshot import run_snapshot
    from forge_bot.settings.config import load_config

    repository = Repository.find(folder)
    info = resolve_run(repository, name)
    snapshot = run_snapshot(repository, info, load_config(repository.root))
    state = snapshot.state
    if as_json:
        sys.stdout.write(_make_json(repository, info, state) + "\n")
        return 0
    console = Console()
    print_head(info, state, console)
    console.print()
    if not info.ended:
        from forge_bot.temporal.temporal_server import read_place

        if (place := read_place(repository, info.name)) is not None:
            console.print(f"[dim]led by {escape(place.told)}[/]")
    console.print(_make_phase_table(snapshot.pipeline, state))
    _print_cost(state, console)
    if state.gate is not None:
        _print_question(state.gate, console)
    elif not state.ended:
        _print_next_step(repository, info, console)
    return 0


def _make_json(repository: Repository, info: RunInfo, state: "State") -> str:
    """Return state.json, and what the run waits for; in ASCII, since standard output may be any
    encoding.
    """
    from forge_bot.store.run_folder import state_file

    standing = run_standing(repository, info).model_dump(mode="json")
    return json.dumps({**json.loads(state_file(state)), "standing": standing}, indent=2)


def list_runs(folder: Path) -> int:
    """All runs of the repository, newest first."""
    repository = Repository.find(folder)
    console = Console()
    reached = fetch_ended(repository)
    known = runs(repository)
    if not reached:
        console.print("[dim]The remote could not be asked for ended runs.[/]")
    if not known:
        console.print('No run yet. Start one: [bold]forge-bot run "what is to be done"[/]')
        return 0
    for info in known:
        console.print(f"[bold]{escape(info.name)}[/]  {escape(info.title)}")
        words = escape(run_standing(repository, info).in_words)
        words = f"[yellow]{words}[/]" if info.waiting else words
        line = (
            f"  {words} [dim]· effort {info.effort} ·"
            f" {_describe_branch(info)} · "
            f"{info.updated_at:%Y-%m-%d %H:%M} UTC[/]"
        )
        console.print(line)
    return 0


def _describe_branch(info: RunInfo) -> str:
    """Return the branch of a run, and where its record is if that is elsewhere: on a remote, or
    among those of ended runs.
    """
    branch = escape(info.branch)
    if info.kept:
        return f"{branch}, which is gone; its record is {escape(info.kept)}"
    if info.remote:
        return f"{escape(info.remote)}/{branch}, on the remote only"
    return branch


def print_head(info: RunInfo, sized: "State | RunPlan", console: Console) -> None:
    """Print which run it is, with its effort, its branch and its work tree."""
    console.print(f"[bold]{escape(info.title)}[/]")
    run = f"[dim]run {escape(info.name)} · effort {sized.effort} ({escape(sized.effort_reason)})[/]"
    console.print(run)
    where = f"work tree {escape(str(info.tree))}" if info.tree is not None else "no work tree here"
    console.print(f"[dim]branch {_describe_branch(info)} · {where}[/]")


def _make_phase_table(pipeline: "Pipeline", state: "State") -> "Table":
    from rich.table import Table

    from forge_bot.engine.phase_rows import rows

    table = Table(box=None, pad_edge=False, show_header=False)
    for row in rows(pipeline, state):
        style = "dim" if row.standing in {"skipped", "open"} else None
        used = f"{row.usage.tokens:,} tokens · {money(row.usage.cost)}" if row.usage.calls else ""
        # One column: two would not fit into eighty characters.
        details = " · ".join(filter(None, (escape(row.note), used)))
        table.add_row(_MARKS[row.standing], row.phase, row.label, f"[dim]{details}[/]", style=style)
    return table


def _print_cost(state: "State", console: Console) -> None:
    from forge_bot.engine.capability_uses import use_lines

    for line in use_lines(state):
        cost = f", {money(line.cost)}" if line.cost is not None else ""
        console.print(f"[dim]  {escape(line.name)}: {escape(line.words)}{cost}[/]")
    cap = f" of {state.budget.token_cap:,}" if state.budget.token_cap is not None else ""
    tokens_used = f"{state.usage.tokens:,} tokens{cap}"
    cost = money(state.usage.cost)
    if state.budget.cap is not None:
        cost = f"{cost} of {money(state.budget.cap)}"
    console.print("\n" + f"[dim]so far: {tokens_used} · {cost}[/]")
    if state.usage.unanswered:
        from forge_bot.interaction.number_format import may_be_billed

        console.print(f"[yellow]{may_be_billed(state.usage)}[/]")


def _print_question(gate: "OpenGate", console: Console) -> None:
    answers = ", ".join(dict.fromkeys((*gate.options, "abandon")))
    what = "Needs your answer" if gate.is_question_of_agent else f"{gate.name} waits for you"
    console.print(f"[yellow]?[/] [bold]{what}[/]: forge-bot {escape(answers)}")
    for file in gate.files:
        console.print(f"    forge-bot show {escape(file.name)}")


def _print_next_step(repository: Repository, info: RunInfo, console: Console) -> None:
    """Print the command that continues a run without an open question."""
    if trouble := run_standing(repository, info).trouble:
        console.print(f"[yellow]…[/] [bold]{escape(trouble)}[/]")
        console.print("  [bold]forge-bot resume[/] looks whether it has ended")
    else:
        console.print("  [bold]forge-bot resume[/] goes on")


def show_artifact(folder: Path, name: str | None, artifact: str) -> int:
    """Print an artifact: at a terminal rendered, and with the words of the requirements that it
    names by number, unchanged to a pipe; without a name the command for each that there is. Raises
    UnknownArtifact.
    """
    repository = Repository.find(folder)
    info = resolve_run(repository, name)
    if not artifact:
        of_run = f" --run {info.name}" if name is not None else ""
        for known_name in _list_documents(repository, info):
            sys.stdout.write(f"forge-bot show {known_name}{of_run}\n")
        return 0
    # A document needs no state, and can be read where the reports are broken.
    texts = (
        artifact_text(repository, info, file_name) for file_name in (artifact, f"{artifact}.md")
    )
    text = next((candidate for candidate in texts if candidate is not None), None)
    if text is None:
        raise UnknownArtifact(
            f"The run {info.name} has no {artifact}.",
            hint=f"It has: {', '.join(_list_documents(repository, info))}.",
        )
    if not sys.stdout.isatty():
        sys.stdout.write(text)
    elif artifact.endswith(".patch"):
        Console().print(text, markup=False)
    else:
        Console().print_markdown(_with_words(repository, info, text))
    return 0


def _with_words(repository: Repository, info: RunInfo, text: str) -> str:
    """Return a document with the words of the requirements that another one numbers."""
    from forge_bot.artifacts.read_artifact import numbered_requirements, with_requirement_words
    from forge_bot.runs.agent_work.artifact_contract import listed_requirements
    from forge_bot.runs.run_snapshot import run_snapshot
    from forge_bot.settings.config import load_config

    try:
        listed = listed_requirements(run_snapshot(repository, info, load_config(repository.root)))
    except ForgeError:
        return text
    own = numbered_requirements(text)
    return with_requirement_words(text, {n: w for n, w in listed.items() if n not in own})


def _list_documents(repository: Repository, info: RunInfo) -> list[str]:
    """Return the names of the documents that there are."""
    from forge_bot.runs.publish_result import PULL_REQUEST
    from forge_bot.runs.run_snapshot import run_snapshot
    from forge_bot.settings.config import load_config

    state = run_snapshot(repository, info, load_config(repository.root)).state
    names = dict.fromkeys(("request.md", *state.artifacts, PULL_REQUEST))
    return [name for name in names if artifact_text(repository, info, name) is not None]
