"""The pull request of a run, for every host: the request and its source, the checks, the decisions
with their authors, and the cost.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from forge_bot.artifacts.change_name import ChangeType
from forge_bot.artifacts.design_outline import read_outline
from forge_bot.artifacts.requirement_table import (
    numbered_requirements,
    with_requirement_words,
    without_numbers,
)
from forge_bot.artifacts.sections import (
    CAUSE,
    DEVIATIONS,
    first_paragraph,
    first_words,
    items_below,
)
from forge_bot.engine.capability_uses import use_lines
from forge_bot.engine.gates import AUTO, SCRIPT, UNASKED
from forge_bot.engine.person_requirements import approved_with, person_requirements
from forge_bot.engine.state import (
    ArtifactRecord,
    Decision,
    Reason,
    State,
    TaskStatus,
    Verification,
)
from forge_bot.interaction import markers
from forge_bot.interaction.change_message import (
    answering_models,
    name_of_change,
    subject_of_change,
)
from forge_bot.interaction.check_table import commands, outputs, reasons, warnings
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.evidence_table import Evidence, evidence
from forge_bot.interaction.fit_comment import Papers, Rows, compose, fold, limited
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import head, may_be_billed, money, row, spent
from forge_bot.interaction.pull_request_template import Customs, fill_description
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, RunFacts, decided, footer, verdict_words
from forge_bot.prompts import escape
from forge_bot.sentences import listed, say
from forge_bot.values import CommandResult, Finding, Frozen
from forge_bot.verification.judgement import said_before

_ADDRESS = re.compile(r"https?://[\w./:#-]+", re.ASCII)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_MOST_LINES, _MOST_ROWS = 60, 12
_MOST_USES = 20
_USUAL = Customs()


class PullRequestText(Frozen):
    """A pull request as GitHub takes it."""

    title: str
    body: str
    draft: bool


def pull_request(
    view: RunFacts, documents: Mapping[str, str], customs: Customs = _USUAL
) -> PullRequestText:
    """Title and body, from the state and the texts of the run's documents by name; those that are
    missing are left out. The repository's own template stands whole: at the beginning where it asks
    for a description, else at the end.

    It is a draft until the project's own commands are green and show what was asked for.
    """
    state = view.state
    title = subject_of_change(view.pipeline, state, documents, typed=customs.typed)
    words = requirement_words(state, documents)
    proof = evidence(view, documents, words)
    described = _description(view, documents, words)
    template, asks = fill_description(customs.template, described)
    parts = [
        _closes(view, proof),
        _warnings(view, words, proof),
        f"### {say('pull_request.how_it_was_checked')}",
        proof.table,
        proof.note,
        *_checked(state.verification, state),
        _conditions(view, documents, words),
        _reviews(view),
        _open_findings(view, words),
        _decisions(view, words),
        fold(
            f"<b>{say('pull_request.cost_and_documents')}</b>",
            f"{_cost(view)}\n\n{_documents(view)}",
        ),
        f"---\n\n{say('pull_request.template')}\n\n{template}" if template and not asks else "",
        footer(view),
        markers.pull_request(state.run, view.links.commit or view.record),
    ]
    rows = _most_rows([described, *parts], template)
    body = compose([template if asks else described, *parts], rows=rows)
    return PullRequestText(
        title=title, body=escape.without_ci_signs(body), draft=_is_draft(state, proof)
    )


def _most_rows(parts: Sequence[str | Papers | Rows], template: str) -> int:
    """Return how many rows each list may show, so that a reader sees at most sixty lines beside the
    repository's template.
    """
    most = _MOST_LINES + template.count("\n")
    for rows in range(_MOST_ROWS, 1, -1):
        seen = _FOLDED.sub("", compose(parts, rows=rows))
        if seen.count("\n") <= most:
            return rows
    return 1


def _is_draft(state: State, proof: Evidence) -> bool:
    """Return whether evidence is missing: a command is red, a requirement has no green test, or
    there are doubts that no person took.
    """
    verification = state.verification
    if verification is None or verification.red or not _judged(state) or proof.unproven:
        return True
    return not {*verification.doubts} <= {*state.accepted_doubts}


def _description(view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return what was wrong, why, and what is different; of a change that mends nothing, the last
    alone. The file to begin with follows.
    """
    change = with_requirement_words(why(view, documents), words)
    name = name_of_change(view.pipeline, view.state, documents)
    causes = (first_words(text, CAUSE) for text in documents.values())
    cause = next(filter(None, causes), "") if name.type is ChangeType.FIX else ""
    approaches = (documents.get(each, "") for each in view.pipeline.documents("approach"))
    files = [file for text in approaches for file in read_outline(text).files if not file.is_test]
    return render(
        "parts.description",
        symptom=view.state.title,
        cause=_in_words(cause, words),
        change=Markdown(change),
        first=next(iter(files), None),
    )


def requirement_words(state: State, documents: Mapping[str, str]) -> dict[str, str]:
    """Return the words of all requirements by their numbers."""
    words = {one.number: one.text for one in person_requirements(state)}
    for text in documents.values():
        words = numbered_requirements(text) | words
    return words


def why(view: RunFacts, documents: Mapping[str, str]) -> str:
    """The first paragraph of the summary, before there is one of the design; else the title."""
    for phase in (*view.pipeline.providing("summary"), *view.pipeline.providing("approach")):
        heading = next(iter(phase.headings), "")
        words = without_numbers(first_paragraph(documents.get(phase.writes, ""), heading))
        if line := escape.line(words, 900):
            return line
    return escape.plain(view.state.title)


def _closes(view: RunFacts, proof: Evidence) -> str:
    """The one line that is meant to close an issue; where something of it is left, to name it."""
    source, tasks = view.state.source, view.state.tasks
    if source.type != "github_issue" or not (source.id.isascii() and source.id.isdigit()):
        return ""
    left = proof.undone or view.patches or any(task.status is TaskStatus.SKIPPED for task in tasks)
    return f"{'Part of' if left else 'Closes'} #{int(source.id)}"


def _warnings(view: RunFacts, words: Mapping[str, str], proof: Evidence) -> Rows:
    state, verification = view.state, view.state.verification
    check = verification.requirements if verification is not None else None
    approved = [one for one in reversed(state.decisions) if one.answer == "approve"]
    lines = render(
        "parts.warnings",
        patches={Markdown(view.links.named(name)): files for name, files in view.patches.items()},
        verification=verification,
        judged=bool(_judged(state)),
        unproven=proof.unproven if _judged(state) else (),
        requirements=[_in_words(one, words) for one in (check.said if check is not None else ())],
        unusable=list(map(said_before, state.unusable)),
        without=next((one.by for one in approved if one.reason is Reason.BASELINE), ""),
        accepted=[one for one in reversed(approved) if one.reason not in {None, Reason.BASELINE}],
        risks=[_in_words(risk, words) for risk in dict.fromkeys(state.risks)],
    )
    return warnings([line for line in lines.splitlines() if line])


def _conditions(
    view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]
) -> Rows | str:
    """Return what people approved with, and where the work differs from what they approved."""
    lines = [
        say(
            "pull_request.condition",
            by=escape.code(condition.by),
            text=_in_words(condition.text, words),
        )
        for condition in person_requirements(view.state)
    ]
    lines += [
        say("pull_request.deviation", text=_in_words(text, words))
        for document in documents.values()
        for text in items_below(document, DEVIATIONS)
    ]
    before = f"### {say('pull_request.conditions_and_deviations')}\n\n"
    return Rows(lines, "pull_request.more_conditions", before=before)


def _in_words(text: str, words: Mapping[str, str]) -> Markdown:
    return Markdown(escape.line(with_requirement_words(text, words)))


def _judged(state: State) -> list[CommandResult]:
    """Return the results that count, without commands that a person left out."""
    results = state.verification.results if state.verification is not None else ()
    return [
        result
        for result in results
        if not any(command.covers(result) for command in state.unusable)
    ]


# -- how it came about
# --------------------------------------------------------------------------------------------------


def _checked(verification: Verification | None, state: State) -> list[str | Papers | Rows]:
    if verification is None:
        return [say("pull_request.commands_have_not_run")]
    if not verification.results:
        return [say("pull_request.no_command")]
    proof = verification.red_before_green
    unproven = [proof.said] if proof is not None and not proof.tests else []
    return [
        commands(verification.results, state.baseline),
        reasons((*verification.reasons, *verification.notes, *unproven)),
        *outputs(verification.results, most=2),
    ]


def _reviews(view: RunFacts) -> str:
    """Return which models wrote and reviewed what, and all verdicts, in their order, folded."""
    given = [
        (name, record)
        for name, record in view.state.artifacts.items()
        if record.verdict is not None
    ]
    table = limited(
        [_review_line(view, name, record) for name, record in given],
        "pull_request.more_reviews",
        before=head("columns.review", "columns.verdict", "columns.open_findings", align="llr"),
        most=2_000,
    )
    authors = _by_model(view, [one for one in view.state.artifacts.values() if one.verdict is None])
    reviewers = _by_model(view, [record for _, record in given])
    sentences = [
        *([say("pull_request.written_by", models=authors)] if authors else []),
        *([say("pull_request.reviewed_by", models=reviewers)] if reviewers else []),
        *([say("pull_request.reviewed_by_no_person")] if given and not reviewers else []),
    ]
    verdicts = fold(say("pull_request.verdicts", count=len(given)), table) if given else ""
    parts = [part for part in (" ".join(sentences), verdicts) if part]
    return "\n\n".join([f"### {say('pull_request.who_wrote_and_reviewed_it')}", *parts])


def _by_model(view: RunFacts, records: Iterable[ArtifactRecord]) -> str:
    """Return the models that wrote documents, each with the phases; empty where no report names
    one.
    """
    labels: dict[str, dict[str, None]] = {}
    for record in records:
        for model in answering_models(view.state, record.phase):
            labels.setdefault(model, {})[view.label(record.phase)] = None
    return listed([f"{escape.code(model)} ({listed([*of])})" for model, of in labels.items()])


def _open_findings(view: RunFacts, requirements: Mapping[str, str]) -> str:
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


def _review_line(view: RunFacts, name: str, record: ArtifactRecord) -> str:
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


def _decisions(view: RunFacts, words: Mapping[str, str]) -> Rows:
    state = view.state
    answers = sorted((*state.decisions, *state.sent_back), key=lambda decision: decision.at)
    noted = any(_words_of(decision) for decision in answers)

    before = f"### {say('pull_request.who_decided')}\n\n" + head(
        "columns.question", "columns.answer", *(["columns.notes"] if noted else [])
    )
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


def _cost(view: RunFacts) -> str:
    state, usage = view.state, view.state.usage
    paid = spent(usage, state.budget) if state.budget.cap is not None else money(usage.cost)
    return render(
        "parts.cost",
        paid=Markdown(paid),
        usage=usage,
        lost=may_be_billed(usage),
        uses=use_lines(state)[:_MOST_USES],
    )


def _documents(view: RunFacts) -> str:
    of_tasks = {
        name for task in view.state.tasks for name in view.pipeline.task_documents(task.spec.id)
    }
    names = [name for name in view.state.artifacts if name.endswith(".md") and name not in of_tasks]
    named = [view.links.named(name) for name in dict.fromkeys(("request.md", *names))]
    return say(
        "pull_request.everything_that_led_here",
        documents=listed(named[:12]),
        all=view.links.all_documents(say("pull_request.all_documents")),
    )
