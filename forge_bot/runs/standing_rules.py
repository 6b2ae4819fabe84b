"""The standing rules at a commit, and their texts for people."""

from forge_bot.engine.state import State
from forge_bot.git import Repository
from forge_bot.sentences import say
from forge_bot.settings.instructions import INSTRUCTIONS, Rules, parse_rules
from forge_bot.values import TaskMode


def rules_at(repository: Repository, commit: str) -> Rules:
    """Return the standing rules at a commit. Raises BadConfig."""
    raw = repository.read(commit, INSTRUCTIONS)
    return parse_rules(raw.decode("utf-8", "replace") if raw is not None else None)


def told(rules: Rules, state: State) -> tuple[str, ...]:
    """Return the rules for a question: before there are tasks, every rule; later the rules that
    gave a task to a person.
    """
    if not state.tasks:
        return tuple(rule.sentence for rule in rules.rules)
    gated = [task.spec for task in state.tasks if task.spec.mode is TaskMode.HUMAN_GATE]
    return tuple(
        say("question.waits_for_a_person", task=task.id, title=task.title, rule=rule.sentence)
        for task in gated
        for rule in rules.of(task)
    )
