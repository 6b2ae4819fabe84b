"""A run as it is on disk or on its branch, read without its lock, and the standing rules at a
commit. Nothing is changed.
"""

from typing import NamedTuple

from forge_bot.engine import Pipeline, State
from forge_bot.engine.reports import RunStarted
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, artifact_text, raw_file
from forge_bot.sentences import say
from forge_bot.settings import Config
from forge_bot.settings.instructions import INSTRUCTIONS, Rules, parse_rules
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, read_reports, read_state
from forge_bot.values import TaskMode


class RunSnapshot(NamedTuple):
    """One run as it was when it was read."""

    repository: Repository
    info: RunInfo
    pipeline: Pipeline
    state: State

    def artifact(self, name: str) -> str | None:
        """The text of an artifact, or None."""
        return artifact_text(self.repository, self.info, name)

    @property
    def rules(self) -> Rules:
        """The standing rules, as of the commit that the run is based on. Raises BadConfig."""
        return rules_at(self.repository, self.state.base_commit)


def run_snapshot(repository: Repository, info: RunInfo, config: Config) -> RunSnapshot:
    """Return the run, folded from its reports. Raise ReportsDamaged."""
    pipeline, state = folded(
        repository, config, raw_file(repository, info, REPORTS) or b"", info.name
    )
    return RunSnapshot(repository, info, pipeline, state)


def folded(repository: Repository, config: Config, raw: bytes, run: str) -> tuple[Pipeline, State]:
    """Return the pipeline that the first report names, and the state that all of them lead to.
    Raise ReportsDamaged.
    """
    place = f"{SPECS}/{run}/{REPORTS}"
    reports = read_reports(raw, place)
    first = reports[0] if reports else None
    pipeline = load_pipeline(
        first.pipeline if isinstance(first, RunStarted) else config.pipeline, repository.root
    )
    return pipeline, read_state(pipeline, raw, place)


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
