"""The demo's run, finished, in a repository that has any number of past runs: every prompt of it
can be made again.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from forge_bot.agent.providers.context import ProviderContext
from forge_bot.engine import SpawnAgent, State, advance, next_action, start
from forge_bot.engine.reports import RunStarted
from forge_bot.git import Repository, Tree
from forge_bot.prompts.material import Material, Prompt
from forge_bot.runs.capabilities.outside_capabilities import describe_capability
from forge_bot.runs.models_and_prompts import prompts_for
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.prompt_material.prompt_context import PromptContext
from forge_bot.runs.run import Run
from forge_bot.settings.config import Config
from forge_bot.store.run_folder import SPECS, Workspace
from forge_bot.values import TaskId
from tests.fakes.bench import Bench

_TURNS = (6, 8)
_TOKENS = 60_000
_PACKED = ("-c", "fastimport.unpackLimit=1")
"""However few objects there are, they are in a pack, as after a clone."""


class Step(NamedTuple):
    """One prompt that the run needed: the state it was made in, the action, and the task of it."""

    state: State
    action: SpawnAgent
    task: TaskId | None


class Finished(NamedTuple):
    """A finished run and everything its prompts are made from."""

    repository: Repository
    base: str
    prompts: PromptContext
    steps: tuple[Step, ...]

    def prompt(self, step: Step) -> tuple[Prompt, Material]:
        """The prompt of a step, made anew."""
        self.prompts.run.state = step.state
        return self.prompts.prompt(step.action, step.task, _TURNS, _TOKENS, step.state.branch)


class Demo(NamedTuple):
    """The demo that was played: its repository has the branch of the run; and what was printed."""

    repository: Repository
    out: str


def demo(folder: Path, python: str = sys.executable) -> Demo:
    """The demo, played in a folder."""
    target = folder / "demo"
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    done = subprocess.run(
        [python, "-m", "forge_bot", "demo", str(target), "--yes"],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Demo(Repository.find(target), done.stdout)


def finished(played: Repository, folder: Path, past: int) -> Finished:
    """The run of a demo that was played, as if its repository had had so many past runs when it
    began.
    """
    branch = next(name for name in played.branches() if name.startswith("feature/"))
    before, after = (_files(played, ref) for ref in ("main", branch))
    root, tree = folder / "repository", folder / "tree"
    base = _imported(root, before, after, branch, past)
    # Not checked out: only what git holds and the run's own record count for a prompt, and
    # thousands of files take their time.
    _git(root, "worktree", "add", "--quiet", "--no-checkout", str(tree), branch)
    for path, data in after.items():
        if path.startswith(f"{SPECS}/"):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(data)
    repository = Repository.find(root)
    name = next(path.split("/")[1] for path in after if path.startswith(f"{SPECS}/"))
    return _opened(repository, tree, name, base)


def committed(run: Finished, files: dict[str, str]) -> str:
    """The id of a commit on top of the base, with some files changed."""
    changed = ((path, text.encode()) for path, text in files.items())
    _git(
        run.repository.root,
        "fast-import",
        "--quiet",
        stdin=b"".join(_commit("later", "more", changed, parent="main")),
    )
    return _git(run.repository.root, "rev-parse", "later")


def _opened(repository: Repository, tree: Path, name: str, base: str) -> Finished:
    config = Config()
    run = Run(repository, Tree(tree), Workspace(tree, name), config)
    context = ProviderContext(tree)
    profile = profile_at(repository, base, config)
    prompts = PromptContext(run, profile, prompts_for(repository.root, run.pipeline))
    prompts.capabilities = tuple(describe_capability(entry) for entry in context.catalogue())
    return Finished(repository, base, prompts, tuple(_steps(run, base)))


def _steps(run: Run, base: str) -> Iterator[Step]:
    first, *others = run.workspace.reports()
    if not isinstance(first, RunStarted):
        raise TypeError(first)
    state = start(run.pipeline, first)
    for report in others:
        action = next_action(run.pipeline, state)
        if isinstance(action, SpawnAgent):
            # The approvals name the commit that the run really began at, so only the prompts see
            # the other one.
            for task in action.parallel_task_ids or (None,):
                yield Step(state.replace(base_commit=base), action, task)
        state = advance(run.pipeline, state, report)


def _files(repository: Repository, ref: str) -> dict[str, bytes]:
    return repository.read_many(ref, repository.list_files(ref))


def _imported(
    root: Path, before: dict[str, bytes], after: dict[str, bytes], branch: str, past: int
) -> str:
    """A repository with both states, made by git-fast-import(1); the id of the earlier one."""
    earlier = (
        (
            f"{SPECS}/20200101-{number:03}-past/state.json",
            Bench()
            .state.replace(title=f"Widget {number} is {number % 7} wide")
            .model_dump_json(by_alias=True)
            .encode(),
        )
        for number in range(past)
    )
    _git(root.parent, "init", "--quiet", "--initial-branch=main", str(root))
    stream = (
        _commit("main", "as it was", chain(before.items(), earlier)),
        _commit(branch, "the run\n\nForge-Task: 1\n", iter(after.items()), parent="main"),
    )
    _git(root, *_PACKED, "fast-import", "--quiet", stdin=b"".join(chain.from_iterable(stream)))
    return _git(root, "rev-parse", "main")


def _commit(
    branch: str, message: str, files: Iterator[tuple[str, bytes]], parent: str = ""
) -> Iterator[bytes]:
    yield f"commit refs/heads/{branch}\ncommitter A <a@b.c> 1700000000 +0000\n".encode() + _data(
        message.encode()
    )
    if parent:
        yield f"from refs/heads/{parent}\n".encode()
    for path, data in files:
        yield f"M 100644 inline {path}\n".encode() + _data(data)
    yield b"\n"


def _data(raw: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(raw), raw)


def _git(folder: Path, *words: str, stdin: bytes | None = None) -> str:
    return (
        subprocess.run(
            ["git", "-C", str(folder), *words], input=stdin, capture_output=True, check=True
        )
        .stdout.decode()
        .strip()
    )
