"""Commands that continue a run: answers, resume, retry, more money."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from rich.markup import escape

from forge_bot.cli.closing_lines import print_result
from forge_bot.cli.console import Console
from forge_bot.cli.options import Ending, HostChoice, ResumeOptions
from forge_bot.cli.progress import Progress
from forge_bot.cli.session_setup import (
    check_person,
    load_setup,
    make_session,
    read_amount_option,
    way_of_answer,
)
from forge_bot.cli.temporal_commands import choose_leader, works_here
from forge_bot.engine.reports import Answer, BudgetRaised, Report, RetryAsked
from forge_bot.errors import BadOption, RunEnded, TaskTooLarge, UpToDate
from forge_bot.gate.grammar import Approve, Mistyped
from forge_bot.gate.parse_comment import read_answer
from forge_bot.git import Repository
from forge_bot.runs.answers import PersonAnswer, counted, person_answer
from forge_bot.runs.answers import answer as given
from forge_bot.runs.branch_for_merge import fetch_for_update, update
from forge_bot.runs.checks import CheckSubject, Occasion, run_checks
from forge_bot.runs.find_runs import resolve_run
from forge_bot.runs.follow_up import Wanted, make_follow_up, offers_change
from forge_bot.runs.invocation_end import phase_named
from forge_bot.runs.request_draft import LONGEST_TASK
from forge_bot.runs.run import Run
from forge_bot.runs.run_models import TierModels, keep_model, kept_model
from forge_bot.runs.this_process import local_user, now
from forge_bot.values import RunStatus

NOTHING_MORE = Ending()
WHERE_IT_IS = HostChoice()


def give_approval(options: ResumeOptions, words: str) -> int:
    """Approve the open question with a version, choices and a condition, and continue. Raises
    BadOption for any other words.
    """
    command = read_answer(f"approve {words}", "forge-bot")
    if isinstance(command, Mistyped):
        raise BadOption(f"{command.hint[:1].upper()}{command.hint[1:]}")
    check_person("approve", by_script=options.by_script)
    via = way_of_answer(by_script=options.by_script)
    reply = person_answer(command)
    digest = command.digest if isinstance(command, Approve) else None

    def approved(run: Run) -> Report:
        report = given(run, reply, via, digest)
        if words := counted(report):
            Console().print(escape(words))
        return report

    return _continue_run(options, approved)


def give_answer(options: ResumeOptions, answer: str, *, notes: str = "") -> int:
    """Answer the open question, and continue. Raises NeedsTerminal without a terminal and without
    --by-script.
    """
    check_person(answer, by_script=options.by_script)
    via = way_of_answer(by_script=options.by_script)
    reply = PersonAnswer(answer=Answer(answer), notes=_check_length(notes))
    ends = reply.answer is Answer.ABANDON

    def answered(run: Run) -> Report:
        if reply.answer is Answer.REJECT and reply.notes and offers_change(run):
            return _more_work(run, reply.notes, via)
        return given(run, reply, via)

    return _continue_run(options, answered, ends=ends)


def _more_work(run: Run, notes: str, via: str) -> Report:
    """Return the report that asks for more work on a change that is offered."""
    key = f"follow-up-{uuid4().hex}"
    return make_follow_up(run, Wanted(notes), key=key, at=run.now(), by=local_user(), via=via)


def resume(options: ResumeOptions, host: HostChoice) -> int:
    """Continue the run where it stopped."""
    return _continue_run(options, _refuse_ended, host=host, follows=True)


def retry(options: ResumeOptions, phase: str | None, *, notes: str = "") -> int:
    """Send the run back to a phase, and continue there. Raises NeedsTerminal if that skips an open
    question.
    """
    via = way_of_answer(by_script=options.by_script)

    def asked(run: Run) -> Report:
        if phase is None and notes and offers_change(run):
            return _more_work(run, _check_length(notes), via)
        if run.state.gate is not None:
            passed = run.state.gate.name
            check_person(f"retry past the open question {passed}", by_script=options.by_script)
        target = phase_named(run.pipeline, phase) if phase is not None else run.state.current_phase
        return RetryAsked(
            key=f"retry-{uuid4().hex}",
            at=now(),
            phase=target,
            notes=_check_length(notes),
            by=local_user(),
            via=via,
        )

    return _continue_run(options, asked)


def update_run(options: ResumeOptions) -> int:
    """Merge what came to the base branch into a run, and verify it again. If nothing came, say so
    and leave the run where it stands.
    """
    via = way_of_answer(by_script=options.by_script)

    def asked(run: Run) -> Report | None:
        fetch_for_update(run)
        key = f"update-{uuid4().hex}"
        return update(run, key=key, at=run.now(), by=local_user(), via=via)

    try:
        return _continue_run(options, asked, only_tells=False)
    except UpToDate as nothing:
        Console().print(escape(nothing.message))
        return 0


def ask(
    folder: Path, name: str | None, model: str | None, record: Path | None, *, question: str
) -> int:
    """Let the model answer a question about the run, which stands where it stood."""
    repository = Repository.find(folder)
    config = load_setup(repository)
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


def raise_budget(options: ResumeOptions, amount: str) -> int:
    """Allow more money or tokens, and go on. Raises NeedsTerminal where no person and no script of
    theirs allows it.
    """
    check_person("continue", by_script=options.by_script)
    via = way_of_answer(by_script=options.by_script)
    more = read_amount_option(amount, "forge-bot continue +5")
    return _continue_run(
        options,
        lambda _run: BudgetRaised(
            key=f"budget-{uuid4().hex}",
            at=now(),
            amount=more.dollars,
            tokens=more.tokens,
            by=local_user(),
            via=via,
        ),
    )


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
    only_tells: bool = True,
) -> int:
    repository = Repository.find(options.repo)
    config = load_setup(repository)
    info = resolve_run(repository, options.run)
    if not ends:
        here = works_here(repository, info.name, host)
        subject = CheckSubject(repository, config, run=info, signs_here=here)
        run_checks(Occasion.BEFORE_GOING_ON, subject).require()
    progress = Progress(Console())
    keep_model(repository, info.name, options.model)
    model = options.model or kept_model(repository, info.name)
    models = TierModels(config, model, options.record)
    ending = options.ending
    going = make_session(repository, config, models, progress, ending=ending, until=options.until)
    leader = choose_leader(going, info.name, host, options, only_tells=only_tells)
    # A run that a server leads is followed, also while its worker holds it.
    make_first_report = None if follows and leader is not going else first
    try:
        ended = leader.go_on(info, make_first_report)
    finally:
        progress.stop()
    return print_result(*ended, progress, ending)
