"""The whole prompt of an action, for a client's agent that reads and writes the files itself."""

from typing import TypeVar

from forge_bot.engine import SpawnAgent
from forge_bot.knowledge.profile import Profile
from forge_bot.prompts.environment import Environment
from forge_bot.runs.project_commands.kept_profiles import profile_at
from forge_bot.runs.prompt_material.prompt_context import PromptContext
from forge_bot.runs.run import Run
from forge_bot.runs.run_prompts import own_prompts

_WHICH = (
    "You do exactly one of the tasks below, the one whose id you were given: {ids}. What stands"
    " under the other tasks is not for you."
)
_KEPT = 8

Kept = TypeVar("Kept")


class AgentPrompts:
    """Makes prompts. Templates and profiles are kept: reading them takes longer than a prompt."""

    def __init__(self) -> None:
        self._environments: dict[tuple[object, ...], Environment] = {}
        self._profiles: dict[tuple[object, ...], Profile] = {}

    def prompt(self, run: Run, action: SpawnAgent) -> str:
        """Return the prompt. For several tasks it has all of them, and each agent does the one
        whose id it gets.
        """
        profile = self.profile(run)
        prompts = PromptContext(run, profile, self._environment(run), "files")
        settings = run.config.agent
        turns = (settings.turns, settings.requests_per_turn)
        tasks = action.parallel_task_ids or (None,)
        prompts = [
            prompts.prompt(action, task, turns, settings.prompt_tokens, run.ref)[0]
            for task in tasks
        ]
        if len(prompts) == 1:
            return prompts[0].text
        ids = " or ".join(str(task) for task in tasks)
        # The role is the same for all of them, and said once.
        parts = [
            f"# Task {task}\n\n{prompt.user.replace(prompt.role.strip(), '', 1).rstrip()}\n"
            for task, prompt in zip(tasks, prompts, strict=True)
        ]
        return "\n".join((prompts[0].system, prompts[0].role, _WHICH.format(ids=ids), "", *parts))

    def _environment(self, run: Run) -> Environment:
        overrides = own_prompts(run.repository.root)
        key = (tuple(sorted(overrides.items())), run.pipeline.agents)
        if key not in self._environments:
            environment = Environment(overrides=overrides)
            environment.check(run.pipeline.agents)
            _keep(self._environments, key, environment)
        return self._environments[key]

    def profile(self, run: Run) -> Profile:
        """Return the profile of a run's repository at its base commit."""
        state, config = run.state, run.config
        commands = str((config.commands, config.projects))
        key = (run.repository, state.base_commit, commands, state.flags.scope)
        if key not in self._profiles:
            found = profile_at(run.repository, state.base_commit, config, state.flags.scope)
            _keep(self._profiles, key, found)
        return self._profiles[key]


def _keep(kept: dict[tuple[object, ...], Kept], key: tuple[object, ...], value: Kept) -> None:
    while len(kept) >= _KEPT:
        kept.pop(next(iter(kept)))
    kept[key] = value
