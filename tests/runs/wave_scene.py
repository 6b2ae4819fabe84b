"""A small repository, a pipeline of tasks and nothing else, and a model that is a function: the
stage for waves of tasks.
"""

import json
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from forge_bot.agent.models.base import Model, ModelCall, ModelReply
from forge_bot.engine.reports import Report, RunFlags
from forge_bot.gate.arguments import Amount
from forge_bot.git import Repository
from forge_bot.runs.create_run import NewRun, create_run, plan_for
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.notifications import Notice
from forge_bot.runs.request_draft import draft_from_words
from forge_bot.runs.run import Run
from forge_bot.runs.session import Session
from forge_bot.runs.this_process import Outcome
from forge_bot.settings.config import Config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.values import Tier, Usage
from tests.fakes.script import HEADINGS

Answer = Mapping[str, object]
PIPELINE = """
kind: phases
id: develop
title: Tasks and nothing else
flows: {{S: light, M: standard, L: full}}
limits: {{parallel_tasks: {parallel}}}
phases:
  - {{id: setup, kind: setup, label: Setup, writes: request.md}}
  - {{id: phase-4, kind: agent, label: Tasks, agent: task-decomposer, tier: fast, reads: [request.md], writes: tasks.md, tasks: true}}
  - {{id: phase-5, kind: tasks, label: Implementation, agent: implementer, tier: strong, reads: [request.md, tasks.md],
     writes: "impl-{{task}}.md", headings: [Files Changed, Tests, Acceptance Criteria, Deviations], providers: [read_file]}}
  - {{id: completed, kind: end, label: Completed}}
  - {{id: checkpoint-c, kind: decision, label: Human Decides}}
"""


@dataclass(frozen=True)
class Planned:
    """One task as a decomposer plans it."""

    id: str
    files: tuple[str, ...]
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        files = "\n".join(f"- {name}" for name in self.files)
        return (
            f"## Task {self.id}: Work number {self.id}\nmode:"
            f" parallel\nfiles:\n{files}\ndepends_on: [{', '.join(self.needs)}]\n\nAcceptance"
            f" criteria:\n- [ ] AC-1: work {self.id} is done\n"
        )


def wrote(path: str, text: str) -> dict[str, str]:
    return {"path": path, "operation": "write", "old": "", "new": text}


def replaced(path: str, old: str, new: str) -> dict[str, str]:
    return {"path": path, "operation": "replace", "old": old, "new": new}


def done(*edits: Mapping[str, str]) -> Answer:
    """An implementer's finished work."""
    text = "# Done\n\n" + "\n\n".join(
        f"## {heading}\n\nAs asked." for heading in HEADINGS["implementer"]
    )
    return {"artifact_markdown": text, "edits": list(edits)}


def task_of(call: ModelCall) -> str:
    """Which task a question is about: the round of a replay key begins with it."""
    return call.key.round.split("/")[0]


@dataclass
class Talker:
    """A model that plans the given tasks, and lets `implement` answer for each."""

    tasks: Sequence[Planned]
    implement: Callable[[ModelCall], Awaitable[Answer]]
    name: str = "fake:talker"
    cost: Decimal | None = None
    calls: list[ModelCall] = field(default_factory=list[ModelCall])

    async def ask(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        if call.key.agent == "task-decomposer":
            answer: Answer = {"artifact_markdown": "# Tasks\n\n" + "\n".join(map(str, self.tasks))}
        else:
            answer = await self.implement(call)
        return ModelReply(
            text=json.dumps(answer),
            usage=Usage(calls=1, input_tokens=1000, output_tokens=100, cost=self.cost),
        )

    def asked(self, task: str) -> list[ModelCall]:
        return [
            call for call in self.calls if call.key.agent == "implementer" and task_of(call) == task
        ]


@dataclass
class Stage:
    """A repository in `path`, and runs in it."""

    path: Path
    notices: list[Notice] = field(default_factory=list[Notice])

    @staticmethod
    def made(path: Path, files: Mapping[str, str], parallel: int = 4) -> "Stage":
        for name, text in {
            ".forge/pipelines/develop.yaml": PIPELINE.format(parallel=parallel),
            **files,
        }.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text, encoding="utf-8")
        stage = Stage(path)
        stage.git("init", "-q", "-b", "main")
        stage.git("add", "-A")
        stage.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "start")
        return stage

    def git(self, *words: str, given: str | None = None) -> str:
        return subprocess.run(
            ["git", "-C", str(self.path), *words],
            input=given,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def start(self, budget: Decimal | None = None, *, batch: bool = False, by: str = "") -> RunInfo:
        repository = Repository.find(self.path)
        draft = draft_from_words("Do all the work that there is")
        plan = plan_for(repository, draft, effort="L", name=None, branch=None, here=False)
        return create_run(
            repository,
            NewRun(
                draft=draft, plan=plan, budget=Amount(budget), flags=RunFlags(batch=batch), by=by
            ),
            load_pipeline("develop", repository.root),
        )

    def go_on(
        self,
        talker: Model,
        first: Callable[[Run], Report | None] | None = None,
        config: Config | None = None,
        run: str | None = None,
    ) -> tuple[Outcome, Run]:
        repository = Repository.find(self.path)
        session = Session(
            repository,
            config or Config(),
            lambda: dict.fromkeys(Tier, talker),
            self.notices.append,
            lambda _question: None,
        )
        return session.go_on(resolve_run(repository, run), first)

    @property
    def branch(self) -> str:
        return next(
            name
            for name in self.git("branch", "--format=%(refname:short)").splitlines()
            if name.startswith("feature/")
        )

    def files(self) -> dict[str, str]:
        """Everything on the run's branch outside the record."""
        names = self.git("ls-tree", "-r", "--name-only", self.branch).splitlines()
        return {
            name: self.git("show", f"{self.branch}:{name}")
            for name in names
            if not name.startswith(".")
        }

    def landed(self) -> list[str]:
        """The tasks in the order of their commits."""
        told = self.git(
            "log",
            "--reverse",
            "--format=%(trailers:key=Forge-Task,valueonly,separator=)",
            f"main..{self.branch}",
        )
        return [line for line in told.splitlines() if line]
