"""`forge-bot init`: a commented .forge/config.yml, with every key, its default, and the commands that were found."""

import json
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rich.markup import escape

from forge_bot.checkout import Repository
from forge_bot.cli.console import Console
from forge_bot.errors import BadOption
from forge_bot.knowledge import Commands
from forge_bot.runs.project import profile_at
from forge_bot.settings import Config
from forge_bot.settings.config import CONFIG, DEFAULT_MODEL
from forge_bot.workspace import write_whole

_KINDS = ("setup", "build", "test", "lint")
_HEAD = """\
# What forge-bot may and should do in this repository. Every key is optional: what is commented out is the default.
# A line is switched on by taking its first two characters away.
"""


def init(folder: Path) -> int:
    """Write the file; an existing one is left alone."""
    repository = Repository.find(folder)
    target = repository.root / CONFIG
    if target.exists():
        raise BadOption(f"{CONFIG} is there already.", hint="Edit it, or move it away and call forge-bot init again.")
    profile = profile_at(repository, repository.head().commit, Config())
    write_whole(target, configuration(profile.commands))
    console = Console(soft_wrap=True)
    console.print(f"[green]✓[/] {CONFIG} written", highlight=False)
    for kind in _KINDS:
        for command in getattr(profile.commands, kind):
            console.print(f"  [dim]{kind}:[/] {escape(' '.join(command.argv))} [dim]({escape(command.reason)})[/]", highlight=False)
    if not profile.commands.test:
        console.print("  [yellow]![/] no test command was found: set commands.test there", highlight=False)
    return 0


def configuration(commands: Commands) -> str:
    """The text of the file for a repository with these commands."""
    parts = [_HEAD, *(_key(name, field) for name, field in Config.model_fields.items() if name != "commands")]
    return "\n".join((*parts, _commands(commands)))


def _key(name: str, field: FieldInfo, indent: str = "") -> str:
    default: object = field.get_default(call_default_factory=True)
    if isinstance(default, BaseModel):
        inner = (_key(each, its, "  ") for each, its in type(default).model_fields.items())
        return "\n".join((f"# {indent}{name}:", *inner))
    said = f"   # {field.description}" if field.description else ""
    return f"# {indent}{name}: {_yaml(name, default)}{said}"


def _yaml(name: str, value: object) -> str:
    if name == "model":
        return DEFAULT_MODEL
    if isinstance(value, tuple):
        return "[]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _commands(commands: Commands) -> str:
    lines = ["# commands:   # found in this repository; an empty list means none, on purpose"]
    for kind in _KINDS:
        found = getattr(commands, kind)
        lines += [f"#   # {command.reason}" for command in found]
        lines.append(f"#   {kind}: {json.dumps([list(command.argv) for command in found], ensure_ascii=False)}")
    return "\n".join(lines) + "\n"
