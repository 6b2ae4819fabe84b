"""The pull request of a run, for every host: the request and its source, the checks, the decisions
with their authors, and the cost.
"""

import re
from collections.abc import Iterable, Mapping

from forge_bot.artifacts.requirement_table import (
    numbered_requirements,
    with_requirement_words,
    without_numbers,
)
from forge_bot.artifacts.sections import first_paragraph
from forge_bot.engine.capability_uses import use_lines
from forge_bot.engine.gates import AUTO, UNASKED
from forge_bot.engine.person_requirements import approved_with, person_requirements
from forge_bot.engine.state import (
    ArtifactRecord,
    Decision,
    Reason,
    State,
    Verification,
)
from forge_bot.interaction import markers
from forge_bot.interaction.change_message import answering_models, subject_of_change
from forge_bot.interaction.check_table import commands, outputs, reasons, warnings
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.evidence_table import evidence
from forge_bot.interaction.fit_comment import Papers, compose, fold, limited
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import head, may_be_billed, money, row, spent
from forge_bot.interaction.pull_request_template import Customs, fill_description
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, RunFacts, decided, footer, verdict_words
from forge_bot.prompts import escape
from forge_bot.sentences import listed, say
from forge_bot.values import CommandResult, Finding, Frozen
from forge_bot.verification.judgement import said_before

_ADDRESS = re.compile(r"https?://[\w./:#-]+", re.ASCII)
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

    It is a draft until the project's own commands have run and are green.
    """
    state = view.state
    described = why(view, documents)
    template, asks = fill_description(customs.template, described)
    words = {one.number: one.text for one in person_requirements(state)}
    for text in documents.values():
        words = numbered_requirements(text) | words
    body = compose(
        [
            template if asks else described,
            _closes(state),
            _warnings(view, words),
            f"### {say('pull_request.how_it_was_checked')}",
            evidence(view, documents, words),
            *_checked(state.verification, state),
            _reviews(view),
            _open_findings(view, words),
            _decisions(view),
            fold(
                f"<b>{say('pull_request.cost_and_documents')}</b>",
                f"{_cost(view)}\n\n{_documents(view)}",
            ),
            f"---\n\n{say('pull_request.template')}\n\n{template}" if template and not asks else "",
            footer(view),
            markers.pull_request(state.run, view.links.commit or view.record),
        ]
    )
    verification = state.verification
    green = verification is not None and bool(_judged(state)) and not verification.red
    return PullRequestText(
        title=subject_of_change(view.pipeline, state, documents, typed=customs.typed),
        body=escape.without_ci_signs(body),
        draft=not green,
    )


def why(view: RunFacts, documents: Mapping[str, str]) -> str:
    """The first paragraph of the summary, before there is one of the design; else the title."""
    for phase in (*view.pipeline.providing("summary"), *view.pipeline.providing("approach")):
        heading = next(iter(phase.headings), "")
        words = without_numbers(first_paragraph(documents.get(phase.writes, ""), heading))
        if line := escape.line(words, 900):
            return line
    return escape.plain(view.state.title)


def _closes(state: State) -> str:
    """The one line that is meant to close an issue."""
    source = state.source
    return (
        f"Closes #{int(source.id)}"
        if source.type == "github_issue" and source.id.isascii() and source.id.isdigit()
        else ""
    )


def _warnings(view: RunFacts, words: Mapping[str, str]) -> str:
    state, verification = view.state, view.state.verification
    check = verification.requirements if verification is not None else None
    approved = [one for one in reversed(state.decisions) if one.answer == "approve"]
    lines = render(
        "parts.warnings",
        patches={Markdown(view.links.named(name)): files for name, files in view.patches.items()},
        verification=verification,
        judged=bool(_judged(state)),
        requirements=[_in_words(one, words) for one in (check.said if check is not None else ())],
        unusable=list(map(said_before, state.unusable)),
        without=next((one.by for one in approved if one.reason is Reason.BASELINE), ""),
        accepted=[one for one in reversed(approved) if one.reason not in {None, Reason.BASELINE}],
        risks=[_in_words(risk, words) for risk in dict.fromkeys(state.risks)],
    )
    return warnings([line for line in lines.splitlines() if line])


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


def _checked(verification: Verification | None, state: State) -> list[str | Papers]:
    if verification is None:
        return [say("pull_request.commands_have_not_run")]
    if not verification.results:
        return [say("pull_request.no_command")]
    proof = verification.red_before_green
    unproven = [proof.said] if proof is not None and not proof.tests else []
    return [
        commands(verification.results, state.baseline),
        reasons((*verification.reasons, *verification.notes, *unproven)),
        *outputs(verification.results),
    ]


def _reviews(view: RunFacts) -> str:
    """Return which models wrote and reviewed what, and a table of all verdicts, in their order."""
    given = [
        (name, record)
        for name, record in view.state.artifacts.items()
        if record.verdict is not None
    ]
    table = limited(
        [_review_line(view, name, record) for name, record in given],
        "pull_request.more_reviews",
        before=head(
            "columns.review",
            "columns.verdict",
            "columns.open_findings",
            align="llr",
        ),
        most=2_000,
    )
    authors = _by_model(view, [one for one in view.state.artifacts.values() if one.verdict is None])
    reviewers = _by_model(view, [record for _, record in given])
    sentences = [
        *([say("pull_request.written_by", models=authors)] if authors else []),
        *([say("pull_request.reviewed_by", models=reviewers)] if reviewers else []),
        *([say("pull_request.reviewed_by_no_person")] if given and not reviewers else []),
    ]
    parts = [part for part in (" ".join(sentences), table) if part]
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


def _decisions(view: RunFacts) -> str:
    state = view.state
    answers = sorted((*state.decisions, *state.sent_back), key=lambda decision: decision.at)
    noted = any(_words_of(decision) for decision in answers)

    before = f"### {say('pull_request.who_decided')}\n\n" + head(
        "columns.question", "columns.answer", *(["columns.notes"] if noted else [])
    )
    lines = [
        render(
            "parts.decision",
            question=Markdown(_asked(view, decision)),
            decided=Markdown(decided(decision)),
            via=decision.via,
            linked=_is_comment_here(view, decision.via),
            unasked=decision.via == UNASKED,
            auto=decision.via == AUTO,
            at=decision.at,
            version=short(decision.digest or ""),
            noted=noted,
            notes=_words_of(decision),
        )
        for decision in answers
    ]
    return limited(lines, "pull_request.more_decisions", before=before, most=4_000)


def _words_of(decision: Decision) -> str:
    """Return the notes of an answer, or what it was approved with."""
    return decision.notes or " · ".join(approved_with(decision))


def _is_comment_here(view: RunFacts, via: str) -> bool:
    """Return whether an answer was given in a comment of this repository."""
    home = view.links.repository
    return bool(home) and via.startswith(f"{home}/") and _ADDRESS.fullmatch(via) is not None


def _asked(view: RunFacts, decision: Decision) -> str:
    task = view.state.task(decision.task)
    if task is None:
        return view.label(decision.gate)
    of_task = say("words.of_task", task=escape.plain(task.spec.id, 20))
    return f"{view.label(decision.gate)}{of_task}: {escape.cell(task.spec.title, 100)}"


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
