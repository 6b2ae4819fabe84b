"""The state of this machine and of the repository on GitHub: `forge-bot doctor` shows the results
of all checks, `clean` what runs have left, and removes it.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from rich.filesize import decimal
from rich.markup import escape
from rich.prompt import Confirm

from forge_bot.cli.console import Console
from forge_bot.cli.session_setup import at_terminal
from forge_bot.errors import BadOption
from forge_bot.gate.github_names import server_of
from forge_bot.git import Repository
from forge_bot.github_api.issue import parse_remote
from forge_bot.runs.checks import CheckResult, CheckSubject, Occasion, run_checks
from forge_bot.runs.checks.github_checks import check_repository
from forge_bot.runs.models_and_prompts import TierModels
from forge_bot.runs.run_files import Leftover, leftovers, remove_leftover
from forge_bot.settings import load_config

_NOT_READY = 5
_MARKS = {"note": "[green]✓[/]", "warn": "[yellow]![/]", "refuse": "[red]✗[/]"}


def doctor(folder: Path, model: str | None, *, ask: bool) -> int:
    """Print the results of all checks; return 0 if a run could start, otherwise 5."""
    repository = Repository.find(folder)
    config = load_config(repository.root)
    subject = CheckSubject(
        repository, config, models=TierModels(config, model, None), model=model, ask_models=ask
    )
    report = run_checks(Occasion.DOCTOR, subject)
    _print(report.results)
    return _NOT_READY if report.refusals else 0


def doctor_of_github(name: str) -> int:
    """Print what the bot needs of a repository on GitHub (owner/name or its address), without a
    clone or a model's key; return 0 if nothing is left to do, otherwise 5.
    """
    address = name if "://" in name else f"{server_of(os.environ)}/{name}"
    place = parse_remote(address, os.environ)
    if place is None:
        raise BadOption(
            f"{name!r} names no repository on GitHub.",
            hint="forge-bot doctor --github OWNER/REPO",
        )
    results = tuple(check_repository(place, os.environ))
    _print(results)
    return 0 if all(result.weight == "note" for result in results) else _NOT_READY


def _print(results: Iterable[CheckResult]) -> None:
    console = Console()
    for result in results:
        code = f" [dim]{result.code}[/]" if result.code else ""
        line = f"[bold]{escape(result.what)}[/] [dim]{escape(result.sentence)}[/]{code}"
        console.print(f"{_MARKS[result.weight]} {line}")
        if result.way_out:
            console.print(f"    → {escape(result.way_out)}")


def clean(folder: Path, *, remove: bool) -> int:
    """List what runs left, and remove that of ended runs after a yes, with the branches that only
    have their records. The records stay.
    """
    repository = Repository.find(folder)
    console = Console()
    left_behind = leftovers(repository)
    if not left_behind:
        console.print("Runs have left nothing on this machine.")
        return 0
    for left in left_behind:
        stays = f"  [dim]stays: {escape(left.kept_because)}[/]" if left.kept_because else ""
        console.print(f"{decimal(left.size):>9}  {escape(left.run)}{stays}")
    removable = [left for left in left_behind if not left.kept_because]
    if not removable:
        console.print("Nothing of it can be removed now.")
        return 0
    total = decimal(sum(left.size for left in removable))
    if not _agreed(f"Remove {total} that {len(removable)} of these runs left?", agreed=remove):
        console.print("Nothing was removed; forge-bot clean --remove removes it.")
        return 0
    _remove(repository, removable, console)
    return 0


def _agreed(question: str, *, agreed: bool) -> bool:
    return agreed or (at_terminal() and Confirm.ask(question, default=False, console=Console()))


def _remove(repository: Repository, removable: list[Leftover], console: Console) -> None:
    for left in removable:
        if remove_leftover(repository, left):
            console.print(f"removed {decimal(left.size)} of {escape(left.run)}")
        else:
            console.print(f"{escape(left.run)} is at work; it stays")
