"""The table of evidence: what was asked for, the tests of it, and how they ended before and after
the change.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forge_bot.artifacts.read_artifact import (
    MET,
    Requirement,
    read_requirements,
    with_requirement_words,
)
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.engine.state import State, TaskStatus
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Rows
from forge_bot.interaction.house_demands import Demand
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import head
from forge_bot.interaction.number_format import row as row_of
from forge_bot.interaction.run_facts import RunFacts
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.text_format import named_once
from forge_bot.values import CommandName, RequirementCheck
from forge_bot.verification.red_tests import names_test

_UNCHECKED = RequirementCheck(document="")
_MET, _LEFT_OUT = MET
_DONE = ("", _MET, "shown by the run", "shown by reading")
"""The states in which a requirement is part of the change."""

_OF_PAGES = re.compile(
    r"\b(?:document(?:ation|ed)|docstrings?|readme|changelog|release notes?|news entry"
    r"|type stubs?)\b",
    re.IGNORECASE,
)
"""What a requirement without tests is about that is shown by reading."""

_LONG_NAME = 30
_PIECES = re.compile(rf"\S{{1,{_LONG_NAME}}}$|\S{{1,{_LONG_NAME - 1}}}[_./:-]|\S{{1,{_LONG_NAME}}}")
_BEFORE_NAME = re.compile(r"\A[^\[\s]*::")
"""The file and the class before the name of a test."""
_SIMPLE_NAME = re.compile(r"(?!.*__)[A-Za-z0-9][\w./:-]*", re.ASCII)


class Evidence(NamedTuple):
    """The table of evidence, with what it lacks: the requirements that no green test shows, and
    those that are not part of the change.
    """

    table: Rows
    unproven: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    note: str = ""


def evidence(
    view: RunFacts,
    documents: Mapping[str, str],
    words: Mapping[str, str],
    demands: Sequence[Demand] = (),
) -> Evidence:
    """Return the evidence: what was asked for, the tests of it, and how they ended before and after
    the change. A model names the tests; how they ended is known from the commands that ran.
    """
    verification = view.state.verification
    check = (verification.requirements if verification is not None else None) or _UNCHECKED
    proof = verification.red_before_green if verification is not None else None
    proven = proof.tests if proof is not None else ()
    red = (*proven, *(name for result in view.state.baseline for name in result.failures))
    listed = _requirements(view, documents, check.document)
    judged = verification.results if verification is not None and not verification.red else ()
    passes = any(one.name is CommandName.TEST and not one.exit_code for one in judged)
    requirements = tuple(
        one.replace(by_present_tests=one.by_present_tests and passes)
        for one in listed or _planned(view.state)
    )
    named = [name for requirement in requirements for name in requirement.tests]
    others = tuple(test for test in proven if not any(names_test(name, test) for name in named))
    rows = [_Row(requirement, check, red, proven, words) for requirement in requirements]
    if others and len(rows) == 1 and not rows[0].counted:
        # A lone requirement is what the tests that turned green are about.
        rows = [_Row(requirements[0].replace(tests=others), check, red, proven, words)]
    elif others:
        text = say("pull_request.named_by_no_requirement")
        rows.append(_Row(Requirement(text=text, tests=others), check, red, proven, words))
    table = Rows(
        [*(row.shown() for row in rows), *(row_of(one.asked, one.outcome) for one in demands)],
        "pull_request.more_requirements",
        before=head("columns.requirement_and_tests", "columns.before_and_after"),
        where=_where(view),
        room=8_000,
    )
    base = escape.code(short(proof.base)) if proof is not None and proven else ""
    return Evidence(
        table,
        tuple(row.text for row in rows if listed and not row.shows),
        tuple(row.text for row in rows if row.state not in _DONE),
        say("pull_request.red_with", base=base) if base else "",
    )


def _requirements(
    view: RunFacts, documents: Mapping[str, str], checked: str
) -> tuple[Requirement, ...]:
    """Return the rows of the first table of requirements, that of the checked document first."""
    names = (*([checked] if checked else []), *view.pipeline.documents("requirements"))
    tables = (read_requirements(documents.get(name, "")) for name in names)
    return tuple(one for one in next(filter(None, tables), ()) if one.text.strip())


class _Row:
    """A requirement in its recorded words, with its tests and how many of them were red before and
    are green after.
    """

    def __init__(
        self,
        requirement: Requirement,
        check: RequirementCheck,
        red: Sequence[str],
        proven: Sequence[str],
        words: Mapping[str, str],
    ) -> None:
        self.text, number = requirement.text, "".join(requirement.ids)
        if number in words:
            self.text = f"{number}: {words[number]}"
        elif requirement.is_number:
            self.text = with_requirement_words(self.text, words)
        self.state = requirement.state.strip().casefold()
        self.tests, self.check = requirement.tests, check
        passed = {*check.ran, *proven}
        counted = {*requirement.tests} & {*passed, *check.failed, *check.not_run}
        self.counted, self.green = len(counted), len(counted & passed)
        self.by_present_tests = requirement.by_present_tests
        by_words = not counted and _OF_PAGES.search(self.text) is not None
        self.only_pages = requirement.only_pages or by_words
        self.red = sum(any(names_test(name, test) for test in red) for name in counted)

    @property
    def shows(self) -> bool:
        """Return whether the requirement is shown: by a green test, by the tests of before, or by
        reading where it is about pages of documentation alone; or a person left it out.
        """
        read = self.only_pages and self.state in _DONE
        return bool(self.green or self.by_present_tests or read or self.state == _LEFT_OUT)

    def shown(self) -> str:
        names = {
            name: Markdown(_test_name(_BEFORE_NAME.sub("", named_once(name))))
            for name in self.tests[:8]
        }
        return render("parts.evidence", row=self, names=names, done=_DONE)


def _test_name(name: str) -> str:
    """Return the name of a test for a cell. A browser breaks code at a `<wbr>` alone, so a long
    name has some: a telephone is 390 pixels wide.
    """
    if " " in name:
        return escape.cell(name, 100)
    if len(name) <= _LONG_NAME or not _SIMPLE_NAME.fullmatch(name):
        return escape.code_cell(name, 100)
    return f"<code>{'<wbr>'.join(map(escape.separate_signs, _PIECES.findall(name)))}</code>"


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
