"""`forge-bot doctor`: the results of all checks, with the next step for each problem."""

from pathlib import Path

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.git import Repository
from forge_bot.runs.checks import CheckSubject, Occasion, run_checks
from forge_bot.runs.tier_models import TierModels
from forge_bot.settings import load_config

_MARKS = {"note": "[green]✓[/]", "warn": "[yellow]![/]", "refuse": "[red]✗[/]"}
_REFUSED = 5


def doctor(folder: Path, model: str | None, *, ask: bool) -> int:
    """Print the results of all checks; return 0 if a run could start, otherwise 5."""
    repository = Repository.find(folder)
    config = load_config(repository.root)
    subject = CheckSubject(
        repository, config, models=TierModels(config, model, None), model=model, ask_models=ask
    )
    console = Console()
    report = run_checks(Occasion.DOCTOR, subject)
    for result in report.results:
        code = f" [dim]{result.code}[/]" if result.code else ""
        line = f"[bold]{escape(result.what)}[/] [dim]{escape(result.sentence)}[/]{code}"
        console.print(f"{_MARKS[result.weight]} {line}")
        if result.way_out:
            console.print(f"    → {escape(result.way_out)}")
    return _REFUSED if report.refusals else 0
