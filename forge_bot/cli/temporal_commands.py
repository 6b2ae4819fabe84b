"""Runs that a Temporal server leads: which host goes on with a run, and the worker."""

import asyncio
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.cli.options import Ending, HostChoice, ResumeOptions, RunOptions, ServerChoice
from forge_bot.cli.terminal_session import at_terminal
from forge_bot.errors import BadOption, TemporalUnavailable, TokenRefused
from forge_bot.forge import LOGIN_VARIABLE
from forge_bot.git import Repository
from forge_bot.runs.models_and_prompts import kept_model
from forge_bot.runs.notifications import Notice, Notify, log_line, warning
from forge_bot.runs.session import Session
from forge_bot.runs.this_process import stop_on_signals
from forge_bot.temporal.temporal_server import (
    TemporalPlace,
    connect,
    find_history_file,
    find_server_program,
    forget_place,
    name_queue,
    name_workflow,
    read_named_place,
    read_place,
    require_client,
)

if TYPE_CHECKING:
    from forge_bot.temporal.temporal_session import TemporalSession
    from forge_bot.temporal.temporal_worker import ThreadActivities

SILENCE = "FORGE_BOT_TEMPORAL_SILENCE"
"""Variable with the seconds without a sign of life after which a worker counts as lost."""


def choose_place(
    repository: Repository, choice: HostChoice, options: RunOptions | ResumeOptions, run: str = ""
) -> TemporalPlace | None:
    """Return the server that leads a run, or is to lead it; None where this command does. Raises
    BadOption, and any problem of a server that is chosen now, before anything begins.
    """
    place, ending = read_place(repository, run) if run else None, options.ending
    if choice.on != "temporal" and (choice.dev or choice.server != ServerChoice()):
        raise BadOption("--dev, --address and --namespace go with --on temporal.")
    if choice.on == "local":
        return None
    if choice.on == "temporal":
        model = options.model or (kept_model(repository, run) if run else None)
        place = _choose_server(repository, choice, ending, model)
    elif place is not None and (options.model or ending.push or ending.open_pr):
        raise BadOption(
            "The server leads this run with the options that it was begun with.",
            hint="Leave --model, --push and --open-pr out, or go on here: forge-bot resume --on "
            "local …",
        )
    if place is not None and (options.record is not None or options.until is not None):
        raise BadOption("--record and --until go with runs of this machine.")
    return place


def _choose_server(
    repository: Repository, choice: HostChoice, ending: Ending, model: str | None
) -> TemporalPlace:
    require_client()
    pushes = ending.push or ending.open_pr
    if choice.dev:
        find_server_program()
        place = TemporalPlace(dev=True, namespace="default")
    else:
        place = read_named_place(choice.server.address, choice.server.namespace)
        asyncio.run(connect(place))
        # A worker's machine may be lost with all its files.
        pushes = pushes or repository.remote_url() is not None
    return place.replace(
        model=model,
        push=pushes,
        open_pr=ending.open_pr,
        post=at_terminal(),
        heartbeat_seconds=float(os.environ.get(SILENCE) or 20),
    )


def follow_on_server(going: Session, place: TemporalPlace) -> "TemporalSession":
    """Return the session that follows a run on a server."""
    require_client()
    from forge_bot.temporal.temporal_session import TemporalSession

    return TemporalSession(going, place)


def take_back(going: Session, run: str) -> None:
    """End the workflow of a run that goes on at this machine, if a server led it."""
    known = read_place(going.repository, run)
    if known is None:
        return
    if known.dev:
        find_history_file(going.repository, run).unlink(missing_ok=True)
    else:
        require_client()
        try:
            asyncio.run(_end_workflow(going.repository, run, known))
        except TemporalUnavailable as error:
            going.tell(
                warning(
                    f"{error.message} If it comes back, its workflow reads the branch and goes "
                    "on from there as well."
                )
            )
    forget_place(going.repository, run)


async def _end_workflow(repository: Repository, run: str, place: TemporalPlace) -> None:
    from temporalio.service import RPCError, RPCStatusCode

    client = await connect(place)
    handle = client.get_workflow_handle(name_workflow(repository, run))
    try:
        await handle.terminate("The run goes on at a terminal.")
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


def work_for_server(
    folders: tuple[Path, ...],
    server: ServerChoice,
    at_once: int,
    github: tuple[str, ...] = (),
) -> int:
    """Work on the runs of these clones and these repositories' issues until somebody stops it."""
    require_client()
    _check_threads(github)
    repositories = tuple(Repository.find(folder) for folder in folders)
    place = read_named_place(server.address, server.namespace)
    with stop_on_signals():
        try:
            asyncio.run(_work_until_stopped(repositories, place, at_once, github))
        except KeyboardInterrupt:
            Console().print("Stopped. What was under way is taken up by others.")
    return 0


def _check_threads(github: tuple[str, ...]) -> None:
    """Raise what keeps this machine from working for issues."""
    for name in github:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII):
            raise BadOption(f"--github is {name!r}.", hint="Write OWNER/NAME.")
    if github and not os.environ.get(LOGIN_VARIABLE):
        raise TokenRefused(
            "--github needs GITHUB_TOKEN to read and write issues, pull requests and branches."
        )


async def _work_until_stopped(
    repositories: tuple[Repository, ...],
    place: TemporalPlace,
    at_once: int,
    github: tuple[str, ...],
) -> None:
    from forge_bot.temporal.temporal_worker import work_at_server

    console = Console()
    threads = _make_thread_activities(console, github)
    client, tell_of = await connect(place), partial(_make_printer, console)
    async with work_at_server(client, repositories, tell_of, threads, at_once=at_once):
        console.print(f"Working for {escape(place.address)}, namespace {escape(place.namespace)}:")
        for repository in repositories:
            console.print(
                f"  {escape(str(repository.root))} [dim]queue {name_queue(repository)}[/]"
            )
        for name, queue in zip(sorted(github), threads.queues, strict=True):
            console.print(f"  issues of {escape(name)} [dim]queue {escape(queue)}[/]")
        await asyncio.Event().wait()


def _make_thread_activities(console: Console, github: tuple[str, ...]) -> "ThreadActivities":
    """Return the activities for threads of these repositories on GitHub."""
    from forge_bot.bot.job_context import close_to_others
    from forge_bot.temporal.temporal_worker import ThreadActivities

    if github:
        close_to_others()

    def tell(line: str) -> None:
        console.print(escape(line))

    return ThreadActivities(github, os.environ, tell)


def _make_printer(console: Console, run: str) -> Notify:
    """Return what prints the notices of a run."""

    def tell(notice: Notice) -> None:
        if (line := log_line(notice)) is not None:
            console.print(f"{escape(run)}: {escape(line.text)}")

    return tell
