"""The worker: performs one run with models and the project's commands, without a token. Its
supervisor starts it, reads its outbox, and makes the commits.

`python -m forge_bot.bot.worker RUN` runs in the tree whose configuration counts. It stops at
decisions of people and at publication.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from forge_bot.agent.models.base import Model
from forge_bot.agent.tools.setup import SERVER_VARIABLES
from forge_bot.bot.worker_messages import (
    CANCELLED,
    Cancelled,
    Outbox,
    WorkerQuestion,
    WorkerStopped,
    stopped_by,
)
from forge_bot.engine import drive
from forge_bot.errors import ForgeError
from forge_bot.forge import WORKFLOWS
from forge_bot.git import Repository
from forge_bot.runs.agent_work.agents import Agents
from forge_bot.runs.find_runs import resolve_run
from forge_bot.runs.inquiry import Inquirer, answer_in
from forge_bot.runs.local_host import LocalHost
from forge_bot.runs.models_and_prompts import TierModels, end_batches, leaves_batches
from forge_bot.runs.open_run import open_run
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import time_limit
from forge_bot.settings.config import Config, load_config
from forge_bot.values import Tier


class Worker:
    """Performs one run until somebody else has to act."""

    def __init__(self, outbox: Outbox, environ: Mapping[str, str]) -> None:
        self.outbox = outbox
        # Servers get no variable that the workflow does not name.
        self.environ = {SERVER_VARIABLES: "", **environ}

    def work(self, folder: Path, name: str, asked: str = "") -> WorkerStopped:
        """Continue the run, or answer a question about it; return how it stopped."""
        repository = Repository.find(folder)
        config = load_config(repository.root)
        answer = ""
        try:
            with open_run(
                repository,
                resolve_run(repository, name),
                config,
                hand_over=self.outbox.hand_over,
            ) as run:
                if asked:
                    question = WorkerQuestion.model_validate_json(asked)
                    answer = self._answer(run, config, question)
                else:
                    asyncio.run(self._performed(run, config))
                    if leaves_batches(run):
                        end_batches(run, TierModels(config), self.environ, self.outbox.tell)
        except ForgeError as error:
            return stopped_by(error)
        except (Cancelled, KeyboardInterrupt):
            return CANCELLED
        return WorkerStopped(answer=answer)

    async def _performed(self, run: Run, config: Config) -> None:
        models: Mapping[Tier, Model] = TierModels(config)() if run.pipeline.speaking else {}
        agents = Agents(run, models, self.outbox.tell, environ=self.environ)
        async with time_limit(config.run_seconds):
            await drive(run.pipeline, run.state, LocalHost(agents, withheld=(f"{WORKFLOWS}/*",)))

    def _answer(self, run: Run, config: Config, asked: WorkerQuestion) -> str:
        agents = Agents(run, TierModels(config)(), self.outbox.tell, environ=self.environ)
        finished = Inquirer(agents, by=asked.by, via=asked.via).inquire(asked.text, asked.key)
        return (answer_in(finished) or finished.message)[:40_000]


def main() -> int:
    """Work on the run that the command line names."""
    outbox = Outbox()
    stopped = Worker(outbox, os.environ).work(Path.cwd(), *sys.argv[1:])
    outbox.send(stopped)
    return stopped.exit_code


if __name__ == "__main__":
    sys.exit(main())
