"""The prompts of an action, for a client's agents that read and write the files themselves."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.engine import SpawnAgent
from forge_bot.knowledge.profile import Profile
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import Prompt
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.prompt_material.prompt_context import PromptContext
from forge_bot.runs.run import Run
from forge_bot.runs.run_prompts import own_prompts
from forge_bot.store import SPECS, write_whole


class PromptPath(NamedTuple):
    """The file of a prompt, with `{task}` where there is one for each task; and the characters of
    the longest.
    """

    path: str
    size: int

    @property
    def text(self) -> str:
        """Return the prompt that leads an agent to it."""
        which = ", with the id of your task for {task}" if "{task}" in self.path else ""
        return f"Read {self.path}{which} ({self.size:,} characters) whole, and do what it says."


def make_prompts(run: Run, action: SpawnAgent) -> tuple[tuple[Prompt, ...], tuple[str, ...]]:
    """Return the prompt of an action, or one for each of its tasks; and the documents that agents
    have to read.
    """
    environment = Environment(overrides=own_prompts(run.repository.root))
    environment.check(run.pipeline.agents)
    context = PromptContext(run, read_profile(run), environment, "files")
    settings = run.config.agent
    turns = (settings.turns, settings.requests_per_turn)
    tasks = action.parallel_task_ids or (None,)
    made = [context.prompt(action, task, turns, settings.prompt_tokens, run.ref) for task in tasks]
    further = {name for _, material in made for name in material.further}
    read = tuple(name for name in action.input_files if name not in further)
    return tuple(prompt for prompt, _ in made), read


def join_prompts(prompts: Sequence[Prompt], tasks: Sequence[str]) -> str:
    """Return one text with all prompts: each agent does the task whose id it gets. The role is said
    once.
    """
    if len(prompts) == 1:
        return prompts[0].text
    which = (
        "You do exactly one of the tasks below, the one whose id you were given:"
        f" {' or '.join(tasks)}. What stands under the other tasks is not for you."
    )
    parts = (
        f"# Task {task}\n\n{prompt.user.replace(prompt.role.strip(), '', 1).rstrip()}\n"
        for task, prompt in zip(tasks, prompts, strict=True)
    )
    return "\n".join((prompts[0].system, prompts[0].role, which, "", *parts))


def write_prompts(run: Run, action: SpawnAgent, prompts: Sequence[Prompt]) -> PromptPath:
    """Write the prompts where git does not see them, and return their place."""
    folder = prompt_folder(run)
    write_whole(folder.parent / ".gitignore", "*\n")
    tasks = action.parallel_task_ids
    names = [f"{action.phase}-{task}.md" for task in tasks or ()] or [f"{action.phase}.md"]
    for name, prompt in zip(names, prompts, strict=True):
        write_whole(folder / name, prompt.text)
    name = f"{action.phase}-{{task}}.md" if len(prompts) > 1 else names[0]
    path = (folder / name).relative_to(run.tree.path).as_posix()
    return PromptPath(path, max(len(prompt.text) for prompt in prompts))


def prompt_folder(run: Run) -> Path:
    """Return the folder of the prompts that are handed out as paths."""
    return run.tree.path / SPECS / ".prompts" / run.name


def read_profile(run: Run) -> Profile:
    """Return the profile of a run's repository at its base commit."""
    state = run.state
    return profile_at(run.repository, state.base_commit, run.config, state.flags.scope)
