"""Applies the result of another machine: commits are inspected before they are pushed, answers
posted, and how it stopped.
"""

from pathlib import Path

from forge_bot.agent.redaction import secrets_of
from forge_bot.bot.inspect_commits import CommitInspector
from forge_bot.bot.job_handoff import COMMITS, JobRequest, JobResult, delivered
from forge_bot.bot.push_commits import push
from forge_bot.bot.supervisor import Ended, Supervisor, ended_by
from forge_bot.bot.worker_messages import WorkerStopped, as_error
from forge_bot.errors import BranchMoved, CommitsRefused, GitFailed
from forge_bot.git import Tree
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.outcome import Outcome


def run_of(supervisor: Supervisor, handed: JobRequest) -> RunInfo:
    """Open the run that was handed over, with its work tree."""
    supervisor.repository.take_over(handed.branch)
    with supervisor.opened(resolve_run(supervisor.repository, handed.run)):
        return resolve_run(supervisor.repository, handed.run)


def received(
    supervisor: Supervisor, info: RunInfo, handed: JobRequest, folder: Path
) -> Ended | None:
    """Apply the result in the folder; return how the run ended, None if it can continue.

    Raises NothingDelivered, CommitsRefused.
    """
    result = delivered(folder)
    tree = supervisor.repository.tree_of(info.branch)
    # Somebody pushed in the meantime: their commits count, and our work is done again from there.
    if tree is not None and tree.head().commit == handed.commit and result.head != handed.commit:
        try:
            _pushed(supervisor, tree, handed, result, folder)
        except BranchMoved:
            supervisor.given_way(info)
    return _answered(supervisor, info, handed, result) or _ended(supervisor, info, result.stopped)


def _pushed(
    supervisor: Supervisor, tree: Tree, handed: JobRequest, result: JobResult, folder: Path
) -> None:
    try:
        arrived = supervisor.repository.open_bundle(folder / COMMITS)
    except GitFailed as error:
        details = (error.message,)
        raise CommitsRefused("The worker's commits could not be read.", details=details) from error
    if arrived != result.head:
        raise CommitsRefused("The worker's commits are not those that it told of.")
    around, environ = supervisor.around, supervisor.environ
    inspector = CommitInspector(
        supervisor.repository,
        tree,
        handed.run,
        secrets_of(environ),
        workflows=around.push_workflows,
    )
    tree.take_in(arrived, lambda: inspector.check(handed.commit, arrived))
    push(tree, arrived)


def _answered(
    supervisor: Supervisor, info: RunInfo, handed: JobRequest, result: JobResult
) -> Ended | None:
    """Post the answers to these questions; return the end of the job if one could not be given."""
    given = {answer.key: answer for answer in result.answers}
    asked = {spoken.key: spoken for spoken in supervisor.thread.spoken(supervisor.thread.number)}
    ends: list[Ended | None] = []
    for question in handed.questions:
        if question.key in given and question.key in asked:
            answer = given[question.key]
            ends.append(supervisor.answered(info, asked[question.key], answer.stopped, answer.text))
    return next((end for end in ends if end is not None), None)


def _ended(supervisor: Supervisor, info: RunInfo, stopped: WorkerStopped) -> Ended | None:
    if stopped.cancelled:
        return Outcome.FAILED, supervisor.writer.cancelled()
    error = as_error(stopped) if stopped.code else None
    if error is None or isinstance(error, BranchMoved):
        return None
    return ended_by(supervisor.trouble(info, stopped))
