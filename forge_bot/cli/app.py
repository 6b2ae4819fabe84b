"""The commands. Each parses its options and hands over; what is heavy is imported when a command
needs it.
"""

import sys
from copy import copy
from pathlib import Path
from typing import Annotated

import typer

from forge_bot import __version__
from forge_bot.cli.capability_commands import capability_app
from forge_bot.cli.exit_code import BY_HAND, WRONG_USE, exit_code_of
from forge_bot.cli.graph_commands import graph_app
from forge_bot.cli.machine_commands import hook, mcp, publish, work, worker
from forge_bot.cli.options import (
    HERE,
    ByScript,
    From,
    HostChoice,
    Model,
    Record,
    Repo,
    ResumeOptions,
    RunName,
    RunOptions,
    every_word,
    with_groups,
    words,
)
from forge_bot.cli.shell_completion import documents, phases_to_repeat, run_folders

app = typer.Typer(
    name="forge-bot",
    help="From a task to a reviewed branch. A person is asked before it matters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(graph_app, name="graph")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"forge-bot {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    _ = version


@app.command("run")
@with_groups
def run_task(
    task: Annotated[
        str,
        typer.Argument(
            callback=words,
            help=(
                "What is to be done, in words; or the URL of an issue; or .specs/RUN to go on with"
                " a run."
            ),
            autocompletion=run_folders,
        ),
    ],
    options: RunOptions,
) -> int:
    """Take a task to a reviewed branch, stopping for you at the checkpoints."""
    from forge_bot.cli.model_key import require_key

    require_key(task, options)
    from forge_bot.cli.start_run import start_run

    return start_run(task, options)


@app.command()
@with_groups
def approve(
    options: ResumeOptions,
    digest: Annotated[
        str | None, typer.Argument(help="Version you read, as shown; left out, the one shown last.")
    ] = None,
) -> int:
    """Approve the open checkpoint and continue."""
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "approve", digest=digest)


@app.command()
@app.command("revise", hidden=True, help="Another spelling of reject.")
@with_groups
def reject(
    notes: Annotated[
        list[str], typer.Argument(help="What should be different.", callback=every_word)
    ],
    options: ResumeOptions,
) -> int:
    """Reject what was shown, with notes, and continue."""
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "reject", notes=" ".join(notes))


@app.command()
def ask(
    question: Annotated[
        str,
        typer.Argument(
            callback=words, help="What you want to know about what waits, or about the run so far."
        ),
    ],
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
) -> int:
    """Ask the model about what is shown; nothing changes. What is said here reaches no later phase:
    repeat in the notes of reject what it should know.
    """
    from forge_bot.cli.resume import ask as go

    return go(repo, run, model, record, question=question)


@app.command()
def abandon(repo: Repo = HERE, run: RunName = None, by_script: ByScript = False) -> int:
    """End a run. Its branch stays."""
    from forge_bot.cli.resume import give_answer

    return give_answer(ResumeOptions(repo, run, by_script=by_script), "abandon")


@app.command()
@with_groups
def done(options: ResumeOptions) -> int:
    """Mark a manual task as done and continue."""
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "done")


@app.command()
@with_groups
def skip(options: ResumeOptions) -> int:
    """Skip a manual task and continue."""
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "skip")


@app.command()
@with_groups
def resume(options: ResumeOptions, host: HostChoice, phase: From = None) -> int:
    """Continue a run that stopped."""
    from forge_bot.cli.resume import resume as go

    return go(options, phase, host)


@app.command()
@with_groups
def retry(
    options: ResumeOptions,
    phase: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Phase to go back to, by id or name, such as phase-3 or design; left out, the"
                " current one."
            ),
            autocompletion=phases_to_repeat,
        ),
    ] = None,
    notes: Annotated[
        str, typer.Option(help="What should be different this time.", callback=words)
    ] = "",
) -> int:
    """Do a phase again, and everything after it."""
    from forge_bot.cli.resume import retry as go

    return go(options, phase, notes=notes)


@app.command()
@with_groups
def update(options: ResumeOptions) -> int:
    """Merge what came to the base branch into a run, and verify it again."""
    from forge_bot.cli.resume import update_run as go

    return go(options)


@app.command()
def repair(repo: Repo = HERE, run: RunName = None) -> int:
    """Restore a run's record that cannot be read from the newest commit that has a readable one,
    and say what is lost.
    """
    from forge_bot.cli.resume import repair as go

    return go(repo, run)


@app.command("continue")
@with_groups
def continue_(
    amount: Annotated[
        list[str],
        typer.Argument(
            help="US dollars more, such as +$5, or tokens: 20000 tokens.", callback=every_word
        ),
    ],
    options: ResumeOptions,
) -> int:
    """Allow a run more money or tokens, and continue."""
    from forge_bot.cli.resume import raise_budget as go

    return go(options, " ".join(amount))


@app.command()
def status(
    repo: Repo = HERE,
    run: RunName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print state.json.")] = False,
) -> int:
    """Show where a run stands."""
    from forge_bot.cli.show_runs import status as look

    return look(repo, run, as_json=as_json)


@app.command()
def show(
    artifact: Annotated[
        str,
        typer.Argument(help="Name of an artifact, such as design.md.", autocompletion=documents),
    ],
    repo: Repo = HERE,
    run: RunName = None,
) -> int:
    """Print an artifact of a run."""
    from forge_bot.cli.show_runs import show as look

    return look(repo, run, artifact)


@app.command("list")
def list_(repo: Repo = HERE) -> int:
    """List the runs of the repository."""
    from forge_bot.cli.show_runs import list_runs as look

    return look(repo)


@app.command()
def clean(
    repo: Repo = HERE,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what ended runs left, without asking.")
    ] = False,
) -> int:
    """List what runs have left on this machine, with sizes, and remove what ended runs left."""
    from forge_bot.cli.clean import clean as go

    return go(repo, remove=remove)


@app.command()
def init(
    repo: Repo = HERE,
    workflow: Annotated[
        bool | None,
        typer.Option(
            "--workflow/--no-workflow",
            help="Write .github/workflows/forge-bot.yml too; left out, where origin is on GitHub.",
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Make the labels on GitHub; needs GITHUB_TOKEN.")
    ] = False,
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline/--no-baseline",
            help="Run the project's commands once, as a run does before its work.",
        ),
    ] = True,
) -> int:
    """Write what is missing of a commented .forge/config.yml and, on GitHub, the workflow for the
    bot.
    """
    from forge_bot.cli.init_command import init as write

    return write(repo, workflow=workflow, labels=labels, baseline=baseline)


@app.command()
def doctor(
    repo: Repo = HERE,
    model: Model = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask each model one short question; costs a few tokens.")
    ] = False,
) -> int:
    """Check whether a run could start here, and say what is missing."""
    from forge_bot.cli.doctor import doctor as look

    return look(repo, model, ask=ask)


app.add_typer(capability_app, name="capabilities")
for command in (work, publish, worker, mcp):
    app.command()(command)
app.command(hidden=True)(hook)


@app.command()
def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder for the sample repository; a new temporary one if left out."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Approve at the checkpoints instead of asking you.")
    ] = False,
) -> int:
    """Watch a recorded run on a small sample repository: real git, real tests, recorded words."""
    from forge_bot.cli.demo import demo as show_it

    return show_it(folder, yes=yes)


def _called(word: str) -> typer.Typer:
    """Return the app with the command that is called, so that only its options are made ready; with
    all of them if none is called so.
    """
    commands = [
        each
        for each in app.registered_commands
        if each.callback is not None and word == (each.name or each.callback.__name__)
    ]
    groups = [each for each in app.registered_groups if each.name == word]
    if not (commands or groups):
        return app
    alone = copy(app)
    alone.registered_commands, alone.registered_groups = commands, groups
    return alone


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments

    def called() -> object:
        try:
            return _called(given[0] if given else "")(args=arguments, standalone_mode=False)
        except typer.Abort:
            return BY_HAND

    # For `graph` 2 says that rules are broken (sysexits.h calls 64 wrong usage).
    return exit_code_of(called, wrong_use=WRONG_USE if given[:1] == ["graph"] else None)
