"""Tell who wrote, reviewed and decided a change: models by their names, people by their
logins.
"""

import re
from collections.abc import Iterable, Mapping

from forge_bot.artifacts.markdown import DEVIATIONS, items_below
from forge_bot.artifacts.read_artifact import with_requirement_words
from forge_bot.engine import drafts
from forge_bot.engine.gates import AUTO, SCRIPT, UNASKED
from forge_bot.engine.person_requirements import approved_with, person_requirements
from forge_bot.engine.state import ArtifactRecord, Decision
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Rows, fold
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.merge_commit_message import answering_models
from forge_bot.interaction.number_format import head
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, RunFacts, decided
from forge_bot.prompts import escape
from forge_bot.sentences import listed, say
from forge_bot.values import Finding

_ADDRESS = re.compile(r"https?://[\w./:#-]+", re.ASCII)


def conditions(
    view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]
) -> Rows | str:
    """Return what people approved with, and where the work differs from what they approved."""
    lines = [
        say(
            "pull_request.condition",
            by=escape.code(condition.by),
            text=in_words(condition.text, words),
        )
        for condition in person_requirements(view.state)
        if condition.via != UNASKED
    ]
    lines += [
        say("pull_request.deviation", text=in_words(text, words))
        for document in documents.values()
        for text in items_below(document, DEVIATIONS)
    ]
    before = f"### {say('pull_request.conditions_and_deviations')}\n\n"
    return Rows([*dict.fromkeys(lines)], "pull_request.more_conditions", before=before)


def authors(view: RunFacts) -> str:
    """Return which models wrote and reviewed what, and who decided, in one paragraph."""
    records = view.state.artifacts.values()
    given = [record for record in records if record.verdict is not None]
    writers = _by_model(view, [record for record in records if record.verdict is None])
    reviewers = _by_model(view, given)
    answers = dict.fromkeys(decided(one) for one in (*view.state.decisions, *view.state.agreed))
    sentences = [
        *([say("pull_request.written_by", models=writers)] if writers else []),
        *([say("pull_request.reviewed_by", models=reviewers)] if reviewers else []),
        *([say("pull_request.reviewed_by_no_person")] if given and not reviewers else []),
        *([say("pull_request.decided_by", answers="; ".join(answers))] if answers else []),
    ]
    return " ".join(sentences)


def corrections(view: RunFacts, requirements: Mapping[str, str]) -> str:
    """Return what a reviewer corrected in the draft of a change, one line each."""
    return "\n".join(
        say(
            "pull_request.corrected_by_the_reviewer",
            what=in_words(finding.words.removesuffix("Corrected.").rstrip(), requirements),
        )
        for record in view.state.artifacts.values()
        for finding in record.findings
        if finding not in drafts.open_findings(view.state, record)
    )


def _by_model(view: RunFacts, records: Iterable[ArtifactRecord]) -> str:
    """Return the models that wrote documents, each with the phases; empty where no report names
    one.
    """
    labels: dict[str, dict[str, None]] = {}
    for record in records:
        for model in answering_models(view.state, record.phase):
            labels.setdefault(model, {})[view.label(record.phase)] = None
    if len(labels) == 1:
        return escape.code(next(iter(labels)))
    return listed([f"{escape.code(model)} ({listed([*of])})" for model, of in labels.items()])


def open_findings(view: RunFacts, requirements: Mapping[str, str]) -> str:
    """Return the reviewers' open findings, folded, the most severe first, with the words of
    requirements by their numbers.
    """
    findings: list[tuple[Finding, str]] = [
        (finding, name)
        for name, record in view.state.artifacts.items()
        if record.verdict is not None
        for finding in drafts.open_findings(view.state, record)
    ]
    ordered = sorted(findings, key=lambda pair: HEAVIEST_FIRST.index(pair[0].severity))
    lines = [
        f"- **{finding.severity}** "
        + escape.line(with_requirement_words(finding.words, requirements))
        + f" ({view.links.named(name)})"
        for finding, name in ordered
    ]
    if not lines:
        return ""
    label = say("pull_request.open_findings", count=len(ordered))
    return fold(label, Rows(lines, "pull_request.more_findings").shown())


def decisions(view: RunFacts, words: Mapping[str, str]) -> Rows:
    state = view.state
    every = (*state.decisions, *state.agreed, *state.sent_back)
    answers = sorted(every, key=lambda decision: decision.at)
    noted = any(_words_of(decision) for decision in answers)

    before = head("columns.question", "columns.answer", *(["columns.notes"] if noted else []))
    lines = [
        render(
            "parts.decision",
            question=Markdown(_asked(view, decision, words)),
            decided=Markdown(decided(decision)),
            via=decision.via,
            linked=_is_comment_here(view, decision.via),
            unasked=decision.via == UNASKED,
            said=decision.via in {AUTO, SCRIPT},
            at=decision.at,
            version=short(decision.digest or ""),
            noted=noted,
            notes=Markdown(escape.cell(with_requirement_words(_words_of(decision), words), 600)),
        )
        for decision in answers
    ]
    return Rows(lines, "pull_request.more_decisions", before=before, room=4_000)


def _words_of(decision: Decision) -> str:
    """Return the notes of an answer, or what it was approved with."""
    return decision.notes or " · ".join(approved_with(decision))


def _is_comment_here(view: RunFacts, via: str) -> bool:
    """Return whether an answer was given in a comment of this repository."""
    home = view.links.repository
    return bool(home) and via.startswith(f"{home}/") and _ADDRESS.fullmatch(via) is not None


def _asked(view: RunFacts, decision: Decision, words: Mapping[str, str]) -> str:
    task = view.state.task(decision.task)
    if task is None:
        return view.label(decision.gate)
    of_task = say("words.of_task", task=escape.plain(task.spec.id, 20))
    title = escape.cell(with_requirement_words(task.spec.title, words), 100)
    return f"{view.label(decision.gate)}{of_task}: {title}"


def in_words(text: str, words: Mapping[str, str]) -> Markdown:
    return Markdown(escape.line(with_requirement_words(text, words)))
