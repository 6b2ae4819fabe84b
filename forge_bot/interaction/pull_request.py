"""The pull request of a run, for every host: the request and its source, the checks, the decisions
with their authors, and the cost.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from forge_bot.artifacts.design_outline import DesignOutline, read_outline
from forge_bot.artifacts.markdown import CAUSE, closes_its_blocks, first_paragraph, items_below
from forge_bot.artifacts.plans import ChangeType
from forge_bot.artifacts.read_artifact import (
    numbered_requirements,
    with_requirement_words,
    without_requirement_numbers,
)
from forge_bot.artifacts.test_paths import is_page
from forge_bot.engine.capability_uses import use_lines
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.state import Reason, State, TaskStatus, Verification
from forge_bot.interaction import markers
from forge_bot.interaction.check_table import commands, newly_red, outputs, reasons, warnings
from forge_bot.interaction.evidence_table import Evidence, evidence
from forge_bot.interaction.fit_comment import Papers, Rows, compose, fold
from forge_bot.interaction.house_demands import Demand
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.merge_commit_message import (
    answering_models,
    name_of_change,
    subject_of_change,
)
from forge_bot.interaction.number_format import may_be_billed, money, spent
from forge_bot.interaction.provenance import (
    authors,
    conditions,
    corrections,
    decisions,
    in_words,
    open_findings,
)
from forge_bot.interaction.pull_request_template import (
    Customs,
    Deeds,
    Description,
    asks_anything,
    fill_template,
    is_seen,
)
from forge_bot.interaction.run_facts import RunFacts, footer
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.text_format import command_line
from forge_bot.values import CommandName, CommandResult, Frozen
from forge_bot.verification.judgement import Cause, UnusableCommand, said_before

_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_NUMBERS = re.compile(r"\A(?:[RP]-\d+(?:, | and )?)+:\s*")
_TODAY = re.compile(r"\b(t)oday\b,?((?: .*?)?); (?:then|afterwards) ", re.DOTALL | re.IGNORECASE)
_MOST_LINES, _MOST_ROWS = 60, 12
_MANY_FILES = 4
_SYMPTOM, _CAUSES = "symptom", frozenset({"cause", "root cause", "the cause"})
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
    proof = evidence(view, documents, words, customs.demands)
    described = _description(view, documents, words)
    whole = _reasons(view, documents, words).replace(whole=described)
    template, asks = fill_template(customs.template, whole, _deeds(state, customs))
    left = "" if asks else _left(template)
    parts = [
        _closes(view, proof),
        _warnings(view, words, proof, customs.demands),
        f"### {say('pull_request.how_it_was_checked')}",
        proof.table,
        proof.note,
        *_checked(state.verification, state),
        conditions(view, documents, words),
        authors(view),
        open_findings(view, words),
        fold(
            f"<b>{say('pull_request.how_it_came_about')}</b>",
            compose([decisions(view, words), corrections(view, words), _cost(view)]),
        ),
        left,
        footer(view),
        markers.pull_request(state.run, view.links.commit or view.record),
    ]
    rows = _most_rows([described, *(part for part in parts if part != left)])
    body = compose([template if asks else described, *parts], rows=rows)
    return PullRequestText(
        title=title, body=escape.without_ci_signs(body), draft=_is_draft(state, proof)
    )


def _most_rows(parts: Sequence[str | Papers | Rows]) -> int:
    """Return how many rows each list may show, so that a reader sees at most sixty lines beside the
    repository's template.
    """
    for rows in range(_MOST_ROWS, 1, -1):
        seen = _FOLDED.sub("", compose(parts, rows=rows))
        if seen.count("\n") <= _MOST_LINES:
            return rows
    return 1


def _left(template: str) -> str:
    """Return a template without a place for the description, as a person finds it; one without
    headings and boxes is folded.
    """
    if not is_seen(template):
        return template
    if closes_its_blocks(template) and not asks_anything(template):
        return fold(say("pull_request.template"), template)
    return f"---\n\n{say('pull_request.template')}\n\n{template}"


def _deeds(state: State, customs: Customs) -> Deeds:
    """Return what our process did, as a template may ask for it."""
    verification = state.verification
    results = [*_judged(state)] if verification is not None and not verification.red else []
    passed = [one for one in results if one.exit_code == 0 and not one.timed_out]
    tests = [one for one in results if one.name is CommandName.TEST]
    models = ", ".join(escape.code(model) for model in answering_models(state, None))
    return Deeds(
        assistant=f"forge-bot ({models})" if models else "forge-bot",
        tests_pass=bool(tests) and all(one in passed for one in tests),
        passed=tuple(command_line(one.argv) for one in passed),
        changed=customs.changed,
    )


def _is_draft(state: State, proof: Evidence) -> bool:
    """Return whether evidence is missing: a command is red, a requirement has no green test, or
    there are doubts that no person took.
    """
    verification = state.verification
    if verification is None or verification.red or not _judged(state) or proof.unproven:
        return True
    return not {*verification.doubts} <= {*state.accepted_doubts}


def _description(view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return what was wrong, why, and what is different, as the design says it. The file to begin
    with, examples, effects and choices follow.
    """
    change = with_requirement_words(why(view, documents), words)
    outline = _outline(view, documents)
    code = [file.path for file in outline.files if not (file.is_test or is_page(file.path))]
    return render(
        "parts.description",
        change=Markdown(change),
        first=code[0] if code and len(outline.files) >= _MANY_FILES else "",
        examples=outline.examples,
        effects=[
            with_requirement_words(_TODAY.sub(_as_past, risk), words)
            for risk in outline.risks
            if not risk.startswith("Unverified")
        ],
        choices=[with_requirement_words(choice, words) for choice in outline.settled],
    )


def _outline(view: RunFacts, documents: Mapping[str, str]) -> DesignOutline:
    approaches = (documents.get(each, "") for each in view.pipeline.documents("approach"))
    return read_outline(next(filter(None, approaches), ""))


def _reasons(view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]) -> Description:
    """Return why something was wrong and how it is mended, for a template that asks for these."""
    kind = name_of_change(view.pipeline, view.state, documents).type
    cause = next(_causes(documents), "") if kind is ChangeType.FIX else ""
    new = say("pull_request.nothing_was_wrong") if kind is ChangeType.FEAT else ""
    code = [one for one in _outline(view, documents).files if not one.is_test]
    return Description(
        whole="",
        cause=in_words(_NUMBERS.sub("", cause), words) or new,
        way="\n".join(f"- {escape.code(one.path)}: {escape.line(one.change, 200)}" for one in code),
    )


def _as_past(today: re.Match[str]) -> str:
    """Return “today …; afterwards …” as it reads once the change is made."""
    return f"{'So' if today[1] == 'T' else 'so'} far{today[2]}; now "


def _causes(documents: Mapping[str, str]) -> Iterator[str]:
    """Yield what documents say of the cause: what is labelled so, else the first link of a chain
    that is not the symptom.
    """
    for text in documents.values():
        others: list[str] = []
        for item in items_below(text, CAUSE):
            label, colon, words = item.partition(":")
            kind = label.strip("* ").casefold()
            if colon and kind in _CAUSES:
                yield words.lstrip("* ")
            elif kind != _SYMPTOM:
                others.append(item)
        yield from others


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
        words = without_requirement_numbers(
            first_paragraph(documents.get(phase.writes, ""), heading)
        )
        if line := escape.line(words, 900):
            return line
    return escape.plain(view.state.title)


def _closes(view: RunFacts, proof: Evidence) -> str:
    """The one line that is meant to close an issue; where something of it is left, to name it."""
    source, tasks = view.state.source, view.state.tasks
    if not source.is_on_forge or not (source.id.isascii() and source.id.isdigit()):
        return ""
    left = proof.undone or view.patches or any(task.status is TaskStatus.SKIPPED for task in tasks)
    return f"{'Part of' if left else 'Closes'} #{int(source.id)}"


def _warnings(
    view: RunFacts, words: Mapping[str, str], proof: Evidence, demands: Sequence[Demand]
) -> Rows:
    state, verification = view.state, view.state.verification
    check = verification.requirements if verification is not None else None
    approved = [one for one in reversed(state.decisions) if one.answer == "approve"]
    lines = render(
        "parts.warnings",
        patches={Markdown(view.links.named(name)): files for name, files in view.patches.items()},
        verification=verification,
        judged=bool(_judged(state)),
        demands=demands,
        unproven=proof.unproven if _judged(state) else (),
        requirements=[in_words(one, words) for one in (check.said if check is not None else ())],
        unusable=[said_before(one) for one in state.unusable if _is_grave(one)],
        without=next((one.by for one in approved if one.reason is Reason.BASELINE), ""),
        accepted=[one for one in reversed(approved) if one.reason not in {None, Reason.BASELINE}],
        risks=[in_words(risk, words) for risk in dict.fromkeys(state.risks)],
    )
    return warnings([line for line in lines.splitlines() if line])


def _judged(state: State) -> tuple[CommandResult, ...]:
    """Return the results that count, without commands that a person left out."""
    results = state.verification.results if state.verification is not None else ()
    return _without(results, state.unusable)


def _without(
    results: Sequence[CommandResult], commands: Sequence[UnusableCommand]
) -> tuple[CommandResult, ...]:
    return tuple(one for one in results if not any(each.covers(one) for each in commands))


# -- how it came about
# --------------------------------------------------------------------------------------------------


def _checked(verification: Verification | None, state: State) -> list[str | Papers | Rows]:
    if verification is None:
        return [say("pull_request.commands_have_not_run")]
    if not verification.results:
        return [say("pull_request.no_command")]
    proof = verification.red_before_green
    unproven = [proof.said] if proof is not None and not proof.tests else []
    told = tuple(f"{said_before(one)};" for one in state.unusable if _is_grave(one))
    known = tuple(
        f"{one.name.value} (`{command_line(one.argv)}`) was red"
        for one in verification.results
        if one.name is not CommandName.TEST
    )
    notes = [one for one in verification.notes if not one.startswith((*told, *known))]
    not_installed = [command for command in state.unusable if command.left_out]
    return [
        commands(_without(verification.results, not_installed), state.baseline),
        reasons((*verification.reasons, *notes, *unproven)),
        *outputs(newly_red(verification.results, state.baseline), most=2),
    ]


def _is_grave(command: UnusableCommand) -> bool:
    """Return whether it stands first that a command tells nothing: of tests and setup."""
    return command.name is CommandName.TEST or command.cause is Cause.SETUP_FAILED


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
