"""Continue a run: by a command that is given to it, or by just going on."""

from collections.abc import Callable
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.closing_lines import print_result
from forge_bot.cli.console import Console
from forge_bot.cli.options import Ending, HostChoice, ResumeOptions
from forge_bot.cli.progress import Progress
from forge_bot.cli.temporal_commands import choose_place, follow_on_server, take_back
from forge_bot.cli.terminal_session import (
    check_person,
    make_session,
    way_of_answer,
)
from forge_bot.engine.reports import Answered, Report
from forge_bot.errors import BadOption, RunEnded, TaskTooLarge, UpToDate
from forge_bot.gate.grammar import Abandon, Approve, Mistyped, Retry, RunCommand, Update
from forge_bot.gate.parse_comment import read_command
from forge_bot.git import Repository
from forge_bot.runs.checks import CheckSubject, Occasion, run_checks
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.models_and_prompts import TierModels, keep_model, kept_model
from forge_bot.runs.request_draft import LONGEST_TASK
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import Giver, counted, report_of
from forge_bot.runs.session import Session
from forge_bot.runs.this_process import local_user
from forge_bot.settings.config import load_config
from forge_bot.temporal.temporal_server import TemporalPlace
from forge_bot.values import RunStatus

NOTHING_MORE = Ending()
WHERE_IT_IS = HostChoice()


def give_command(options: ResumeOptions, name: str, text: str = "") -> int:
    """Give a run a command in a person's words, and continue. Raises BadOption for words that it
    does not take, NeedsTerminal without a terminal and without --by-script.
    """
    command = read_command(name, _check_length(text), "forge-bot")
    if isinstance(command, Mistyped):
        raise BadOption(f"{command.hint[:1].upper()}{command.hint[1:]}")
    if not isinstance(command, Update):
        check_person(name, by_script=options.by_script)
    return _give(options, command)


def retry(options: ResumeOptions, phase: str | None, notes: str) -> int:
    """Send the run back to a phase, and continue there. Raises NeedsTerminal if that skips an open
    question.
    """
    return _give(options, Retry(phase, _check_length(notes)))


def _give(options: ResumeOptions, command: RunCommand) -> int:
    giver = Giver(local_user(), way_of_answer(by_script=options.by_script))

    def told(run: Run) -> Report | None:
        if isinstance(command, Retry) and run.state.gate is not None:
            what = f"retry past the open question {run.state.gate.name}"
            check_person(what, by_script=options.by_script)
        version = command.digest if isinstance(command, Approve) else None
        report = report_of(run, command, giver, version)
        if isinstance(report, Answered) and (words := counted(report)):
            Console().print(escape(words))
        return report

    try:
        return _continue_run(options, told, ends=isinstance(command, Abandon))
    except UpToDate as nothing:
        Console().print(escape(nothing.message))
        return 0


def resume(options: ResumeOptions, host: HostChoice) -> int:
    """Continue the run where it stopped."""
    return _continue_run(options, _refuse_ended, host=host, follows=True)


def ask(
    folder: Path, name: str | None, model: str | None, record: Path | None, *, question: str
) -> int:
    """Let the model answer a question about the run, which stands where it stood."""
    repository = Repository.find(folder)
    config = load_config(repository.root)
    info = resolve_run(repository, name)
    progress = Progress(Console())
    models = TierModels(config, model or kept_model(repository, info.name), record)
    try:
        return (
            make_session(repository, config, models, progress, ending=NOTHING_MORE)
            .inquire(info, question)
            .value
        )
    finally:
        progress.stop()


def _check_length(notes: str) -> str:
    if len(notes) > LONGEST_TASK:
        raise TaskTooLarge(
            f"The notes have {len(notes):,} characters; {LONGEST_TASK:,} are the most.",
            hint="Put the long part into a file of the repository and name that file in the notes.",
        )
    return notes


def _refuse_ended(run: Run) -> None:
    if run.state.ended:
        again = (
            "Go back with forge-bot retry PHASE, or start a new run."
            if run.state.current_phase_status is RunStatus.COMPLETED
            else None
        )
        raise RunEnded(
            f"The run {run.name} is over: {run.state.current_phase_status.value}.",
            hint=again,
        )


def _continue_run(
    options: ResumeOptions,
    first: Callable[[Run], Report | None],
    *,
    ends: bool = False,
    host: HostChoice = WHERE_IT_IS,
    follows: bool = False,
) -> int:
    repository = Repository.find(options.repo)
    config = load_config(repository.root)
    info = resolve_run(repository, options.run)
    place = choose_place(repository, host, options, info.name)
    if not ends:
        signs_here = place is None or place.dev
        subject = CheckSubject(repository, config, run=info, signs_here=signs_here)
        run_checks(Occasion.BEFORE_GOING_ON, subject).require()
    progress = Progress(Console())
    keep_model(repository, info.name, options.model)
    model = options.model or kept_model(repository, info.name)
    models = TierModels(config, model, options.record)
    ending = options.ending
    going = make_session(repository, config, models, progress, ending=ending, until=options.until)
    if host.on == "local":
        take_back(going, info.name)
    # A run that a server leads is followed, also while its worker holds it.
    make_first_report = None if follows and place is not None else first
    return lead_run(going, place, info, progress, ending, make_first_report)


def lead_run(
    going: Session,
    place: TemporalPlace | None,
    info: RunInfo,
    progress: Progress,
    ending: Ending,
    first: Callable[[Run], Report | None] | None = None,
) -> int:
    """Go on with a run, here or on its server, until a person is needed; print how it ended."""
    leader = going if place is None else follow_on_server(going, place)
    try:
        outcome, run = leader.go_on(info, first)
    finally:
        progress.stop()
    return print_result(outcome, run, progress, ending)
