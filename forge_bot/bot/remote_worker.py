"""Run the worker in a job of its own, without a token that may write. Its result is a folder."""

from collections.abc import Mapping
from pathlib import Path

from forge_bot.bot.job_context import JobContext
from forge_bot.bot.job_handoff import COMMITS, TOLD, JobRequest, JobResult, QuestionAnswered
from forge_bot.bot.step_permission import StepGate
from forge_bot.bot.supervised_worker import SupervisedWorker
from forge_bot.bot.worker_messages import WorkerStopped, stopped_by
from forge_bot.errors import BranchMoved, ForgeError
from forge_bot.git import Repository
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.open_run import open_run
from forge_bot.settings import load_config


class RemoteWorker:
    """Performs the work that was handed over. Commits are inspected here too, since only this
    machine knows the model's key and would recognise it.
    """

    def __init__(
        self, repository: Repository, around: JobContext, environ: Mapping[str, str]
    ) -> None:
        self.repository = repository
        self.shift = SupervisedWorker(
            repository,
            around,
            environ,
            lambda _inspector, after: self._good.append(after),
            StepGate(environ),
        )
        self._good: list[str] = []
        self._cancelled = False

    def cancel(self) -> None:
        """Stop soon; the work so far is delivered."""
        self._cancelled = True
        self.shift.cancel()

    def deliver(self, handed: JobRequest, folder: Path) -> JobResult:
        """Work, write the folder, and return its content."""
        folder.mkdir(parents=True, exist_ok=True)
        result = self._done(handed)
        if result.head != handed.commit:
            self.repository.make_bundle(folder / COMMITS, handed.commit, result.head)
        (folder / TOLD).write_text(result.model_dump_json(), encoding="utf-8")
        return result

    def _done(self, handed: JobRequest) -> JobResult:
        answers: list[QuestionAnswered] = []
        try:
            stopped = self._worked(handed, answers)
        except ForgeError as error:
            stopped = stopped_by(error)
        if self._cancelled:
            stopped = WorkerStopped(cancelled=True, exit_code=1)
        return JobResult(
            head=self._good[-1] if self._good else handed.commit,
            answers=tuple(answers),
            stopped=stopped,
        )

    def _worked(self, handed: JobRequest, answers: list[QuestionAnswered]) -> WorkerStopped:
        info = self._found(handed)
        for question in handed.questions:
            if not self._cancelled:
                stopped, text = self.shift.answered(
                    info, question.text, question.by, question.via, question.key
                )
                answers.append(
                    QuestionAnswered(key=question.key, text=text[:40_000], stopped=stopped)
                )
        return WorkerStopped() if self._cancelled else self.shift.work(info)

    def _found(self, handed: JobRequest) -> RunInfo:
        """Open the run with its work tree, at the commit that was handed over. Raises
        BranchMoved.
        """
        self.repository.take_over(handed.branch)
        info = resolve_run(self.repository, handed.run)
        if self.repository.commit_id(f"refs/heads/{handed.branch}") != handed.commit:
            raise BranchMoved(f"{handed.branch} was pushed to before the work began.")
        with open_run(self.repository, info, load_config(self.repository.root)):
            return resolve_run(self.repository, handed.run)
