"""The commands. Each parses its options and calls its module; heavy modules are imported when a
command needs them.

The help of the commands is in `templates/sentences`.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
from typer.main import get_command

from forge_bot import __version__
from forge_bot.cli.error_output import BY_HAND, USAGE, WRONG_USE, exit_code_of
from forge_bot.cli.options import (
    HERE,
    UNLISTED,
    CommandGroup,
    HostChoice,
    LongCommand,
    Model,
    Record,
    Repo,
    ResumeOptions,
    RunName,
    RunOptions,
    with_groups,
)
from forge_bot.cli.repository_commands import (
    capability_app,
    clean,
    demo,
    doctor,
    graph_app,
    hook,
    init,
    mcp,
    policy_app,
    publish,
    work,
    worker,
)
from forge_bot.gate.grammar import NAMED, RUN_COMMANDS, Form

app = typer.Typer(
    cls=CommandGroup,
    name="forge-bot",
    help="Take a task to a reviewed branch. A person is asked before it matters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_AROUND = "To prepare and to look around"
_TO_GO_ON = "To go on with a run"
_to_go_on = partial(app.command, rich_help_panel=_TO_GO_ON)
_to_prepare = partial(app.command, rich_help_panel=_AROUND)
_for_programs = partial(app.command, rich_help_panel="For programs")
_where_it_is_asked = partial(app.command, rich_help_panel=UNLISTED)

app.add_typer(graph_app, name="graph", rich_help_panel=_AROUND)
app.add_typer(policy_app, name="policy", rich_help_panel=_AROUND)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"forge-bot {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    _ = version


@app.command(
    "run", cls=LongCommand, help="Take a task to a reviewed branch, asking you on the way."
)
@with_groups
def run_task(
    task: Annotated[
        list[str], typer.Argument(help="Words, the URL of an issue, or .specs/RUN to go on with.")
    ],
    options: RunOptions,
) -> int:
    from forge_bot.cli.start_run import start_run

    return start_run(" ".join(task), options)


def _give(name: str, form: Form) -> Callable[..., int]:
    """Return the command that gives a run what its name says."""

    def give(options: ResumeOptions) -> int:
        from forge_bot.cli.resume import give_command

        return give_command(options, name)

    # An argument in brackets may be left out. A shell takes $5 for a variable.
    default: Any = None if form.takes.startswith("[") else ...
    taken = typer.Argument(metavar="WORDS", help=form.takes.replace("$", ""))

    def give_words(
        options: ResumeOptions, words: Annotated[list[str] | None, taken] = default
    ) -> int:
        from forge_bot.cli.resume import give_command

        return give_command(options, name, " ".join(words or ()))

    return with_groups(give_words if form.takes else give)


_PARTS = {"approve": None, "reject": None, "done": UNLISTED, "skip": UNLISTED}
"""The part of the first page with a command; the others are in `_TO_GO_ON`."""

for _name in (name for name in RUN_COMMANDS if name in NAMED and name != "retry"):
    app.command(
        _name,
        help=NAMED[_name].meaning,
        rich_help_panel=_PARTS.get(_name, _TO_GO_ON),
    )(_give(_name, NAMED[_name]))


@app.command(
    help="Ask the model about what is shown; nothing changes, and no later phase hears it."
)
def ask(
    question: Annotated[list[str], typer.Argument(help="What you want to know.")],
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
) -> int:
    from forge_bot.cli.resume import ask as go

    return go(repo, run, model, record, question=" ".join(question))


@_to_go_on(help="Continue a run that stopped.")
@with_groups
def resume(options: ResumeOptions, host: HostChoice) -> int:
    from forge_bot.cli.resume import resume as go

    return go(options, host)


@_to_go_on(help="Do a phase again, and everything after it.")
@with_groups
def retry(
    options: ResumeOptions,
    phase: Annotated[
        str | None, typer.Argument(help="Such as phase-3 or design; by default the current one.")
    ] = None,
    notes: Annotated[str, typer.Option(help="What should be different this time.")] = "",
) -> int:
    from forge_bot.cli.resume import retry as go

    return go(options, phase, notes)


@app.command(help="Show where a run stands.")
def status(
    repo: Repo = HERE,
    run: RunName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print state.json.")] = False,
) -> int:
    from forge_bot.cli.show_runs import show_status as look

    return look(repo, run, as_json=as_json)


@_to_go_on(help="Check the evidence of a pull request; it ends with 2 if not all of it holds.")
def verify(
    wanted: Annotated[
        str, typer.Argument(metavar="PR", help="Number or address of it, or the name of a run.")
    ],
    repo: Repo = HERE,
) -> int:
    from forge_bot.cli.pull_request_commands import verify as check

    return check(repo, wanted)


@app.command(help="Print an artifact of a run.")
def show(
    artifact: Annotated[
        str, typer.Argument(show_default=False, help="Such as design.md; all are listed without.")
    ] = "",
    repo: Repo = HERE,
    run: RunName = None,
) -> int:
    from forge_bot.cli.show_runs import show_artifact as look

    return look(repo, run, artifact)


@app.command("list", help="List the runs of the repository.")
def list_(repo: Repo = HERE) -> int:
    from forge_bot.cli.show_runs import list_runs as look

    return look(repo)


@_to_prepare(help="Show what became of the runs and their pull requests, and what they took.")
def stats(
    repo: Repo = HERE,
    days: Annotated[int, typer.Option(min=0, help="Days in which touched lines count.")] = 14,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    from forge_bot.cli.pull_request_commands import show_statistics as look

    return look(repo, days, markdown=markdown, as_json=as_json)


_to_prepare(help="List what runs have left here, with sizes, and remove what ended runs left.")(
    clean
)
app.command(help="Write .forge/config.yml and, on GitHub, the workflow, where they are missing.")(
    init
)
_to_prepare(help="Check whether a run could start here, and say what is missing.")(doctor)
app.add_typer(capability_app, name="capabilities", rich_help_panel=_AROUND)
app.command(hidden=True, help="Continue a run in GitHub Actions (reads FORGE_BOT_WAKE).")(work)
app.command(hidden=True, help="Run the job that holds the token and no model.")(publish)
_where_it_is_asked(help="Work on the runs that a Temporal server leads, until stopped.")(worker)
_for_programs(help="Serve the pipeline to an MCP client, which does the agents' work itself.")(mcp)
app.command(hidden=True, help="Answer a hook of an MCP host; what it asks comes over stdin.")(hook)
_to_prepare(help="Watch a recorded run: real git, real tests, recorded words.")(demo)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    # Where the locale is not UTF-8, Python has bytes of a word as halves of surrogate pairs.
    given = [
        os.fsencode(word).decode("utf-8", "replace")
        for word in (sys.argv[1:] if arguments is None else arguments)
    ]

    def called() -> object:
        try:
            return get_command(app)(args=given, prog_name="forge-bot", standalone_mode=False)
        except typer.Abort:
            return BY_HAND

    # For `graph` 2 says that rules are broken (sysexits.h calls 64 wrong usage).
    return exit_code_of(called, wrong_use=WRONG_USE if given[:1] == ["graph"] else USAGE)
