"""Find what tests prove of a change: those of a defect fail without its rest and pass with it,
those that a table of requirements names ran, none was weakened unsaid, and red tests run again at
both commits, to tell flaky ones from red. Unit tests may stand in a source file beside the code
they test, as Rust has them.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from forge_bot.agent.assignment import HEADING
from forge_bot.artifacts.markdown import without_section
from forge_bot.artifacts.plans import ChangeType
from forge_bot.artifacts.read_artifact import Requirement, read_requirements
from forge_bot.artifacts.test_paths import belongs_to_tests, is_test_file
from forge_bot.engine import State
from forge_bot.engine.phases import VerifyPhase
from forge_bot.git.commit_history import changed
from forge_bot.git.commit_objects import changed_files, commit_on
from forge_bot.interaction.merge_commit_message import name_of_change
from forge_bot.project.test_guard.read_tests import read_tests
from forge_bot.project.test_guard.weakened_tests import files_to_compare, weakened_tests
from forge_bot.runs.branch_for_merge import newest_base
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import command_line
from forge_bot.values import (
    CommandName,
    CommandResult,
    RedBeforeGreen,
    RequirementCheck,
    WeakenedTests,
)
from forge_bot.verification.command_outcome import CommandOutput
from forge_bot.verification.judgement import UNNAMED, Cause, cause_of
from forge_bot.verification.red_tests import (
    MOST_RERUN,
    Moment,
    flaky_tests,
    is_listed,
    is_red_script,
    names_test,
    newly_red,
    of_files,
    plain_name,
    red_at_base,
    why_not_red,
)
from forge_bot.verification.runners import select_files, select_tests, uncached

_AS_IT_IS = ("utf-8", "surrogateescape")
_NAME = re.compile(
    r"(?<![A-Za-z])(?:tests?|spec|should)(?![a-z])|(?:Tests?|Spec|Should)(?![a-z])|::|/"
)
"""A part of the name of a file or of a test."""


class OnlyTests(NamedTuple):
    """A commit with the tests of a change and nothing else of it, on no branch, and their files;
    `beside_code` says that some of them hold code too, and `untouched` are the titles of tests in
    them that are as they were.
    """

    commit: str
    files: tuple[str, ...]
    beside_code: bool
    untouched: frozenset[str]


def red_before_green(
    outputs: Sequence[CommandOutput], state: State, run: Run, project: Project
) -> RedBeforeGreen | None:
    """Return the proof for a change that mends a defect; None for any other change."""
    if not _is_defect(state, run):
        return None
    head = project.tree.commit_id()
    only = _only_tests(run, head)
    if only is None:
        return RedBeforeGreen(missing="No file of tests and no unit test was added or changed.")
    judged = _judged(outputs, state)
    if not judged:
        return RedBeforeGreen(missing="No test command counts for this run.", foreseen=True)
    at_base = [_without_change(output.result.argv, project, only) for output in judged]
    red = [
        name
        for output, there in zip(judged, at_base, strict=True)
        for name in _find_red_there(output, there, state, only)
    ]
    if not red:
        return RedBeforeGreen(missing=next(why_not_red([there.result for there in at_base])))
    proved = tuple(name for name in red if _passes_now(name, judged))
    if not proved:
        return RedBeforeGreen(missing="No command ran the tests that fail without the change.")
    return RedBeforeGreen(tests=proved, files=only.files, base=newest_base(run), head=head)


def _judged(outputs: Sequence[CommandOutput], state: State) -> list[CommandOutput]:
    """Return the outcomes of the test commands that count for the run."""
    return [
        output
        for output in outputs
        if output.result.name is CommandName.TEST
        and not any(command.covers(output.result) for command in state.unusable)
    ]


def result_before(result: CommandResult, state: State) -> CommandResult | None:
    """Return what a command did before the change."""
    words = (result.name, result.argv)
    return next((one for one in state.baseline if (one.name, one.argv) == words), None)


def _is_defect(state: State, run: Run) -> bool:
    """Return whether the request or the design calls the change a fix."""
    plan = run.pipeline.approved_first
    named = ["request.md", *([plan.writes] if plan is not None else [])]
    texts = {name: run.workspace.read(name) for name in named if run.workspace.read_bytes(name)}
    request = {name: text for name, text in texts.items() if name == "request.md"}
    kinds = {name_of_change(run.pipeline, state, source).type for source in (texts, request)}
    return ChangeType.FIX in kinds


def _only_tests(run: Run, head: str) -> OnlyTests | None:
    """Return the tests of the run's change at the commit before it; None if it changes none."""
    base, repository = newest_base(run), run.repository
    changed_here = changed_files(repository.root, base, head)
    paths = [path for path in changed_here if not path.startswith(f"{SPECS}/")]
    now = repository.read_many(head, paths)
    tests: dict[str, bytes | None] = {
        path: now.get(path) for path in paths if belongs_to_tests(path)
    }
    sources = dict(_tests_beside_code(repository.read_many(base, paths), now))
    if not tests and not sources:
        return None
    files = [*tests.items(), *sources.items()]
    there = {path: changed_here[path].mode for path, data in files if data is not None}
    commit = commit_on(repository.root, base, files, there)
    untouched = _untouched_tests(repository.read_many(base, [*tests]), now)
    return OnlyTests(commit, tuple(sorted({*tests, *sources})), bool(sources), untouched)


def _untouched_tests(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> frozenset[str]:
    """Return the titles of tests that are as they were, in files whose helpers are so too."""
    same, others = set[str](), set[str]()
    for path, data in before.items():
        old, new = read_tests(path, data), read_tests(path, now.get(path, b""))
        if old is None or new is None:
            continue
        kept = {*old.parts} & {*new.parts}
        if all(part.is_test or part in kept for part in old.parts):
            same |= {part.title for part in kept if part.is_test}
        others |= {part.title for part in new.parts if part.is_test and part not in kept}
    return frozenset(same - others)


def _tests_beside_code(
    before: Mapping[str, bytes], now: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of code that hold changed unit tests, as they were but for these tests."""
    for path in (path for path in before if path.endswith(".rs")):
        made = with_tests_of(before[path].decode(*_AS_IT_IS), now.get(path, b"").decode(*_AS_IT_IS))
        if made is not None:
            yield path, made.encode(*_AS_IT_IS)


def _without_change(argv: tuple[str, ...], project: Project, only: OnlyTests) -> CommandOutput:
    """Return what a test command did on the tests alone, narrowed to their files where that
    can be done.
    """
    project.tell(Message(text="The tests of this change run without its code, to see them fail."))
    files = () if only.beside_code else tuple(filter(is_test_file, only.files))
    narrowed, seconds = select_files(argv, files), project.config.command_seconds
    project.expects_red = True
    try:
        with project.trial(only.commit, built=True) as place:
            output = project.run_in(place, CommandName.TEST, narrowed or uncached(argv), seconds)
            if narrowed and cause_of(output.result) in {Cause.UNREADABLE, Cause.NO_TESTS}:
                output = project.run_in(place, CommandName.TEST, uncached(argv), seconds)
    finally:
        project.expects_red = False
    return output


def _find_red_there(
    now: CommandOutput, there: CommandOutput, state: State, only: OnlyTests
) -> tuple[str, ...]:
    """Return the tests that fail without the change alone; of a script that names none, itself.

    A test that the change left as it was counts only where no other one fails: it may be flaky.
    """
    before = result_before(now.result, state)
    known = {*(before.failures if before else ()), *now.result.failures, *now.result.flaky}
    if is_red_script(before, there.result, now.result):
        return (command_line(now.result.argv),)
    red = of_files(red_at_base(there.result, known, there.output), only.files)
    touched = [name for name in red if not any(names_test(one, name) for one in only.untouched)]
    return tuple(touched) or red


def _passes_now(name: str, judged: Sequence[CommandOutput]) -> bool:
    """Return whether a test is among those that passed with the change; without a list of them,
    none that a command names as failing is red any more.
    """
    passed = [output.passed for output in judged]
    return None in passed or is_listed(name, {test for names in passed for test in names or ()})


def with_flaky_tests(
    outputs: Sequence[CommandOutput], state: State, run: Run, project: Project
) -> tuple[CommandOutput, ...]:
    """Return what commands did with the names of their flaky tests, found by running them again.

    The reruns of one command take no longer than `command_seconds` together, but for the last.
    """
    commits = {Moment.BEFORE: run.state.base_commit, Moment.AFTER: project.tree.commit_id()}
    return tuple(_with_flaky(output, state, project, commits) for output in outputs)


def _with_flaky(
    output: CommandOutput, state: State, project: Project, commits: Mapping[Moment, str]
) -> CommandOutput:
    result, left = output.result, project.config.command_seconds * 1_000
    if any(command.covers(result) for command in state.unusable):
        return output
    before = result_before(result, state)
    if before is None:
        return output

    def run_again(moment: Moment, names: Sequence[str]) -> CommandResult | None:
        """Run the tests of these names alone, or all; None where the time is used up."""
        nonlocal left
        if left <= 0:
            return None
        selection = select_tests(result.argv, names)
        argv = selection.argv if selection is not None else uncached(result.argv)
        again = project.rerun(commits[moment], argv)
        left -= again.duration_ms
        return again

    names = newly_red(before, result)
    if names and len(names) <= MOST_RERUN:
        count = f"{len(names)} tests are" if len(names) > 1 else "A test is"
        text = f"{count} newly red and run again, before and after the change."
        project.tell(Message(text=text))
    return output._replace(result=result.replace(flaky=flaky_tests(before, result, run_again)))


def requirement_check(
    outputs: Sequence[CommandOutput], state: State, run: Run, project: Project
) -> RequirementCheck | None:
    """Return how the tests ended that the last table of requirements names; None without a table.
    A name of a test that no runner lists did not run.
    """
    document, rows = _table(run)
    if not rows:
        return None
    head = project.tree.commit_id()
    own = changed(run.repository.root, state.base_commit, head)
    judged = _judged(outputs, state)
    passed = [output.passed for output in judged]
    ended = {name: True for names in passed for name in names or ()}
    ended |= {
        name: False for output in judged for name in output.result.failures if name != UNNAMED
    }
    tests = dict.fromkeys(name for row in rows for name in row.tests)
    outcomes = {name: _outcome(name, ended, own) for name in tests}
    # A runner that does not list its tests says nothing of those that are not in its output.
    listed = bool(judged) and None not in passed
    return RequirementCheck(
        document=document,
        ran=tuple(name for name, outcome in outcomes.items() if outcome),
        failed=tuple(name for name, outcome in outcomes.items() if outcome is False),
        not_run=tuple(
            name
            for name, outcome in outcomes.items()
            if outcome is None and listed and _is_name(name)
        ),
    )


def _outcome(name: str, ended: Mapping[str, bool], own: Collection[str]) -> bool | None:
    """Return whether the tests of a name passed; None if none ran. Of several tests of one name
    those in files of the change count, if there are any.
    """
    tests = [test for test in ended if names_test(name, test)]
    counted = [test for test in of_files(tests, own) if test in tests] or tests
    return all(ended[test] for test in counted) if counted else None


def _is_name(name: str) -> bool:
    """Return whether a name in the column of tests claims to be that of a test: it says so, or says
    where it stands, and is no other file. An option or a function that a test is about does not.
    """
    other = "/" in name and "::" not in name and not is_test_file(plain_name(name))
    return _NAME.search(name) is not None and not other


def _table(run: Run) -> tuple[str, tuple[Requirement, ...]]:
    """Return the last table that an agent wrote before the verification, and its document."""
    verification = {phase.writes for phase in run.pipeline.phases if isinstance(phase, VerifyPhase)}
    for name in run.pipeline.documents("requirements"):
        written = name not in verification and run.workspace.read_bytes(name) is not None
        if written and (rows := read_requirements(run.workspace.read(name))):
            return name, rows
    return "", ()


def weakened_in(run: Run, base: str, head: str) -> WeakenedTests:
    """Return what the tests lose between two commits of a run."""
    repository, plan = run.repository, run.pipeline.planned_in
    paths = files_to_compare(changed(repository.root, base, head))
    if not paths:
        return WeakenedTests()
    found = weakened_tests(repository.read_many(base, paths), repository.read_many(head, paths))
    # What our own process wrote of a draft into the design is no word of its author.
    design = without_section(run.artifact(plan) or "", HEADING) if plan else ""
    named = {one for one in found if re.search(rf"(?<![\w/]){re.escape(one.name)}(?!\w)", design)}
    return WeakenedTests(
        unnamed=tuple(one.said for one in found if one not in named),
        named=tuple(one.said for one in found if one in named),
    )


_RUST_TESTS = re.compile(
    r"^#\[cfg\(test\)\][^\S\n]*\n(?:#\[(?!cfg\(test\)).*\n)*(?:pub )?mod .*\{[^\S\n]*\n"
    r"(?:(?!#\[cfg\(test\)\]|\}).*\n)*\}[^\S\n]*(?:\n|\Z)",
    re.MULTILINE,
)
"""A module of unit tests at the top level, its attributes included.

Source: "Test Organization" in https://doc.rust-lang.org/book/ch11-03-test-organization.html.
"""


def with_tests_of(text: str, other: str) -> str | None:
    """Return a source file with the unit tests of another version of it; None where these are the
    same, or where the other version has none.
    """
    tests, own = "".join(_RUST_TESTS.findall(other)), _RUST_TESTS.search(text)
    code, below = (text[: own.start()], text[own.start() :]) if own else (text, "")
    line_end = "" if own or not code or code.endswith("\n") else "\n"
    made = f"{code}{line_end}{tests}{_RUST_TESTS.sub('', below)}"
    return made if tests and made != text else None
