"""The standing rules at a commit, and what a person is told of them."""

from collections.abc import Iterator

from forge_bot.engine.state import State
from forge_bot.errors import BadConfig
from forge_bot.git import Repository
from forge_bot.runs.preflight_findings import PreflightFinding
from forge_bot.settings.instructions import INSTRUCTIONS, Rules, load_rules
from forge_bot.values import TaskMode


def rules_at(repository: Repository, commit: str) -> Rules:
    """Return the standing rules at a commit. Raises BadConfig."""

    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None else None

    return load_rules(read)


def told(rules: Rules, state: State) -> tuple[str, ...]:
    """Return the rules for a question: before there are tasks each as it stands, then those that made a task a person's."""
    if not state.tasks:
        return tuple(rule.sentence for rule in rules.rules)
    gated = [task.spec for task in state.tasks if task.spec.mode is TaskMode.HUMAN_GATE]
    return tuple(f"Task {task.id} ({task.title}) waits for a person: {rule.sentence}" for task in gated for rule in rules.of(task))


def rule_findings(repository: Repository, base: str) -> Iterator[PreflightFinding]:
    """Yield a refusal for rules that cannot be read, a note on those that count, and a warning where the work tree has others."""
    try:
        rules = rules_at(repository, base)
    except BadConfig as error:
        sentence = " ".join((error.message, *error.details))
        yield PreflightFinding(what="rules", weight="refuse", sentence=sentence, way_out=f"Correct {INSTRUCTIONS} and commit it.")
        return
    if rules.rules:
        names = ", ".join(rule.id for rule in rules.rules)
        yield PreflightFinding(what="rules", weight="note", sentence=f"Rules of {INSTRUCTIONS} count for this run: {names}.")
    committed = repository.read(base, INSTRUCTIONS)
    here = repository.text_here(INSTRUCTIONS)
    if here is not None and here.encode() != committed:
        sentence = f"{INSTRUCTIONS} in the work tree is another one than in the commit that the run begins at."
        yield PreflightFinding(what="rules", weight="warn", sentence=sentence, way_out="Commit it, if it is to count.")
