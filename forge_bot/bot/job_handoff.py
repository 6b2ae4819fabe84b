"""Hand work from the job with the token to the job with the model, and its result back.

The supervisor writes a `JobRequest`, which travels as the output of a job. The worker's job writes
a `JobResult` into a folder, beside a bundle of commits, of which only the files count: the
publishing job records them anew, as it would those of a worker beside it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from forge_bot.bot.supervised_worker import SupervisedWorker
from forge_bot.bot.thread import ThreadCommand
from forge_bot.bot.worker_messages import ObjectId, WorkerQuestion, WorkerStopped, stopped_by
from forge_bot.errors import BranchMoved, ForgeError, NothingDelivered, NotInAction
from forge_bot.forge import write_line
from forge_bot.gate import grammar
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.notifications import Notice, log_line
from forge_bot.runs.open_run import held_tree, look_at_run
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.project_commands.installation import Installation, foundation
from forge_bot.runs.project_commands.project import project_of
from forge_bot.runs.run import Run
from forge_bot.settings.config import load_config
from forge_bot.values import Frozen

COMMITS = "commits.bundle"
TOLD = "delivered.json"
_MOST_QUESTIONS = 5
_LARGEST = 1_000_000


class JobRequest(Frozen):
    """The work of a worker: answer these questions, then continue the run from this commit."""

    run: str
    branch: str
    commit: str
    environment: str = ""
    """The key of a cache with the project's environment; empty for a project without setup."""
    questions: tuple[WorkerQuestion, ...] = ()


class JobResult(Frozen):
    """The result of a worker's job: the commits with its files, the oldest first; and how each
    worker stopped, by the key of its question, and the one that performed the run.
    """

    commits: tuple[ObjectId, ...] = Field(default=(), max_length=1_000)
    answers: dict[str, WorkerStopped] = Field(default={})
    stopped: WorkerStopped = WorkerStopped()


def request_work(run: Run, questions: Sequence[ThreadCommand]) -> JobRequest:
    """Return the request for the other machine. Everything is on the remote, so a worker can start
    there. Questions beyond the first few are left for the next job.
    """
    return JobRequest(
        run=run.name,
        branch=run.state.branch,
        commit=run.tree.commit_id(),
        environment=_environment_key(run),
        questions=tuple(map(question_of, questions[:_MOST_QUESTIONS])),
    )


def question_of(spoken: ThreadCommand) -> WorkerQuestion:
    """Return the question that a command asks."""
    text = spoken.command.question if isinstance(spoken.command, grammar.Ask) else ""
    return WorkerQuestion(text=text[:8_000], by=spoken.by, via=spoken.comment.url, key=spoken.key)


def handed(environ: Mapping[str, str]) -> JobRequest:
    """Return the request from the supervisor. Raises NotInAction."""
    try:
        return JobRequest.model_validate_json(environ.get("FORGE_BOT_HANDED", ""))
    except ValidationError:
        hint = "It is the output `handed` of the part hear, or of the part publish before."
        raise NotInAction(
            "FORGE_BOT_HANDED is not what a supervisor hands over.", hint=hint
        ) from None


def delivered(folder: Path) -> JobResult:
    """Return the result from the other machine. Raises NothingDelivered."""
    file = folder / TOLD
    if not file.is_file() or file.stat().st_size > _LARGEST:
        raise NothingDelivered("The job that works delivered nothing.")
    try:
        return JobResult.model_validate_json(file.read_bytes())
    except ValidationError:
        raise NothingDelivered("What the job that works delivered cannot be read.") from None


def perform_handed(
    repository: Repository,
    worker: SupervisedWorker,
    handed: JobRequest,
    commits: list[str],
    folder: Path,
) -> JobResult:
    """Perform what was handed over, and write the result into the folder, also when the job is
    being cancelled. `commits` get the worker's, whose files were looked at here too: only this
    machine knows the model's key and would recognise it.
    """
    answers: dict[str, WorkerStopped] = {}
    try:
        info = open_handed(repository, handed)
        if repository.commit_id(f"refs/heads/{handed.branch}") != handed.commit:
            raise BranchMoved(f"{handed.branch} was pushed to before the work began.")
        for question in handed.questions:
            if not (ended := worker.work(info, question)).cancelled:
                answers[question.key] = ended
        stopped = worker.work(info)
    except ForgeError as error:
        stopped = stopped_by(error)
    result = JobResult(commits=tuple(commits), answers=answers, stopped=stopped)
    folder.mkdir(parents=True, exist_ok=True)
    if commits:
        repository.make_bundle(folder / COMMITS, handed.commit, commits[-1])
    (folder / TOLD).write_text(result.model_dump_json(), encoding="utf-8")
    return result


def open_handed(repository: Repository, handed: JobRequest) -> RunInfo:
    """Open the run that was handed over, with its work tree."""
    repository.take_over(handed.branch)
    info = resolve_run(repository, handed.run)
    with held_tree(repository, info):
        return resolve_run(repository, handed.run)


def _environment_key(run: Run) -> str:
    base, scope = run.state.base_commit, run.state.flags.scope
    commands = profile_at(run.repository, base, run.config, scope).commands
    setup = [command.argv for command in commands.setup]
    return Installation(run.repository, foundation(run), setup, run.config).key


def set_up_handed(repository: Repository, handed: JobRequest) -> bool:
    """Set the environment of a handed run up, at its base commit; return whether it is complete."""
    run = look_at_run(repository, open_handed(repository, handed), load_config(repository.root))
    results = project_of(run, print_notice).set_up()
    return all(result.exit_code == 0 for result in results)


def print_notice(notice: Notice) -> None:
    """Print a notice as a line of the job's log."""
    if (line := log_line(notice)) is not None:
        write_line(line.text)
