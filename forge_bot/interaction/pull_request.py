"""The pull request of a run, for every host: the request and its source, the checks, the decisions
with their authors, and the cost.
"""

import re
from collections.abc import Mapping

from forge_bot.artifacts.requirement_table import (
    Requirement,
    numbered_requirements,
    read_requirements,
    with_requirement_words,
    without_numbers,
)
from forge_bot.artifacts.sections import first_paragraph
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.engine.capability_uses import use_lines
from forge_bot.engine.gates import UNASKED
from forge_bot.engine.person_requirements import approved_with, person_requirements
from forge_bot.engine.state import Decision, Reason, State, Verification
from forge_bot.interaction import markers
from forge_bot.interaction.check_table import commands, outputs, reasons, warnings
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Papers, compose, limited
from forge_bot.interaction.number_format import head, may_be_billed, money, row, spent
from forge_bot.interaction.pull_request_template import Customs, fill_description
from forge_bot.interaction.review_table import open_findings, reviews
from forge_bot.interaction.run_facts import RunFacts, decided, footer
from forge_bot.interaction.title_of_change import subject_of_change
from forge_bot.prompts import escape
from forge_bot.sentences import listed, say
from forge_bot.values import CommandResult, Frozen, RequirementCheck
from forge_bot.verification.judgement import said_before
from forge_bot.verification.unusable_commands import UnusableCommand

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
            _requirements(view, documents, words),
            f"### {say('pull_request.how_it_was_checked')}",
            *_checked(state.verification, state),
            reviews(view),
            open_findings(view, words),
            _decisions(view),
            f"### {say('pull_request.what_it_cost')}\n\n{_cost(view)}",
            _documents(view),
            "" if asks else template,
            footer(view),
            markers.pull_request(state.run),
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
    state = view.state
    warned = [
        say(
            "pull_request.yours_to_push",
            files=listed([escape.code(path) for path in paths[:5]]),
            patch=view.links.named(name),
        )
        for name, paths in view.patches.items()
    ]
    if state.verification is None:
        warned.append(say("pull_request.not_verified_yet"))
    elif state.verification.red:
        warned.append(
            say(
                "pull_request.red_and_accepted"
                if state.verification.accepted
                else "pull_request.verification_is_red"
            )
        )
    elif not _judged(state):
        warned.append(
            say(
                "pull_request.nothing_was_verified"
                if state.unusable
                else "pull_request.no_command_checks_it"
            )
        )
    if state.verification is not None and state.verification.requirements is not None:
        sentences = state.verification.requirements.said
        warned += [escape.line(with_requirement_words(each, words)) for each in sentences]
    warned += [_without(state, each) for each in state.unusable]
    warned += [
        _accepted(decision)
        for decision in state.decisions
        if decision.reason not in {None, Reason.BASELINE} and decision.answer == "approve"
    ]
    risks = dict.fromkeys(state.risks)
    warned += [escape.line(with_requirement_words(risk, words)) for risk in risks]
    return warnings(warned)


def _judged(state: State) -> list[CommandResult]:
    """Return the results that count, without commands that a person left out."""
    results = state.verification.results if state.verification is not None else ()
    return [result for result in results if not any(each.covers(result) for each in state.unusable)]


def _without(state: State, each: UnusableCommand) -> str:
    who = next(
        (
            say("pull_request.said_to_go_on_without_it", by=escape.code(decision.by))
            for decision in reversed(state.decisions)
            if decision.reason is Reason.BASELINE and decision.answer == "approve"
        ),
        "",
    )
    return say("pull_request.not_judged", said=escape.line(said_before(each)), who=who)


def _accepted(decision: Decision) -> str:
    reason = decision.reason.value.replace("_", " ") if decision.reason is not None else ""
    task = (
        say("words.of_task", task=escape.plain(decision.task, 20))
        if decision.task is not None
        else ""
    )
    return say("pull_request.in_spite_of", by=escape.code(decision.by), reason=reason, task=task)


# -- requirement, files, tests
# --------------------------------------------------------------------------------------------------


def _requirements(view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return the verifier's finding for each requirement, else the reviewer's. Without a table of
    theirs, return the results of the tasks.
    """
    requirements = next(
        (
            rows
            for name in view.pipeline.documents("requirements")
            if (rows := read_requirements(documents.get(name, "")))
        ),
        (),
    ) or _planned(view.state)
    before = f"### {say('pull_request.what_was_asked_for')}\n\n"
    verification = view.state.verification
    check = verification.requirements if verification is not None else None
    return limited(
        [_requirement(each, check, words) for each in requirements if each.text.strip()],
        "pull_request.more_requirements",
        _where(view),
        before=before,
        most=10_000,
    )


def _requirement(
    each: Requirement, check: RequirementCheck | None, words: Mapping[str, str]
) -> str:
    """Return a requirement with its state, and below it where it is and which tests show it.

    It is no row of a table: names of tests do not break, and a telephone would cut them off.
    """
    state = f" · {escape.line(each.state, 80)}" if each.state.strip() else ""
    places = [
        say(name, names=_names(names, check))
        for name, names in (
            ("pull_request.in_files", each.files),
            ("pull_request.shown_by_tests", each.tests),
        )
        if names
    ]
    below = f"  \n  {' · '.join(places)}" if places else ""
    text = with_requirement_words(each.text, words) if each.is_number else each.text
    return f"- {escape.line(text, 300)}{state}{below}"


def _where(view: RunFacts) -> str:
    names = (*view.pipeline.documents("requirements"), *view.pipeline.task_lists)
    name = next((name for name in names if name in view.state.artifacts), "")
    return (
        view.links.named(name) if name else view.links.all_documents(say("pull_request.documents"))
    )


def _planned(state: State) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            text=task.spec.title,
            files=tuple(path for path in task.spec.files if not belongs_to_tests(path)),
            tests=tuple(path for path in task.spec.files if belongs_to_tests(path)),
            state=task.status.value,
        )
        for task in state.tasks
    )


def _names(names: tuple[str, ...], check: RequirementCheck | None) -> str:
    shown = [f"{_name(name)}{_marked(name, check)}" for name in names[:8]]
    if more := len(names) - len(shown):
        return ", ".join(shown) + say("words.and_more", count=more)
    return ", ".join(shown)


def _name(name: str) -> str:
    """Return the name of a file or test as code, and words that stand in their place as words."""
    return escape.line(name, 100) if " " in name else escape.code(name, 100)


def _marked(name: str, check: RequirementCheck | None) -> str:
    """Return the problem of a name, if forge-bot looked for it."""
    if check is None:
        return ""
    marks = (
        (check.not_found, say("pull_request.not_found")),
        (check.not_run, say("pull_request.not_seen_to_run")),
        (check.failed, say("pull_request.failed")),
    )
    return next((f" (⚠️ {mark})" for names, mark in marks if name in names), "")


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
        commands(verification.results, state.baseline, proof),
        reasons((*verification.reasons, *verification.notes, *unproven)),
        *outputs(verification.results),
    ]


def _decisions(view: RunFacts) -> str:
    state = view.state
    answers = sorted((*state.decisions, *state.sent_back), key=lambda each: each.at)
    noted = any(_words_of(each) for each in answers)

    def line(each: Decision) -> str:
        version = f", {escape.code(short(each.digest))}" if each.digest else ""
        answer = f"{decided(each)}, {_where_said(view, each)}{version}"
        notes = [escape.cell(_words_of(each), 600)] if noted else []
        return row(_asked(view, each), answer, *notes)

    before = f"### {say('pull_request.who_decided')}\n\n" + head(
        "columns.question", "columns.answer", *(["columns.notes"] if noted else [])
    )
    return limited(
        [line(each) for each in answers],
        "pull_request.more_decisions",
        before=before,
        most=6_000,
    )


def _words_of(decision: Decision) -> str:
    """Return the notes of an answer, or what it was approved with."""
    return decision.notes or " · ".join(approved_with(decision))


def _where_said(view: RunFacts, decision: Decision) -> str:
    """Return the comment as a link if it is one of this repository, else the way of the answer."""
    home = view.links.repository
    if home and decision.via.startswith(f"{home}/") and _ADDRESS.fullmatch(decision.via):
        return f"[{say('pull_request.in_a_comment')}]({decision.via})"
    return escape.code(decision.via) if decision.via == UNASKED else escape.cell(decision.via, 40)


def _asked(view: RunFacts, decision: Decision) -> str:
    task = view.state.task(decision.task)
    if task is None:
        return view.label(decision.gate)
    of_task = say("words.of_task", task=escape.plain(task.spec.id, 20))
    return f"{view.label(decision.gate)}{of_task}: {escape.cell(task.spec.title, 100)}"


def _cost(view: RunFacts) -> str:
    state, usage = view.state, view.state.usage
    paid = spent(usage, state.budget) if state.budget.cap is not None else money(usage.cost)
    cached = (
        say("pull_request.cached", cached_tokens=usage.cached_tokens) if usage.cached_tokens else ""
    )
    used = "".join(
        f"\n- {escape.code(use_line.name)}: {escape.line(use_line.words, 300)}"
        f"{f', {money(use_line.cost)}' if use_line.cost is not None else ''}"
        for use_line in use_lines(state)[:_MOST_USES]
    )
    tools = f"\n\n{say('pull_request.tools_and_skills')}\n{used}" if used else ""
    cost = say(
        "pull_request.cost",
        paid=paid,
        count=usage.calls,
        input=usage.input_tokens,
        cached=cached,
        output=usage.output_tokens,
    )
    lost = escape.line(may_be_billed(usage))
    return f"{cost}{f' · {lost}' if lost else ''}{tools}"


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
