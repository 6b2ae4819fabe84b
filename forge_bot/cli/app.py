"""The commands. Each parses its options and calls its module; heavy modules are imported when a
command needs them.

The help of the commands is in `templates/sentences`.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from forge_bot import __version__
from forge_bot.cli.exit_code import BY_HAND, WRONG_USE, exit_code_of
from forge_bot.cli.graph_commands import graph_app
from forge_bot.cli.machine_commands import hook, mcp, publish, work, worker
from forge_bot.cli.options import (
    HERE,
    ByScript,
    CapabilityChoice,
    CommandGroup,
    From,
    HostChoice,
    Model,
    Record,
    Repo,
    ResumeOptions,
    RunName,
    RunOptions,
    SkillOptions,
    every_word,
    with_groups,
    words,
)
from forge_bot.cli.shell_completion import phases_to_repeat, run_folders
from forge_bot.cli.standard_streams import typed
from forge_bot.sentences import say

_capability_app = typer.Typer(
    cls=CommandGroup,
    help=say("help.capabilities.what"),
    invoke_without_command=True,
)


@_capability_app.callback()
@with_groups
def _list_capabilities(context: typer.Context, source: CapabilityChoice, repo: Repo = HERE) -> int:
    if context.invoked_subcommand is not None:
        return 0
    from forge_bot.cli.capability_output import list_capabilities as look

    return look(repo, source)


@_capability_app.command("approve", help=say("help.capabilities.approve"))
@with_groups
def _approve_servers(
    source: CapabilityChoice,
    digest: Annotated[
        str | None, typer.Option(help=say("help.capabilities.digest"), callback=words)
    ] = None,
    repo: Repo = HERE,
) -> int:
    from forge_bot.cli.server_question import approve_servers as approve

    return approve(repo, source, digest)


@_capability_app.command("try", help=say("help.capabilities.try"))
@with_groups
def _try_capability(
    source: CapabilityChoice,
    performing: SkillOptions,
    name: Annotated[str, typer.Argument(help=say("help.capabilities.try_name"), callback=words)],
    arg: Annotated[
        list[str] | None, typer.Option(help=say("help.capabilities.try_arg"), metavar="NAME=VALUE")
    ] = None,
    repo: Repo = HERE,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help=say("help.capabilities.try_yes"))
    ] = False,
) -> int:
    from forge_bot.cli.capability_output import try_capability as call

    return call(repo, source, name, tuple(arg or ()), performing, yes=yes)


app = typer.Typer(
    cls=CommandGroup,
    name="forge-bot",
    help=say("help.program.what"),
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
            "--version", callback=_version, is_eager=True, help=say("help.program.version")
        ),
    ] = False,
) -> None:
    _ = version


_MORE_WORDS = {"allow_extra_args": True}
"""For commands that take one text: more words are a text without its quotes (`_in_quotes`)."""


def _in_quotes(command: str, text: str, more: list[str]) -> None:
    """Raise BadOption for words after a text that was given without quotes."""
    if more:
        from forge_bot.errors import BadOption

        whole = " ".join(map(typed, (text, *more)))
        raise BadOption(
            say("cli.app.text_without_quotes"),
            hint=say("cli.app.put_in_quotes", command=command, text=whole.replace('"', "'")),
        )


@app.command("run", help=say("help.run.what"), context_settings=_MORE_WORDS)
@with_groups
def run_task(
    context: typer.Context,
    task: Annotated[
        str, typer.Argument(callback=words, help=say("help.run.task"), autocompletion=run_folders)
    ],
    options: RunOptions,
) -> int:
    _in_quotes("run", task, context.args)
    from forge_bot.cli.issue_number import refuse_a_number
    from forge_bot.cli.model_key import require_key

    refuse_a_number(task, options.repo)
    require_key(task, options)
    from forge_bot.cli.start_run import start_run

    return start_run(task, options)


@app.command(help=say("help.approve.what"))
@with_groups
def approve(
    options: ResumeOptions,
    words: Annotated[list[str] | None, typer.Argument(help=say("help.approve.words"))] = None,
) -> int:
    from forge_bot.cli.resume import give_approval

    return give_approval(options, " ".join(words or ()))


@app.command(help=say("help.reject.what"))
@app.command("revise", hidden=True, help=say("help.reject.revise"))
@with_groups
def reject(
    notes: Annotated[list[str], typer.Argument(help=say("help.reject.notes"), callback=every_word)],
    options: ResumeOptions,
) -> int:
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "reject", notes=" ".join(notes))


@app.command(help=say("help.ask.what"), context_settings=_MORE_WORDS)
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(callback=words, help=say("help.ask.question"))],
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
) -> int:
    _in_quotes("ask", question, context.args)
    from forge_bot.cli.resume import ask as go

    return go(repo, run, model, record, question=question)


@app.command(help=say("help.abandon.what"))
def abandon(repo: Repo = HERE, run: RunName = None, by_script: ByScript = False) -> int:
    from forge_bot.cli.resume import give_answer

    return give_answer(ResumeOptions(repo, run, by_script=by_script), "abandon")


@app.command(help=say("help.done.what"))
@with_groups
def done(options: ResumeOptions) -> int:
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "done")


@app.command(help=say("help.skip.what"))
@with_groups
def skip(options: ResumeOptions) -> int:
    from forge_bot.cli.resume import give_answer

    return give_answer(options, "skip")


@app.command(help=say("help.resume.what"))
@with_groups
def resume(options: ResumeOptions, host: HostChoice, phase: From = None) -> int:
    from forge_bot.cli.resume import resume as go

    return go(options, phase, host)


@app.command(help=say("help.retry.what"))
@with_groups
def retry(
    options: ResumeOptions,
    phase: Annotated[
        str | None, typer.Argument(help=say("help.retry.phase"), autocompletion=phases_to_repeat)
    ] = None,
    notes: Annotated[str, typer.Option(help=say("help.retry.notes"), callback=words)] = "",
) -> int:
    from forge_bot.cli.resume import retry as go

    return go(options, phase, notes=notes)


@app.command(help=say("help.update.what"))
@with_groups
def update(options: ResumeOptions) -> int:
    from forge_bot.cli.resume import update_run as go

    return go(options)


@app.command(help=say("help.repair.what"))
def repair(repo: Repo = HERE, run: RunName = None) -> int:
    from forge_bot.cli.resume import repair as go

    return go(repo, run)


@app.command("continue", help=say("help.continue.what"))
@with_groups
def continue_(
    amount: Annotated[
        list[str], typer.Argument(help=say("help.continue.amount"), callback=every_word)
    ],
    options: ResumeOptions,
) -> int:
    from forge_bot.cli.resume import raise_budget as go

    return go(options, " ".join(amount))


@app.command(help=say("help.status.what"))
def status(
    repo: Repo = HERE,
    run: RunName = None,
    as_json: Annotated[bool, typer.Option("--json", help=say("help.status.as_json"))] = False,
) -> int:
    from forge_bot.cli.show_runs import status as look

    return look(repo, run, as_json=as_json)


@app.command(help=say("help.show.what"))
def show(
    artifact: Annotated[
        str,
        typer.Argument(help=say("help.show.artifact"), show_default=False),
    ] = "",
    repo: Repo = HERE,
    run: RunName = None,
) -> int:
    from forge_bot.cli.show_artifact import show as look

    return look(repo, run, artifact)


@app.command("list", help=say("help.list.what"))
def list_(repo: Repo = HERE) -> int:
    from forge_bot.cli.show_runs import list_runs as look

    return look(repo)


@app.command(help=say("help.clean.what"))
def clean(
    repo: Repo = HERE,
    remove: Annotated[bool, typer.Option("--remove", help=say("help.clean.remove"))] = False,
) -> int:
    from forge_bot.cli.clean import clean as go

    return go(repo, remove=remove)


@app.command(help=say("help.init.what"))
def init(
    repo: Repo = HERE,
    workflow: Annotated[
        bool | None, typer.Option("--workflow/--no-workflow", help=say("help.init.workflow"))
    ] = None,
    labels: Annotated[bool, typer.Option("--labels", help=say("help.init.labels"))] = False,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help=say("help.init.baseline"))
    ] = True,
) -> int:
    from forge_bot.cli.init_command import init as write

    return write(repo, workflow=workflow, labels=labels, baseline=baseline)


@app.command(help=say("help.doctor.what"))
def doctor(
    repo: Repo = HERE,
    model: Model = None,
    ask: Annotated[bool, typer.Option("--ask", help=say("help.doctor.ask"))] = False,
) -> int:
    from forge_bot.cli.doctor import doctor as look

    return look(repo, model, ask=ask)


app.add_typer(_capability_app, name="capabilities")
app.command(help=say("help.work.what"))(work)
app.command(help=say("help.publish.what"))(publish)
app.command(help=say("help.worker.what"))(worker)
app.command(help=say("help.mcp.what"))(mcp)
app.command(hidden=True, help=say("help.hook.what"))(hook)


@app.command(help=say("help.demo.what"))
def demo(
    folder: Annotated[Path | None, typer.Argument(help=say("help.demo.folder"))] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help=say("help.demo.yes"))] = False,
) -> int:
    from forge_bot.cli.demo import demo as show_it

    return show_it(folder, yes=yes)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments

    def called() -> object:
        try:
            return get_command(app)(args=arguments, standalone_mode=False)
        except typer.Abort:
            return BY_HAND

    # For `graph` 2 says that rules are broken (sysexits.h calls 64 wrong usage).
    return exit_code_of(called, wrong_use=WRONG_USE if given[:1] == ["graph"] else None)
