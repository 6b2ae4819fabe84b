"""Find the run of an event: the run of the issue's branch, or a new run if an authorised person
asked for it.
"""

from typing import TYPE_CHECKING

from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.command_replies import reply_to_error
from forge_bot.bot.comments.reply import reply
from forge_bot.bot.request_snapshot import Given, snapshot_request
from forge_bot.bot.thread import ThreadCommand
from forge_bot.engine.reports import RunFlags
from forge_bot.errors import BadOption
from forge_bot.forge import show_warning
from forge_bot.gate import grammar
from forge_bot.gate.events import issue_of_branch
from forge_bot.git import Head, Repository
from forge_bot.runs.checks import CheckSubject, Occasion, RunIntent, run_checks
from forge_bot.runs.create_run import NewRun, create_run, plan_for, scope_folder
from forge_bot.runs.find_runs import RunInfo, runs
from forge_bot.runs.perform_steps import inputs_of
from forge_bot.runs.request_draft import RequestDraft
from forge_bot.settings.load_pipeline import load_pipeline, pipeline_names

if TYPE_CHECKING:
    from forge_bot.bot.supervisor import Supervisor


def find_or_create_run(supervisor: "Supervisor") -> RunInfo | None:
    """Return the run to continue; None if there is none and nobody asked for one, which the thread
    is told.
    """
    around, thread = supervisor.around, supervisor.thread
    known = of_issue(supervisor.repository, around.wake.issue)
    alive = next((info for info in known if not info.ended), None)
    asked = _newest_request(supervisor, known)
    if alive is not None or (known and asked is None and not _by_label(supervisor)):
        return alive or known[0]
    if asked is None and around.wake.trigger == "state":
        # Whoever closes or reopens an issue asks for no run.
        return None
    if asked is None and not _by_label(supervisor):
        if around.wake.thread in {0, thread.number}:
            spoken = thread.spoken(thread.number)
            command = next((one for one in spoken if one.comment.id == around.wake.comment), None)
            label = supervisor.inputs.label
            no_run = reply("no_run", commands=supervisor.commands, label=label)
            supervisor.writer.say(no_run, command)
        return None
    try:
        return _begin(supervisor, asked)
    except BadOption as error:
        if asked is not None:
            # Once it is answered, no later event begins with it again.
            commands = supervisor.commands.replace(repeat=supervisor.commands.prefix)
            supervisor.writer.say(reply_to_error(error, around.links(), commands), asked)
        raise


def of_issue(repository: Repository, issue: int) -> list[RunInfo]:
    """The runs of an issue, newest first, those on the remote included."""
    for branch in repository.remote_branches():
        if issue_of_branch(branch) == issue:
            _take_over(repository, branch)
    return [info for info in runs(repository) if issue_of_branch(info.branch) == issue]


def _take_over(repository: Repository, branch: str) -> None:
    """Bring a branch to where the remote's is, and its files too on a machine that stays."""
    tree = repository.tree_of(branch)
    if tree is None:
        repository.take_over(branch)
        return
    there = repository.commit_id(f"refs/remotes/origin/{branch}")
    if tree.commit_id() != there and not tree.unpushed():
        tree.take_in(there)


def _newest_request(supervisor: "Supervisor", known: list[RunInfo]) -> ThreadCommand | None:
    """Return the newest request for a run that has led to none.

    A request before or during a run belongs to that run. An answered request is closed: its author
    was told how to proceed.
    """
    since = max((info.updated_at for info in known), default=None)
    spoken = supervisor.thread.spoken(supervisor.thread.number)
    starts = [one for one in spoken if isinstance(one.command, grammar.Start)]
    fresh = [start for start in starts if since is None or start.comment.created_at > since]
    newest = fresh[-1] if fresh else None
    return None if newest is None or supervisor.thread.answered(newest.comment) else newest


def _by_label(supervisor: "Supervisor") -> bool:
    wake = supervisor.around.wake
    return wake.trigger == "label" and wake.operation == "start"


def _begin(supervisor: "Supervisor", asked: ThreadCommand | None) -> RunInfo:
    repository, writer = supervisor.repository, supervisor.writer
    start = (
        asked.command
        if asked is not None and isinstance(asked.command, grammar.Start)
        else grammar.Start()
    )
    names = pipeline_names(repository.root)
    given, server = _given(supervisor, asked, start), supervisor.around.step.server
    draft = snapshot_request(supervisor.issue, supervisor.thread, given, server)
    labels = frozenset(label.casefold() for label in draft.labels)
    beginning = _new_run(supervisor, asked, start, draft, labels)
    mark = supervisor.inputs.label
    labelled = [name for name in names if f"{mark}:{name}".casefold() in labels]
    chosen = start.pipeline or next(iter(labelled), supervisor.config.pipeline)
    pipeline = load_pipeline(chosen, repository.root)
    if pipeline.steps is not None:
        inputs_of(pipeline.steps, f"{beginning.draft.title}\n{beginning.draft.text}")
    _check_readiness(supervisor, beginning, chosen)
    info = create_run(repository, beginning, pipeline)
    shown = command_replies.shown_back(writer.commands, line="", words=start.text)
    if asked is not None and shown is not None:
        writer.say(shown, asked)
    return info


def _new_run(
    supervisor: "Supervisor",
    asked: ThreadCommand | None,
    start: grammar.Start,
    draft: RequestDraft,
    labels: frozenset[str],
) -> NewRun:
    """Return the run that a command or a label asks for; its words count before labels."""
    around, name = supervisor.around, supervisor.inputs.label
    auto = start.auto or f"{name}:auto".casefold() in labels
    if auto and supervisor.config.approvals:
        raise BadOption(
            "The rules on approvals in .forge/config.yml leave nothing to --auto.",
            hint=f"Begin without it, or without the label {name}:auto.",
        )
    base = _base(supervisor.repository)
    by_label = f"label-{around.wake.issue}-{around.step.run_url.rpartition('/')[2]}"
    return NewRun(
        draft=draft,
        plan=plan_for(
            supervisor.repository,
            draft,
            effort=start.effort,
            name=None,
            branch=None,
            here=False,
            mark=name,
        ),
        flags=RunFlags(
            auto=auto,
            skip_pr=start.skip_pr,
            debug=start.debug,
            discuss=start.discuss,
            batch=start.batch,
            scope=scope_folder(supervisor.repository, start.scope, base.commit),
        ),
        budget=start.budget or around.budget or supervisor.config.amount,
        by=asked.by if asked is not None else around.wake.by or "",
        key=asked.key if asked is not None else by_label,
        base=base,
    )


def _given(supervisor: "Supervisor", asked: ThreadCommand | None, start: grammar.Start) -> Given:
    """Return the reason for the run: the comment that asks for it, or the label that started this
    job.

    The event's own text counts if the event is one of them.
    """
    around = supervisor.around
    woken = asked is None or asked.comment.id == around.wake.comment or _by_label(supervisor)
    comment = asked.comment if asked is not None else None
    return Given(around.step.payload if woken else "", comment, start.text, start.taken)


def _check_readiness(supervisor: "Supervisor", beginning: NewRun, pipeline: str) -> None:
    """Write warnings in the job's log. Raises NotReady for what a run must not begin with."""
    repository = supervisor.repository
    base = beginning.base or _base(repository)
    config = supervisor.config.replace(pipeline=pipeline)
    intent = RunIntent(
        branch=beginning.plan.branch,
        base=base.commit,
        scope=beginning.flags.scope,
        by=beginning.by,
    )
    results = run_checks(Occasion.BEFORE_RUN, CheckSubject(repository, config, intent))
    results.require()
    for check in results.advice:
        show_warning(f"{check.sentence} {check.way_out}")


def _base(repository: Repository) -> Head:
    """Return the default branch as fetched; the tree that is examined is on no branch."""
    default = repository.default_branch() or "main"
    return Head(default, repository.commit_id(f"refs/remotes/origin/{default}"))
