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
from typer.core import TyperGroup

from forge_bot.cli.shell_completion import complete_runs, phase_names, phases_to_repeat
from forge_bot.cli.standard_streams import typed
from forge_bot.sentences import say

_ANY_LENGTH = 10_000


class CommandGroup(TyperGroup):
    """A group whose help lists each command with a whole sentence. typer cuts it at the width."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands. The formatter wraps long sentences."""
        known = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section(say("help.program.commands")):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(_ANY_LENGTH))
                    for name, command in known
                    if command is not None and not command.hidden
                ]
            )


def words(value: str | None) -> str | None:
    """Return a word of the command line as text."""
    return value if value is None else typed(value)


def every_word(values: list[str]) -> list[str]:
    """Return the words of the command line as text."""
    return [typed(value) for value in values]


Repo = Annotated[
    Path,
    typer.Option(
        "--repo", help=say("help.options.repo"), show_default=say("help.options.this_folder")
    ),
]
RunName = Annotated[
    str | None,
    typer.Option(
        "--run", callback=words, help=say("help.options.run"), autocompletion=complete_runs
    ),
]
Model = Annotated[str | None, typer.Option(help=say("help.options.model"), metavar="NAME")]
Record = Annotated[Path | None, typer.Option(help=say("help.options.record"), metavar="FILE")]
Push = Annotated[bool, typer.Option("--push", help=say("help.options.push"))]
Keep = Annotated[bool, typer.Option("--keep", help=say("help.options.keep"))]
OpenPr = Annotated[bool, typer.Option("--open-pr", help=say("help.options.open_pr"))]
Until = Annotated[
    str | None,
    typer.Option(
        "--until", help=say("help.options.until"), metavar="PHASE", autocompletion=phase_names
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", help=say("help.options.from"), metavar="PHASE", autocompletion=phases_to_repeat
    ),
]
ByScript = Annotated[bool, typer.Option("--by-script", help=say("help.options.by_script"))]

McpConfig = Annotated[
    Path | None, typer.Option("--mcp-config", help=say("help.options.mcp_config"), metavar="FILE")
]
SkillsDir = Annotated[
    list[Path] | None,
    typer.Option("--skills-dir", help=say("help.options.skills_dir"), metavar="DIR"),
]

On = Annotated[
    Literal["local", "temporal"] | None, typer.Option("--on", help=say("help.options.on"))
]
Dev = Annotated[bool, typer.Option("--dev", help=say("help.options.dev"))]
Address = Annotated[str | None, typer.Option(help=say("help.options.address"), metavar="HOST:PORT")]
Namespace = Annotated[str | None, typer.Option(help=say("help.options.namespace"), metavar="NAME")]


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
class SkillOptions:
    """The options of a skill that is performed by hand."""

    model: Model = None
    budget: Annotated[
        str | None,
        typer.Option(
            help=say("help.capabilities.budget"),
            metavar="AMOUNT",
            callback=words,
            show_default=say("help.capabilities.budget_default"),
        ),
    ] = None


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
    effort: Annotated[str | None, typer.Option(help=say("help.run.effort"), metavar="S|M|L")] = None
    auto: Annotated[bool, typer.Option("--auto", help=say("help.run.auto"))] = False
    skip_pr: Annotated[bool, typer.Option("--nopr", help=say("help.run.nopr"))] = False
    debug: Annotated[bool, typer.Option("--debug", help=say("help.run.debug"))] = False
    discuss: Annotated[bool, typer.Option("--discuss", help=say("help.run.discuss"))] = False
    batch: Annotated[bool, typer.Option("--batch", help=say("help.run.batch"))] = False
    answers: Annotated[
        list[str] | None, typer.Option("--answer", help=say("help.run.answer"), metavar="TEXT")
    ] = None
    model: Model = None
    budget: Annotated[
        str | None, typer.Option(help=say("help.run.budget"), metavar="AMOUNT", callback=words)
    ] = None
    branch: Annotated[
        str | None, typer.Option(help=say("help.run.branch"), metavar="NAME", callback=words)
    ] = None
    here: Annotated[bool, typer.Option("--here", help=say("help.run.here"))] = False
    pipeline: Annotated[
        str | None, typer.Option(help=say("help.run.pipeline"), metavar="NAME", callback=words)
    ] = None
    record: Record = None
    ending: Ending = Ending()
    until: Until = None
    phase: From = None
    scope: Annotated[
        str | None, typer.Option("--in", help=say("help.run.in"), metavar="FOLDER", callback=words)
    ] = None
    by_script: ByScript = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help=say("help.run.yes"))] = False
    capabilities: CapabilityChoice = CapabilityChoice()
    host: HostChoice = HostChoice()


def with_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command an option for each field of the groups that are its parameters."""
    parameters = signature(command).parameters.values()
    groups = {each.name: each.annotation for each in parameters if is_dataclass(each.annotation)}

    @wraps(command)
    def called(**given: object) -> int:
        for name, group in groups.items():
            given[name] = _filled(group, given)
        return command(**given)

    options = [
        option
        for each in parameters
        for option in (_options(each.annotation) if each.name in groups else (each,))
    ]
    # The option parser reads it in place of the parameters that are in the code.
    called.__dict__["__signature__"] = signature(command).replace(
        parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in options]
    )
    return called


def _options(group: Any) -> Iterator[Parameter]:
    """Yield an option for each field of a group, and of the groups in it."""
    hints = get_type_hints(group, include_extras=True)
    for each in fields(group):
        if is_dataclass(hints[each.name]):
            yield from _options(hints[each.name])
        else:
            yield Parameter(
                each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]
            )


def _filled(group: Any, given: dict[str, Any]) -> Any:
    """Take the values of a group from the parsed options."""
    hints = get_type_hints(group)
    return group(
        **{
            each.name: _filled(hints[each.name], given)
            if is_dataclass(hints[each.name])
            else given.pop(each.name)
            for each in fields(group)
        }
    )
