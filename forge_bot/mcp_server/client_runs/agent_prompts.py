"""The whole prompt of an action, for a client's agent that reads and writes the files itself."""

from forge_bot.engine import SpawnAgent
from forge_bot.knowledge.profile import Profile
from forge_bot.prompts.environment import Environment
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.prompt_material.prompt_context import PromptContext
from forge_bot.runs.run import Run
from forge_bot.runs.run_prompts import own_prompts


def agent_prompt(run: Run, action: SpawnAgent) -> str:
    """Return the prompt. For several tasks it has all of them, and each agent does the one whose id
    it gets.
    """
    environment = Environment(overrides=own_prompts(run.repository.root))
    environment.check(run.pipeline.agents)
    context = PromptContext(run, profile_of(run), environment, "files")
    settings = run.config.agent
    turns = (settings.turns, settings.requests_per_turn)
    tasks = action.parallel_task_ids or (None,)
    prompts = [
        context.prompt(action, task, turns, settings.prompt_tokens, run.ref)[0] for task in tasks
    ]
    if len(prompts) == 1:
        return prompts[0].text
    # The role is the same for all of them, and said once.
    parts = [
        f"# Task {task}\n\n{prompt.user.replace(prompt.role.strip(), '', 1).rstrip()}\n"
        for task, prompt in zip(tasks, prompts, strict=True)
    ]
    which = (
        "You do exactly one of the tasks below, the one whose id you were given:"
        f" {' or '.join(map(str, tasks))}. What stands under the other tasks is not for you."
    )
    return "\n".join((prompts[0].system, prompts[0].role, which, "", *parts))


def profile_of(run: Run) -> Profile:
    """Return the profile of a run's repository at its base commit."""
    state = run.state
    return profile_at(run.repository, state.base_commit, run.config, state.flags.scope)
