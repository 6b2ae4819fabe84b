"""The commands. Each parses its options and hands over; what is heavy is imported when a command
needs it.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from forge_bot import __version__
from forge_bot.cli.graph_commands import graph_app
from forge_bot.cli.options import (
    Address,
    ByScript,
    Dev,
    Ending,
    From,
    HostChoice,
    Keep,
    McpConfig,
    Model,
    Namespace,
    On,
    OpenPr,
    Push,
    Record,
    Repo,
    RunName,
    SkillsDir,
    Until,
    every_word,
    words,
)
from forge_bot.cli.shell_completion import documents, phases_to_repeat, run_folders
from forge_bot.cli.standard_streams import NobodyReads, flushed

app = typer.Typer(
    name="forge-bot",
    help="From a task to a reviewed branch. A person is asked before it matters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(graph_app, name="graph")

HERE = Path()
WRONG_USE = 64
_BY_HAND = 130  # what the option parser makes of Ctrl-C: 128 and the signal's number


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
    repo: Repo = HERE,
    effort: Annotated[
        str | None,
        typer.Option(help="S, M or L; guessed from the request if left out.", metavar="S|M|L"),
    ] = None,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto", help="Pass a checkpoint if the reviewer said APPROVE and nothing is risky."
        ),
    ] = False,
    nopr: Annotated[bool, typer.Option("--nopr", help="Prepare no pull request.")] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", help="Add a debug report to the summary, and tracebacks to errors."
        ),
    ] = False,
    discuss: Annotated[
        bool, typer.Option("--discuss", help="Answer three questions about the request first.")
    ] = False,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Answer to the next question of --discuss, where there is no terminal; up to three"
                " times."
            ),
            metavar="TEXT",
        ),
    ] = None,
    model: Model = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="US dollars the run may cost, such as 5.", metavar="AMOUNT", callback=words
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(help="Name of the new branch.", metavar="NAME", callback=words)
    ] = None,
    here: Annotated[
        bool,
        typer.Option("--here", help="Work on the branch and in the folder that is checked out."),
    ] = False,
    pipeline: Annotated[
        str | None,
        typer.Option(
            help="Pipeline of the run, such as audit or scaffold; else the configured one.",
            metavar="NAME",
            callback=words,
        ),
    ] = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    phase: From = None,
    scope: Annotated[
        str | None,
        typer.Option(
            "--in",
            help="Folder that the change stays in, with the commands of this folder alone.",
            metavar="FOLDER",
            callback=words,
        ),
    ] = None,
    by_script: ByScript = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask about effort, branch and slug.")
    ] = False,
    mcp_config: McpConfig = None,
    skills_dir: SkillsDir = None,
    on: On = None,
    dev: Dev = False,
    address: Address = None,
    namespace: Namespace = None,
) -> int:
    """Take a task to a reviewed branch, stopping for you at the checkpoints."""
    from forge_bot.cli.start_run import CapabilityOptions, RunOptions, start_run

    wanted = RunOptions(
        task=task,
        effort=effort,
        auto=auto,
        skip_pr=nopr,
        debug=debug,
        discuss=discuss,
        answers=tuple(answer or ()),
        budget=budget,
        branch=branch,
        here=here,
        pipeline=pipeline,
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        phase=phase,
        scope=scope or "",
        by_script=by_script,
        yes=yes,
        host=HostChoice(on, dev, address, namespace),
        capabilities=CapabilityOptions(
            mcp_config=mcp_config.absolute() if mcp_config is not None else None,
            skills_dirs=tuple(each.absolute() for each in skills_dir or ()),
        ),
    )
    return start_run(repo, wanted, model, record)


@app.command()
def approve(
    digest: Annotated[
        str | None, typer.Argument(help="Version you read, as shown; left out, the one shown last.")
    ] = None,
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    by_script: ByScript = False,
) -> int:
    """Say yes to what waits, and go on."""
    from forge_bot.cli.resume import give_answer

    return give_answer(
        repo,
        run,
        model,
        record,
        answer="approve",
        digest=digest,
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
    )


@app.command()
@app.command("revise", hidden=True, help="Another spelling of reject.")
def reject(
    notes: Annotated[
        list[str], typer.Argument(help="What should be different.", callback=every_word)
    ],
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    by_script: ByScript = False,
) -> int:
    """Send what waits back with your notes, and go on."""
    from forge_bot.cli.resume import give_answer

    return give_answer(
        repo,
        run,
        model,
        record,
        answer="reject",
        notes=" ".join(notes),
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
    )


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

    return give_answer(repo, run, None, None, answer="abandon", by_script=by_script)


@app.command()
def done(
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    by_script: ByScript = False,
) -> int:
    """Say that you did what a task asked of a person, and go on."""
    from forge_bot.cli.resume import give_answer

    return give_answer(
        repo,
        run,
        model,
        record,
        answer="done",
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
    )


@app.command()
def skip(
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    by_script: ByScript = False,
) -> int:
    """Go on without what a task asked of a person."""
    from forge_bot.cli.resume import give_answer

    return give_answer(
        repo,
        run,
        model,
        record,
        answer="skip",
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
    )


@app.command()
def resume(
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    phase: From = None,
    by_script: ByScript = False,
    on: On = None,
    dev: Dev = False,
    address: Address = None,
    namespace: Namespace = None,
) -> int:
    """Go on with a run that stopped, for whatever reason."""
    from forge_bot.cli.resume import resume as go

    return go(
        repo,
        run,
        model,
        record,
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
        phase=phase,
        host=HostChoice(on, dev, address, namespace),
    )


@app.command()
def retry(
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
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    by_script: ByScript = False,
) -> int:
    """Do a phase again, and everything after it."""
    from forge_bot.cli.resume import retry as go

    return go(
        repo,
        run,
        model,
        record,
        phase=phase,
        notes=notes,
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
    )


@app.command()
def update(
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    by_script: ByScript = False,
) -> int:
    """Merge what came to the base branch into a run that is done, and verify it again."""
    from forge_bot.cli.resume import update_run as go

    ending = Ending(push=push, keep=keep, open_pr=open_pr)
    return go(repo, run, model, record, ending=ending, by_script=by_script)


@app.command()
def repair(repo: Repo = HERE, run: RunName = None) -> int:
    """Restore a run's record that cannot be read from the newest commit that has a readable one,
    and say what is lost.
    """
    from forge_bot.cli.resume import repair as go

    return go(repo, run)


@app.command("continue")
def continue_(
    amount: Annotated[
        list[str], typer.Argument(help="US dollars more, such as +$5.", callback=every_word)
    ],
    repo: Repo = HERE,
    run: RunName = None,
    model: Model = None,
    record: Record = None,
    push: Push = False,
    keep: Keep = False,
    open_pr: OpenPr = False,
    until: Until = None,
    by_script: ByScript = False,
) -> int:
    """Allow a run more money, and go on."""
    from forge_bot.cli.resume import raise_budget as go

    return go(
        repo,
        run,
        model,
        record,
        amount=" ".join(amount),
        ending=Ending(push=push, keep=keep, open_pr=open_pr),
        until=until,
        by_script=by_script,
    )


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
) -> int:
    """Write what is missing of a commented .forge/config.yml and, on GitHub, the workflow for the
    bot.
    """
    from forge_bot.cli.init_command import init as write

    return write(repo, workflow=workflow, labels=labels)


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


capabilities = typer.Typer(
    help="List the tools and skills that agents may ask for here, or call one.",
    invoke_without_command=True,
)
app.add_typer(capabilities, name="capabilities")


@capabilities.callback()
def list_capabilities(
    context: typer.Context,
    repo: Repo = HERE,
    mcp_config: McpConfig = None,
    skills_dir: SkillsDir = None,
) -> int:
    """List the tools and skills that agents may ask for here, with each problem."""
    if context.invoked_subcommand is not None:
        return 0
    from forge_bot.cli.capabilities_command import list_capabilities as look

    return look(repo, mcp_config, tuple(skills_dir or ()))


@capabilities.command("try")
def try_capability(
    name: Annotated[
        str, typer.Argument(help="Name of a tool, as the list shows it.", callback=words)
    ],
    arg: Annotated[
        list[str] | None,
        typer.Option(help="An argument; may be given several times.", metavar="NAME=VALUE"),
    ] = None,
    repo: Repo = HERE,
    mcp_config: McpConfig = None,
    skills_dir: SkillsDir = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask before a tool that may change something."),
    ] = False,
) -> int:
    """Call one tool as a run would, and show what it returns."""
    from forge_bot.cli.capabilities_command import try_capability as call

    return call(repo, mcp_config, tuple(skills_dir or ()), name, tuple(arg or ()), yes=yes)


@app.command()
def work(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help=(
                "Only the worker's part: do what was handed over, push nothing, and leave it in"
                " this folder."
            ),
        ),
    ] = None,
) -> int:
    """Carry a run on inside GitHub Actions; what the gate let in stands in the environment."""
    from forge_bot.bot import job

    return job.work() if out is None else job.deliver(out)


@app.command()
def publish(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in", help="Folder that `work --out` left; its commits are looked at and pushed."
        ),
    ] = None,
    last: Annotated[
        bool,
        typer.Option(
            "--last", help="No worker comes after this: say how to go on if there is more to do."
        ),
    ] = False,
) -> int:
    """The part inside GitHub Actions that holds the token and runs no model: hear, check, push,
    ask, open the pull request.
    """
    from forge_bot.bot.job import publish as carry_on

    return carry_on(folder, last=last)


@app.command()
def worker(
    repo: Annotated[
        list[Path] | None,
        typer.Option(
            "--repo", help="Folder inside a clone to work in; may be given several times."
        ),
    ] = None,
    address: Address = None,
    namespace: Namespace = None,
) -> int:
    """Work on the runs that a Temporal server leads in these clones, until it is stopped."""
    from forge_bot.cli.temporal_commands import work_for_server

    return work_for_server(tuple(repo or (HERE,)), HostChoice(None, False, address, namespace))


@app.command()
def mcp(
    repo: Annotated[
        list[Path] | None,
        typer.Option(
            "--repo", help="Folder inside a repository to serve; may be given several times."
        ),
    ] = None,
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve over HTTP on this machine instead of stdin and stdout."),
    ] = False,
    port: Annotated[int, typer.Option(help="Port for --http.", min=1, max=65535)] = 8765,
) -> int:
    """Serve the pipeline to an MCP client, which does the agents' work itself."""
    from forge_bot.mcp_server.serve import serve_http, serve_stdio

    return (
        serve_http(tuple(repo or (HERE,)), port)
        if http
        else serve_stdio(tuple(repo or (HERE,)), named=bool(repo))
    )


@app.command(hidden=True)
def hook(
    event: Annotated[
        Literal["pre-tool", "post-tool", "stop"],
        typer.Argument(help="Which hook of the host calls."),
    ],
) -> int:
    """Answer a hook of an MCP host; what it asks comes over stdin."""
    from forge_bot.mcp_server.hooks import answer_hook

    return answer_hook(event)


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


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code. The one door at which every error is told."""
    try:
        code: object = app(args=arguments, standalone_mode=False)
        flushed()
    except (KeyboardInterrupt, EOFError, typer.Abort):
        code = _BY_HAND
    # The outermost handler: every error is shown, and the exit code says that the command failed.
    except (NobodyReads, Exception) as error:  # noqa: BLE001 - see above
        from forge_bot.cli.error_output import USAGE, print_error

        told = print_error(error)
        # For `graph` 2 says that rules are broken (sysexits.h calls 64 wrong usage).
        graph = (sys.argv[1:] if arguments is None else arguments)[:1] == ["graph"]
        return WRONG_USE if graph and told == USAGE else told
    if code == _BY_HAND:
        from forge_bot.cli.error_output import interrupted

        return interrupted()
    return code if isinstance(code, int) else 0
