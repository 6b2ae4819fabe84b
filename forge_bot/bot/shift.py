"""The worker's shift: a child process that performs, and every commit of it looked at before it counts."""

import json
from collections.abc import Callable, Mapping

from forge_bot.agent.redaction import secrets_of
from forge_bot.bot.checks import Inspector
from forge_bot.bot.child import Child, without_token
from forge_bot.bot.outbox import Answer, Committed, Said, Stopped
from forge_bot.bot.surroundings import Surroundings
from forge_bot.bot.thread import Spoken
from forge_bot.checkout import Repository
from forge_bot.errors import GitFailed
from forge_bot.gate import commands as said
from forge_bot.gate import outputs as log
from forge_bot.runs.find import RunInfo


class Shift:
    """Starts workers, one at a time. `pushed` is called for commits that were found good."""

    def __init__(
        self, repository: Repository, around: Surroundings, environ: Mapping[str, str], pushed: Callable[[Inspector, str], None]
    ) -> None:
        self.repository = repository
        self.around = around
        self.environ = environ
        self.pushed = pushed
        self._child: Child | None = None

    def cancel(self) -> None:
        """End the worker soon."""
        if self._child is not None:
            self._child.cancel()

    def work(self, info: RunInfo) -> Stopped:
        """Perform until somebody else has to act."""
        stopped, _ = self._started(info, (info.name,))
        return stopped

    def answer(self, info: RunInfo, spoken: Spoken) -> str:
        """What a model says to a question about the run; words about what stood in the way where it says nothing."""
        command = spoken.command
        question = command.question if isinstance(command, said.Ask) else ""
        return self.answered(info, question, spoken.by, spoken.comment.url, spoken.key)

    def answered(self, info: RunInfo, question: str, by: str, via: str, key: str) -> str:
        """The same, of a question that came another way."""
        asked = {"question": question, "by": by, "via": via, "key": key}
        stopped, answer = self._started(info, (info.name, json.dumps(asked)))
        return answer or f"{stopped.message} {stopped.hint}".strip()

    def _started(self, info: RunInfo, arguments: tuple[str, ...]) -> tuple[Stopped, str]:
        tree = self.repository.tree_of(info.branch)
        if tree is None:
            raise GitFailed(f"The work tree of {info.branch} is gone.", hint="Say it again: the tree is made anew from the branch.")
        inspector = Inspector(self.repository, tree, info.name, secrets_of(self.environ), workflows=self.around.push_workflows)
        pushed = tree.head().commit
        answer = ""
        self._child = child = Child(self.repository.root, arguments, without_token(self.environ, self.around.token))
        try:
            for message in child.messages():
                match message:
                    case Committed(head=head):
                        if head != pushed:
                            inspector.check(pushed, head)
                            self.pushed(inspector, head)
                            pushed = head
                        child.go_on()
                    case Said(level="warning"):
                        log.warning(message.text)
                    case Said():
                        log.line(message.text)
                    case Answer():
                        answer = message.text
        except BaseException:
            child.kill()
            raise
        finally:
            self._child = None
            stopped = child.stopped()
        return stopped, answer
