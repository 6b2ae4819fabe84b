"""The results of the reviews, and their open findings."""

from collections.abc import Mapping

from forge_bot.artifacts.requirement_table import with_requirement_words
from forge_bot.engine.state import ArtifactRecord
from forge_bot.interaction.fit_comment import fold, limited
from forge_bot.interaction.number_format import head, row
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, RunFacts, verdict_words
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.values import Finding


def reviews(view: RunFacts) -> str:
    """A table of all verdicts, in the order they were given."""
    given = [
        (name, record)
        for name, record in view.state.artifacts.items()
        if record.verdict is not None
    ]
    return limited(
        [_line(view, name, record) for name, record in given],
        "pull_request.more_reviews",
        before=f"### {say('pull_request.who_looked_at_it')}\n\n"
        + head(
            "columns.review",
            "columns.verdict",
            "columns.open_findings",
            align="llr",
        ),
        most=2_000,
    )


def open_findings(view: RunFacts, requirements: Mapping[str, str]) -> str:
    """Return the reviewers' open findings, folded, the most severe first, with the words of
    requirements by their numbers.
    """
    findings: list[tuple[Finding, str]] = [
        (finding, name)
        for name, record in view.state.artifacts.items()
        if record.verdict is not None
        for finding in record.findings
    ]
    ordered = sorted(findings, key=lambda pair: HEAVIEST_FIRST.index(pair[0].severity))
    lines = [
        f"- **{finding.severity}** "
        + escape.line(with_requirement_words(finding.description, requirements))
        + f" ({view.links.named(name)})"
        for finding, name in ordered
    ]
    if not lines:
        return ""
    label = say("pull_request.open_findings", count=len(ordered))
    return fold(label, limited(lines, "pull_request.more_findings", most=6_000))


def _line(view: RunFacts, name: str, record: ArtifactRecord) -> str:
    of = next(
        (
            task.spec.id
            for task in view.state.tasks
            if name in view.pipeline.task_documents(task.spec.id)
        ),
        "",
    )
    task = say("words.of_task", task=escape.plain(of, 20)) if of else ""
    label = view.links.labelled(f"{view.label(record.phase)}{task}", name)
    verdict = verdict_words(record.verdict)
    rounds = f", {say('progress.phases.round', round=record.round)}" if record.round > 1 else ""
    return row(label, f"{verdict}{rounds}", str(len(record.findings)))
