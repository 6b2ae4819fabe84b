"""Continue a run: by a command that is given to it, or by just going on; and print how it ended,
where the result is, and the next commands to type.
"""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.cli.options import Ending, HostChoice, ResumeOptions
from forge_bot.cli.progress import Progress
from forge_bot.cli.temporal_commands import choose_place, follow_on_server, take_back
from forge_bot.cli.terminal_session import check_person, make_session, way_of_answer
from forge_bot.engine.reports import Answered, Report
from forge_bot.errors import BadOption, RunEnded, TaskTooLarge, UpToDate
from forge_bot.forge import pull_request_command
from forge_bot.gate.grammar import Abandon, Approve, Mistyped, Retry, RunCommand, Update
from forge_bot.gate.parse_comment import read_command
from forge_bot.git import Repository
from forge_bot.git.revisions import ENDED
from forge_bot.runs.branch_for_merge import Offer, newest_base, offered, target_of
from forge_bot.runs.checks import CheckSubject, Occasion, run_checks
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.models_and_prompts import TierModels, keep_model, kept_model
from forge_bot.runs.publish_result import (
    PULL_REQUEST,
    body_file,
    pull_request_text,
    wanted_pull_request,
)
from forge_bot.runs.request_draft import LONGEST_TASK
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import Giver, counted, report_of
from forge_bot.runs.run_files import is_kept, remove_work_tree
from forge_bot.runs.session import Session
from forge_bot.runs.this_process import Outcome, local_user
from forge_bot.settings.config import load_config
from forge_bot.temporal.temporal_server import TemporalPlace
from forge_bot.text_format import money, named_once, several
from forge_bot.values import RunStatus

NOTHING_MORE = Ending()
WHERE_IT_IS = HostChoice()
_MOST_FILES = 60
_SHORT = 12


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
        again = "Go back with forge-bot retry PHASE, or start a new run."
        is_done = run.state.current_phase_status is RunStatus.COMPLETED
        raise RunEnded(
            f"The run {run.name} is over: {run.state.current_phase_status.value}.",
            hint=again if is_done else None,
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


# -- the end
# --------------------------------------------------------------------------------------------------


def print_result(outcome: Outcome, run: Run, progress: Progress, ending: Ending) -> int:
    """Show the outcome, and remove the work tree of a run that is done; return the exit code."""
    progress.stop()
    match outcome:
        case Outcome.DONE:
            _print_done(run, progress, ending)
        case Outcome.ABANDONED:
            progress.print_line(f"[bold]Abandoned.[/] The branch {escape(run.state.branch)} stays.")
        case Outcome.WAITING | Outcome.BUDGET | Outcome.FAILED | Outcome.USAGE | Outcome.REFUSED:
            pass
    return outcome.value


def _print_done(run: Run, progress: Progress, ending: Ending) -> None:
    state = run.state
    progress.print_line(f"\n[bold green]✓ Done.[/] {escape(state.title)}")
    progress.print_line(escape(_describe_changes(run)))
    total = state.usage
    tokens = total.input_tokens + total.output_tokens
    spent = f"{total.calls} calls · {tokens:,} tokens · {money(total.cost)}"
    progress.print_line(f"[dim]{spent}[/]\n")
    kept = f"{ENDED}{run.name}" if is_kept(run.repository, run.name, run.tree.commit_id()) else ""
    code = offered(run) if state.nothing_to_do is None else Offer()
    for note in _list_notes(run):
        progress.print_line(f"{note}\n")
    for row in _list_places(run, code, kept):
        progress.print_line(row)
    # The commands name folders that are there, so before the work tree goes.
    following = _list_next_commands(run, code, kept, ending)
    progress.print_line(_remove_work_tree(run, ending))
    if code.left_behind:
        not_moved = (
            f"{escape(code.branch)} was not moved: it is checked out, or people changed the "
            "same lines there. This takes the new commits:"
        )
        progress.print_line(f"\n  {not_moved}\n  {escape(code.left_behind)}")
    for line in following:
        progress.print_line(escape(line))


def _list_notes(run: Run) -> Iterator[str]:
    """Yield what a person should know about the result."""
    if (nothing := run.state.nothing_to_do) is not None:
        yield f"There was nothing to do: {nothing.why.value}."
    if (judged := run.state.verification) is not None:
        asked = judged.requirements.said if judged.requirements is not None else ()
        for note in (*judged.notes, *asked):
            yield f"[yellow]![/] {escape(named_once(note))}"


def _list_places(run: Run, code: Offer, kept: str) -> Iterator[str]:
    """Yield the rows that say where the code, the record and the documents are."""
    state = run.state
    if code.branch:
        made_of = f"{escape(state.base_branch)}, {several(code.commits, 'commit')}"
        begins = "" if state.here else f" (from {made_of})"
        yield _format_row("branch", f"[bold]{escape(code.branch)}[/]{begins}")
    yield _format_row("record", escape(kept or f"branch {state.branch}"))
    show = "forge-bot show"
    if run.pipeline.summary:
        yield _format_row("what was done", escape(f"{show} {run.pipeline.summary}"))
    if run.workspace.read_bytes(PULL_REQUEST) is not None:
        shown = escape(state.pull_request or f"{show} {PULL_REQUEST}")
        yield _format_row("pull request", shown)


def _format_row(name: str, text: str) -> str:
    return f"  {name:<13} {text}"


def _remove_work_tree(run: Run, ending: Ending) -> str:
    """Remove the run's work tree unless it is to stay; return a line about it."""
    place = escape(str(run.tree.path))
    if run.tree.path != run.places.tree:
        return _format_row("work tree", place)
    if ending.keep:
        kept = f"{place}; forge-bot clean removes it"
    elif because := remove_work_tree(run.repository, run.name):
        kept = f"{place}, kept: {escape(because)}"
    else:
        kept = "removed; forge-bot retry makes a new one"
    return _format_row("work tree", kept)


def _list_next_commands(run: Run, code: Offer, kept: str, ending: Ending) -> list[str]:
    """Return the lines that a person types now: to look, to merge, or to offer the change."""
    if not code.branch:
        return []
    state, branch = run.state, shlex.quote(code.branch)
    target = shlex.quote(target_of(run))
    # In a person's own branch the change begins at a commit.
    since = f"{state.base_commit[:_SHORT]}.." if state.here else f"{target}..."
    root = run.repository.root
    lines = [""] if Path.cwd().is_relative_to(root) else ["", f"  cd {shlex.quote(str(root))}"]
    lines.append(f"  git diff {since}{branch}")
    if target != branch:
        lines.append(f"  git switch {target} && git merge {branch}")
    if run.repository.remote_url() is None or run.state.pull_request:
        return lines
    lines.append("or")
    if not (ending.push or ending.open_pr):
        lines.append(f"  git push -u origin {' '.join(filter(None, (branch, kept)))}")
    if body_file(run).is_file():
        written = pull_request_text(run)
        wanted = wanted_pull_request(run, code.branch, written)
        lines.append(f"  {shlex.join(pull_request_command(wanted))}")
    return lines


def _describe_changes(run: Run) -> str:
    """A table of the files that the run changed, as long as a person reads one."""
    base = newest_base(run)
    code = [path for path in run.tree.changed(base) if not path.startswith(".specs/")]
    if not code:
        return "no file outside the record changed"
    if len(code) > _MOST_FILES:
        return f"{len(code):,} files changed; git diff --stat lists them"
    return run.tree.diff(base, paths=code, stat=True).strip("\n")
