"""A repository made ready: `forge-bot init` writes the configuration, and on GitHub the
workflow; `doctor` shows the results of all checks, `graph verify` the broken rules; `clean` removes
what runs have left.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from rich.filesize import decimal
from rich.markup import escape
from rich.prompt import Confirm

from forge_bot.agent.models.known_providers import extra_of, key_name
from forge_bot.cli.console import Console
from forge_bot.cli.terminal_session import at_terminal
from forge_bot.errors import BadOption, registry
from forge_bot.forge import (
    WAKE_WORKFLOW,
    WORKFLOW,
    check_workflows,
    page_address,
    parse_remote,
    pinned,
    renew_workflow,
    schema_address,
    server_of,
    wake_workflow_text,
    workflow_text,
)
from forge_bot.forge.types import START
from forge_bot.git import Repository
from forge_bot.project.detected_commands import ProjectCommands
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import GraphFinding, newly_broken, verify
from forge_bot.runs.checks import CheckResult, CheckSubject, Occasion, run_checks
from forge_bot.runs.checks.local_checks import check_hosted
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.run_files import leftovers, remove_leftover
from forge_bot.sentences import listed, say
from forge_bot.settings.config import CONFIG, Config, load_config
from forge_bot.store.files import write_whole
from forge_bot.values import Tier

_KINDS = ("setup", "build", "test", "lint")
_HEAD = """\
# yaml-language-server: $schema={schema}
# What forge-bot may and should do in this repository. What is commented out is the default.
# All keys: {page}

# model: anthropic:claude-sonnet-5-5   # provider:model for everything
budget: 5   # US dollars that a run may cost before it stops and asks
# protected: []   # more paths that a model may change only with a person's approval
# environment: {{}}   # environment variables for the project's commands
"""


def init(folder: Path) -> int:
    """Write the missing files, and leave existing ones unchanged; the workflow where origin is on
    GitHub. Raises BadOption if there is nothing to do.
    """
    repository, console = Repository.find(folder), Console()
    wanted = {CONFIG: _configured}
    if parse_remote(repository.remote_url(), os.environ) is not None:
        wanted[WORKFLOW] = _workflow
        if load_config(repository.root).wakes.enabled:
            wanted[WAKE_WORKFLOW] = _wake_workflow
    missing = {
        name: write for name, write in wanted.items() if not (repository.root / name).exists()
    }
    if not missing:
        are = "is" if len(wanted) == 1 else "are"
        raise BadOption(
            f"{listed([*wanted])} {are} there already.",
            hint="Edit, or move away, and call forge-bot init again.",
        )
    for name, write in missing.items():
        write(repository, repository.root / name, console)
    return 0


def update_workflow(folder: Path) -> int:
    """Renew the workflow of the bot, and leave what a person changed. Raises BadOption if there is
    none.
    """
    repository = Repository.find(folder)
    target, console = repository.root / WORKFLOW, Console()
    if not target.is_file():
        raise BadOption(f"There is no {WORKFLOW} to renew.", hint="forge-bot init writes it.")
    action, _ = pinned(repository.tag_elsewhere)
    present = target.read_text(encoding="utf-8")
    renewed = renew_workflow(present, action, check_workflows(repository.root, WORKFLOW))
    if renewed != present:
        write_whole(target, renewed)
    wakes = repository.root / WAKE_WORKFLOW
    if wakes.is_file():
        write_whole(wakes, renew_workflow(wakes.read_text(encoding="utf-8"), action))
    state = "is up to date" if renewed == present else f"renewed: {action}"
    console.print(f"[green]✓[/] {WORKFLOW} {escape(state)}")
    return 0


def _configured(repository: Repository, target: Path, console: Console) -> None:
    profile = profile_at(repository, repository.head().commit, Config())
    write_whole(target, configuration(profile.commands))
    console.print(f"[green]✓[/] {CONFIG} written")
    for kind in _KINDS:
        for command in getattr(profile.commands, kind):
            console.print(
                f"  [dim]{kind}:[/] {escape(' '.join(command.argv))}"
                f" [dim]({escape(command.reason)})[/]"
            )
    if not profile.commands.test:
        console.print("  [yellow]![/] no test command was found: set commands.test there")


def _workflow(repository: Repository, target: Path, console: Console) -> None:
    model = load_config(repository.root).model_for(Tier.STRONG)
    key = key_name(model)
    action, fast = pinned(repository.tag_elsewhere)
    checks = check_workflows(repository.root, WORKFLOW)
    write_whole(target, workflow_text(action, key, checks, extra_of(model)))
    console.print(f"[green]✓[/] {WORKFLOW} written")
    if checks:
        named = escape(", ".join(checks))
        console.print(f"  [dim]a failure of these wakes it on its own pull requests:[/] {named}")
    if fast:
        console.print(f"  [dim]it uses the release[/] {escape(action)}")
    else:
        console.print(
            f"  [yellow]![/] {escape(action)} was not found: that release is not published, or "
            "GitHub cannot be reached. The workflow cannot run before; forge-bot init --update "
            "then puts its commit there"
        )
    console.print(
        f"  → commit and merge it, make the secret {key} and the label {START}; forge-bot doctor "
        "says what else is missing"
    )


def _wake_workflow(repository: Repository, target: Path, console: Console) -> None:
    write_whole(target, wake_workflow_text(pinned(repository.tag_elsewhere)[0]))
    console.print(
        f"[green]✓[/] {WAKE_WORKFLOW} written [dim](runs that wait go on by themselves)[/]"
    )


def configuration(commands: ProjectCommands) -> str:
    """Return the text of the file for a repository with these commands: what most people set."""
    lines = [_HEAD.format(schema=schema_address("config"), page=page_address("configuration"))]
    lines.append("# commands:   # found in this repository; an empty list means none, on purpose")
    for kind in _KINDS:
        chosen = getattr(commands, kind)
        lines += [f"#   # {command.reason}" for command in chosen]
        words = json.dumps([list(command.argv) for command in chosen], ensure_ascii=False)
        lines.append(f"#   {kind}: {words}")
    return "\n".join(lines) + "\n"


_NOT_READY = 5
_BROKEN = 2
_MARKS = {"note": "[green]✓[/]", "warn": "[yellow]![/]", "refuse": "[red]✗[/]"}


def doctor(folder: Path, model: str | None) -> int:
    """Print the results of all checks; return 0 if a run could start, otherwise 5."""
    repository = Repository.find(folder)
    config = load_config(repository.root)
    report = run_checks(Occasion.DOCTOR, CheckSubject(repository, config, model=model))
    _print(report.results)
    return _NOT_READY if report.refusals else 0


def doctor_of_hosted(name: str) -> int:
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
    results = tuple(check_hosted(place, os.environ))
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
    question = f"Remove {total} that {len(removable)} of these runs left?"
    if not (remove or (at_terminal() and Confirm.ask(question, default=False, console=console))):
        console.print("Nothing was removed; forge-bot clean --remove removes it.")
        return 0
    for left in removable:
        if remove_leftover(repository, left):
            console.print(f"removed {decimal(left.size)} of {escape(left.run)}")
        else:
            console.print(f"{escape(left.run)} is at work; it stays")
    return 0


def print_violations(folder: Path, base: str | None, *, as_json: bool) -> int:
    """Print the violations; return 2 if there are any, else 0."""
    reader = GraphReader(Repository.find(folder))
    now = reader.here()
    violations = verify(now) if base is None else newly_broken(now, reader.at(base))
    console, exit_code = Console(), _BROKEN if violations else 0
    if as_json:
        found = json.dumps([_violation_json(violation) for violation in violations], indent=2)
        console.print(found, markup=False)
        return exit_code
    for error in violations:
        place = f"{error.path}:{error.line}"
        console.print(
            f"[bold red]✗[/] {escape(place)} {escape(error.message)} [dim]{error.code}[/]"
        )
    for code in sorted({violation.code for violation in violations}):
        console.print(f"  [bold]→[/] {code}: {escape(say(registry()[code].hint))}")
    if not violations:
        new = " newly" if base is not None else ""
        console.print(f"[green]✓[/] Nothing is{new} broken: {len(now.files)} files.")
    return exit_code


def _violation_json(violation: GraphFinding) -> dict[str, object]:
    """Return a violation in the form of forge-bot's other errors."""
    return {
        "code": violation.code,
        "domain": violation.code.partition("-")[0],
        "message": violation.message,
        "node_id": violation.node,
        "dependency_ids": list(violation.dependency_ids),
        "check_class": registry()[violation.code].__name__,
        "path": violation.path,
        "line": violation.line,
    }
