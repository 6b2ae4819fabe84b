"""`forge-bot init`: a commented .forge/config.yml with the commands that were found, and on GitHub
the workflow and its labels.
"""

import json
import os
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.errors import BadOption, ForgeError
from forge_bot.git import Repository
from forge_bot.github_api.pygithub import GitHub
from forge_bot.github_api.remote_address import RepositoryAddress, parse_remote
from forge_bot.project.detected_commands import ProjectCommands
from forge_bot.runs.ci_workflows import check_workflows
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.workflow_file import (
    LABELS,
    WORKFLOW,
    extra_of,
    key_name,
    pinned,
    schema_address,
    workflow_text,
)
from forge_bot.sentences import listed, say
from forge_bot.settings import Config, load_config
from forge_bot.settings.config import CONFIG, DEFAULT_MODEL
from forge_bot.store import write_whole
from forge_bot.values import Tier

_KINDS = ("setup", "build", "test", "lint", "format")
_HEAD = """\
# yaml-language-server: $schema={schema}
# What forge-bot may and should do in this repository. Every key is optional: what is commented out
# is the default. A line is switched on by taking its first two characters away.
"""
_STARTING = {"budget": "5", "records": "separate"}
"""Keys that are written switched on."""


def init(folder: Path, *, workflow: bool | None, labels: bool, baseline: bool) -> int:
    """Write the missing files, and leave existing ones unchanged.

    With `labels` the labels are made on GitHub; with `baseline` the project's commands run before
    any change, and their results are shown. `workflow` None means: write it if origin is on GitHub.
    Raises BadOption if there is nothing to do.
    """
    repository = Repository.find(folder)
    place = parse_remote(repository.remote_url(), os.environ)
    console = Console()
    wanted = (
        {CONFIG: _configured, WORKFLOW: _workflow}
        if (workflow is None and place is not None) or workflow
        else {CONFIG: _configured}
    )
    missing = {
        name: write for name, write in wanted.items() if not (repository.root / name).exists()
    }
    if not missing and not labels:
        raise BadOption(
            (
                f"{listed([*wanted])} is there already."
                if len(wanted) == 1
                else f"{listed([*wanted])} are there already."
            ),
            hint="Edit, or move away, and call forge-bot init again.",
        )
    for name, write in missing.items():
        write(repository, repository.root / name, console)
    if labels:
        _make_labels(place, console)
    elif WORKFLOW in missing:
        names = ", ".join(label.name for label in LABELS)
        console.print(
            f"  → labels it listens to: {names}; GITHUB_TOKEN=… forge-bot init --labels makes them"
        )
    if baseline and CONFIG in missing:
        _baseline(repository, console)
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


def _baseline(repository: Repository, console: Console) -> None:
    """Run the project's commands at the checked-out commit; failures do not stop this command."""
    config = load_config(repository.root)
    profile = profile_at(repository, repository.head().commit, config)
    if not any(getattr(profile.commands, kind) for kind in _KINDS):
        return
    # It takes the modules of a run.
    from forge_bot.cli.progress import Progress
    from forge_bot.runs.project_commands.baseline_trial import try_baseline

    console.print("[dim]the baseline, which every run begins with:[/]")
    progress = Progress(console)
    try:
        found = try_baseline(repository, config, profile, progress)
    except ForgeError as error:
        found = (error.message,)
    finally:
        progress.stop()
    for sentence in found:
        console.print(f"  [yellow]![/] {escape(sentence)}")
    if found:
        console.print("  → a run asks about it before any model is asked")


def _workflow(repository: Repository, target: Path, console: Console) -> None:
    model = load_config(repository.root).model_for(Tier.STRONG)
    key = key_name(model)
    action, fast = pinned(repository)
    checks = check_workflows(repository, WORKFLOW)
    write_whole(target, workflow_text(action, key, checks, extra_of(model)))
    console.print(f"[green]✓[/] {WORKFLOW} written")
    if checks:
        named = escape(", ".join(checks))
        console.print(f"  [dim]a failure of these wakes it on its own pull requests:[/] {named}")
    if not fast:
        console.print(
            f"  [yellow]![/] {escape(action)} is a tag, and tags can be moved: put the "
            "commit of the release there"
        )
    console.print(
        f"  → commit and merge it, and make the secret {key}; forge-bot doctor says what "
        "else is missing"
    )


def _make_labels(place: RepositoryAddress | None, console: Console) -> None:
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    if place is None or not token:
        lacking = "origin is not on GitHub" if place is None else "there is no token"
        hint = (
            "Set GITHUB_TOKEN, for example GITHUB_TOKEN=$(gh auth token), in a clone from GitHub."
        )
        raise BadOption(f"Labels cannot be made: {lacking}.", hint=hint)
    with GitHub(place.name, token, place.api, patience=0) as github:
        for label in LABELS:
            made = github.create_label(label.name, label.color, say(label.meaning))
            console.print(
                f"[green]✓[/] label {escape(label.name)} {'made' if made else '[dim]is there[/]'}"
            )


def configuration(commands: ProjectCommands) -> str:
    """The text of the file for a repository with these commands."""
    parts = [
        _HEAD.format(schema=schema_address("config")),
        *(_key(name, field) for name, field in Config.model_fields.items() if name != "commands"),
    ]
    return "\n".join((*parts, _commands(commands)))


def _key(name: str, field: FieldInfo, indent: str = "") -> str:
    default: object = field.get_default(call_default_factory=True)
    if isinstance(default, BaseModel):
        inner = (_key(each, its, "  ") for each, its in type(default).model_fields.items())
        return "\n".join((f"# {indent}{name}:", *inner))
    said = f"   # {field.description}" if field.description else ""
    if not indent and name in _STARTING:
        return f"{name}: {_STARTING[name]}{said}"
    return f"# {indent}{name}: {_yaml(name, default)}{said}"


def _yaml(name: str, value: object) -> str:
    if name == "model":
        return DEFAULT_MODEL
    if isinstance(value, tuple):
        return "[]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _commands(commands: ProjectCommands) -> str:
    lines = ["# commands:   # found in this repository; an empty list means none, on purpose"]
    for kind in _KINDS:
        found = getattr(commands, kind)
        lines += [f"#   # {command.reason}" for command in found]
        lines.append(
            f"#   {kind}:"
            f" {json.dumps([list(command.argv) for command in found], ensure_ascii=False)}"
        )
    return "\n".join(lines) + "\n"
