"""The options that several commands take, and groups of them.

A command that takes a group as a parameter gets each field of it as an option of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

_ANY_LENGTH = 10_000


UNLISTED = "Not on the first page"
"""The part of commands that a question, or the page about Temporal, names where they count."""

_MOST_USED = {"effort", "auto", "model", "budget", "branch", "push", "open_pr", "yes", "help"}


class CommandGroup(TyperGroup):
    """A group whose help lists each command with a whole sentence, in the parts that the commands
    name. typer cuts sentences at the width.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of commands. The formatter wraps long sentences."""
        parts: dict[str, list[Any]] = {"Commands": []}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                part = parts.setdefault(command.rich_help_panel or "Commands", [])
                part.append((name, command.get_short_help_str(_ANY_LENGTH)))
        parts.pop(UNLISTED, None)
        _write_parts(formatter, parts)


class LongCommand(TyperCommand):
    """A command with so many options that its help begins with those that people use most."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        parts: dict[str, list[Any]] = {"Arguments": [], "Options": [], "More options": []}
        for parameter in self.get_params(ctx):
            most_used = "Options" if parameter.name in _MOST_USED else "More options"
            part = "Arguments" if isinstance(parameter, TyperArgument) else most_used
            parts[part].append(parameter.get_help_record(ctx))
        _write_parts(formatter, parts)


def _write_parts(formatter: Any, parts: dict[str, list[Any]]) -> None:
    for part, rows in parts.items():
        with formatter.section(part):
            formatter.write_dl(rows)


Repo = Annotated[
    Path,
    typer.Option("--repo", help="Any folder inside the repository.", show_default="this folder"),
]
RunName = Annotated[
    str | None,
    typer.Option("--run", help="Name or branch of the run, if there is more than one."),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="provider:model, scripted:FILE or replay:FILE."),
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Append what the model says to this file, for replay."),
]
Push = Annotated[bool, typer.Option("--push", help="Push the run's branch and the one for merge.")]
Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the run's work tree when the run is done.")
]
OpenPr = Annotated[bool, typer.Option("--open-pr", help="Push, and open the pull request with gh.")]
Until = Annotated[
    str | None,
    typer.Option(metavar="PHASE", help="Stop (exit code 3) after this phase, such as design."),
]
ByScript = Annotated[
    bool, typer.Option("--by-script", help="Answer from a script; the record says so.")
]

McpConfig = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File of MCP servers; forge-mcp.json if left out."),
]
SkillsDir = Annotated[
    list[Path] | None,
    typer.Option(metavar="DIR", help="Folder of skills; may be given several times."),
]

On = Annotated[
    Literal["local", "temporal"] | None,
    typer.Option(help="Host of the run; by default the one that has it."),
]
Dev = Annotated[bool, typer.Option("--dev", help="With --on temporal: a development server here.")]
Address = Annotated[
    str | None,
    typer.Option(help="Temporal server; TEMPORAL_ADDRESS if left out.", metavar="HOST:PORT"),
]
Namespace = Annotated[
    str | None,
    typer.Option(help="Namespace there; TEMPORAL_NAMESPACE if left out.", metavar="NAME"),
]


HERE = Path()


@dataclass(frozen=True)
class Ending:
    """The options for what happens to the result of a run."""

    push: Push = False
    keep: Keep = False
    open_pr: OpenPr = False


@dataclass(frozen=True)
class ServerChoice:
    """The options for which Temporal server is meant."""

    address: Address = None
    namespace: Namespace = None


@dataclass(frozen=True)
class HostChoice:
    """The options for where a run is led from."""

    on: On = None
    dev: Dev = False
    server: ServerChoice = ServerChoice()


@dataclass(frozen=True)
class CapabilityChoice:
    """The options for where tools and skills come from."""

    mcp_config: McpConfig = None
    skills_dir: SkillsDir = None


@dataclass(frozen=True)
class ResumeOptions:
    """The options of every command that continues a run."""

    repo: Repo = HERE
    run: RunName = None
    model: Model = None
    record: Record = None
    ending: Ending = Ending()
    until: Until = None
    by_script: ByScript = False


@dataclass(frozen=True)
class RunOptions:
    """The options of `run`."""

    repo: Repo = HERE
    effort: Annotated[
        str | None,
        typer.Option(metavar="S|M|L", help="Guessed from the request if left out."),
    ] = None
    auto: Annotated[
        bool, typer.Option("--auto", help="Pass checkpoints that are approved and not risky.")
    ] = False
    skip_pr: Annotated[bool, typer.Option("--nopr", help="Prepare no pull request.")] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Add a debug report, and tracebacks to errors.")
    ] = False
    discuss: Annotated[
        bool, typer.Option("--discuss", help="Answer three questions about the request first.")
    ] = False
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask in batches: within a day, at half the price.")
    ] = False
    model: Model = None
    budget: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="US dollars it may cost, or tokens: 200000tokens."),
    ] = None
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the branch for merge.")
    ] = None
    here: Annotated[
        bool, typer.Option("--here", help="Put accepted work on the branch that is checked out.")
    ] = False
    pipeline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Such as audit or scaffold; else the configured one."),
    ] = None
    record: Record = None
    ending: Ending = Ending()
    until: Until = None
    scope: Annotated[
        str | None,
        typer.Option("--in", metavar="FOLDER", help="Folder that the change stays in."),
    ] = None
    by_script: ByScript = False
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask about effort, branch and slug.")
    ] = False
    capabilities: CapabilityChoice = CapabilityChoice()
    host: HostChoice = HostChoice()


def with_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command an option for each field of the groups that are its parameters."""
    parameters = signature(command).parameters.values()
    groups = {
        parameter.name: parameter.annotation
        for parameter in parameters
        if is_dataclass(parameter.annotation)
    }

    @wraps(command)
    def called(**given: object) -> int:
        for name, group in groups.items():
            given[name] = _fill_group(group, given)
        return command(**given)

    options = [
        option
        for parameter in parameters
        for option in (
            _list_options(parameter.annotation) if parameter.name in groups else (parameter,)
        )
    ]
    # The option parser reads it in place of the parameters that are in the code.
    called.__dict__["__signature__"] = signature(command).replace(
        parameters=[option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]
    )
    return called


def _list_options(group: Any) -> Iterator[Parameter]:
    """Yield an option for each field of a group, and of the groups in it."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        if is_dataclass(hints[field.name]):
            yield from _list_options(hints[field.name])
        else:
            yield Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )


def _fill_group(group: Any, given: dict[str, Any]) -> Any:
    """Take the values of a group from the parsed options."""
    hints = get_type_hints(group)
    return group(
        **{
            field.name: _fill_group(hints[field.name], given)
            if is_dataclass(hints[field.name])
            else given.pop(field.name)
            for field in fields(group)
        }
    )
