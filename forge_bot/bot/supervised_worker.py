"""Run the worker as a child process, and inspect each of its commits before it is pushed."""

import json
from collections.abc import Callable, Mapping

from forge_bot.agent.redaction import secrets_of
from forge_bot.bot.inspect_commits import CommitInspector
from forge_bot.bot.job_context import JobContext
from forge_bot.bot.step_permission import StepGate
from forge_bot.bot.thread import ThreadCommand
from forge_bot.bot.worker_messages import (
    ActionEnded,
    Committed,
    InquiryAnswer,
    LogMessage,
    StepBegins,
    WorkerStopped,
)
from forge_bot.bot.worker_process import WorkerProcess, without_token
from forge_bot.errors import GitFailed
from forge_bot.gate import grammar as said
from forge_bot.gate import outputs as log
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo
from forge_bot.sentences import say


class SupervisedWorker:
    """Starts workers, one at a time. `pushed` is called for commits that were found good; steps
    that a worker tells of wait at `gate`.
    """

    def __init__(
        self,
        repository: Repository,
        around: JobContext,
        environ: Mapping[str, str],
        pushed: Callable[[CommitInspector, str], None],
        gate: StepGate,
    ) -> None:
        self.repository = repository
        self.around = around
        self.environ = environ
        self.pushed = pushed
        self.gate = gate
        self._child: WorkerProcess | None = None
        self._cancelled = False
        self._done = False

    def cancel(self) -> None:
        """End the worker soon, and start no further one."""
        self._cancelled = True
        if self._child is not None:
            self._child.cancel()

    def stop_after_this(self) -> None:
        """End the worker at the commit that is being inspected: it is pushed, and nothing is begun
        after it.
        """
        self._done = True

    def work(self, info: RunInfo) -> WorkerStopped:
        """Perform until somebody else has to act."""
        stopped, _ = self._started(info, (info.name,))
        return stopped

    def answer(self, info: RunInfo, spoken: ThreadCommand) -> tuple[WorkerStopped, str]:
        """Return a model's answer to a question about the run; empty after a problem."""
        command = spoken.command
        question = command.question if isinstance(command, said.Ask) else ""
        return self.answered(info, question, spoken.by, spoken.comment.url, spoken.key)

    def answered(
        self, info: RunInfo, question: str, by: str, via: str, key: str
    ) -> tuple[WorkerStopped, str]:
        """Return a model's answer to a question that did not come from the thread."""
        asked = {"question": question, "by": by, "via": via, "key": key}
        return self._started(info, (info.name, json.dumps(asked)))

    def _started(self, info: RunInfo, arguments: tuple[str, ...]) -> tuple[WorkerStopped, str]:
        tree = self.repository.tree_of(info.branch)
        if tree is None:
            raise GitFailed(
                say("bot.supervised_worker.work_tree_is_gone", branch=info.branch),
                hint=say("bot.supervised_worker.say_it_again"),
            )
        inspector = CommitInspector(
            self.repository,
            tree,
            info.name,
            secrets_of(self.environ),
            workflows=self.around.push_workflows,
        )
        pushed = tree.head().commit
        answer = ""
        self._child = child = WorkerProcess(
            self.repository.root, arguments, without_token(self.environ, self.around.token)
        )
        if self._cancelled:
            # A signal may have arrived while the worker was being started.
            child.cancel()
        try:
            for message in child.messages():
                match message:
                    case Committed(head=head):
                        if head != pushed:
                            inspector.check(pushed, head)
                            self.pushed(inspector, head)
                            pushed = head
                        if self._done:
                            child.hang_up()
                        else:
                            child.go_on()
                    case StepBegins():
                        self.gate.begin(message)
                        child.go_on()
                    case ActionEnded():
                        self.gate.ended(message)
                    case LogMessage(level=level, text=text):
                        (log.warning if level == "warning" else log.line)(text)
                    case InquiryAnswer():
                        answer = message.text
        except BaseException:
            child.kill()
            raise
        finally:
            self._child = None
            stopped = child.stopped()
        return stopped, answer
