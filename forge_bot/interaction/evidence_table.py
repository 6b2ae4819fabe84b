"""The table of evidence: what was asked for, the tests of it, and how they ended before and after
the change.
"""

from collections.abc import Mapping, Sequence

from forge_bot.artifacts.requirement_table import (
    Requirement,
    read_requirements,
    with_requirement_words,
)
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.engine.state import State, TaskStatus
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import limited
from forge_bot.interaction.markdown_templates import render
from forge_bot.interaction.number_format import head
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.values import RequirementCheck
from forge_bot.verification.named_tests import names_test

_UNCHECKED = RequirementCheck(document="")


def evidence(view: RunFacts, documents: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return a table of what was asked for, the tests of it, and how they ended before and after
    the change. A model names the tests; how they ended is known from the commands that ran.
    """
    verification = view.state.verification
    check = verification.requirements if verification is not None else None
    proof = verification.red_before_green if verification is not None else None
    names = (*([check.document] if check else []), *view.pipeline.documents("requirements"))
    tables = (read_requirements(documents.get(name, "")) for name in names)
    requirements = [
        requirement
        for requirement in next(filter(None, tables), _planned(view.state))
        if requirement.text.strip()
    ]
    proven = proof.tests if proof is not None else ()
    named = [name for requirement in requirements for name in requirement.tests]
    others = tuple(test for test in proven if not any(names_test(name, test) for name in named))
    if others:
        text = say("pull_request.named_by_no_requirement")
        requirements.append(Requirement(text=text, tests=others))
    red = (*proven, *(name for result in view.state.baseline for name in result.failures))
    rows = [
        _evidence_row(requirement, check or _UNCHECKED, red, proven, words)
        for requirement in requirements
    ]
    columns = ("columns.requirement", "columns.tests", "columns.red_before", "columns.green_after")
    table = limited(
        rows, "pull_request.more_requirements", _where(view), before=head(*columns), most=8_000
    )
    if proof is None or not proven:
        return table
    return f"{table}\n\n{say('pull_request.red_with', base=escape.code(short(proof.base)))}"


def _evidence_row(
    requirement: Requirement,
    check: RequirementCheck,
    red: Sequence[str],
    proven: Sequence[str],
    words: Mapping[str, str],
) -> str:
    """Return a requirement in its recorded words, with its tests and how many of them were red
    before and are green after.
    """
    text, number = requirement.text, "".join(requirement.ids)
    if number in words:
        text = f"{number}: {words[number]}"
    elif requirement.is_number:
        text = with_requirement_words(text, words)
    green = {*check.ran, *proven}
    counted = {*requirement.tests} & {*green, *check.failed, *check.not_run}
    return render(
        "parts.evidence",
        text=text,
        state=requirement.state.strip().casefold(),
        tests=requirement.tests,
        check=check,
        counted=len(counted),
        red=sum(any(names_test(name, test) for test in red) for name in counted),
        green=len(counted & green),
    )


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
            tests=tuple(path for path in task.spec.files if belongs_to_tests(path)),
            state="" if task.status is TaskStatus.PASSED else task.status.value,
        )
        for task in state.tasks
    )
