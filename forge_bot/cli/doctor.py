"""`forge-bot doctor`: the checkup, told with the next step for everything that is not good."""

import os
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.cli.session_setup import load_setup, models_for
from forge_bot.git import Repository
from forge_bot.github_api import place_of
from forge_bot.runs.checks.doctor_checks import check_readiness
from forge_bot.runs.checks.github_checks import check_github_readiness
from forge_bot.runs.ci_workflows import check_workflows
from forge_bot.runs.workflow_file import WORKFLOW
from forge_bot.values import Tier

_MARKS = {"good": "[green]✓[/]", "poor": "[yellow]![/]", "bad": "[red]✗[/]"}
_REFUSED = 5


def doctor(folder: Path, model: str | None, *, ask: bool) -> int:
    """Tell what was found; 0 if a run could start, 5 if something stands in its way."""
    repository = Repository.find(folder)
    config = load_setup(repository)
    console = Console(soft_wrap=True)
    checks = check_readiness(repository, config, models_for(config, model, None), ask=ask)
    place = place_of(repository.remote_url(), os.environ)
    if place is not None:
        checks += check_github_readiness(place, os.environ, model or config.model_for(Tier.STRONG), check_workflows(repository, WORKFLOW))
    for check in checks:
        console.print(f"{_MARKS[check.state]} [bold]{escape(check.what)}[/] [dim]{escape(check.found)}[/]", highlight=False)
        if check.next_step:
            console.print(f"    → {escape(check.next_step)}", highlight=False)
    return _REFUSED if any(check.state == "bad" for check in checks) else 0
