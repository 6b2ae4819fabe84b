"""Look for the tests that a table of requirements names among those that the commands ran."""

import builtins
import re
from collections.abc import Collection, Mapping, Sequence

from forge_bot.artifacts.requirement_table import Requirement, read_requirements
from forge_bot.artifacts.test_paths import is_test_file
from forge_bot.engine import State
from forge_bot.engine.phases import VerifyPhase
from forge_bot.git.diff import changed
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.values import CommandName, RequirementCheck
from forge_bot.verification.command_outcome import CommandOutput
from forge_bot.verification.judgement import UNNAMED
from forge_bot.verification.red_at_base import names_test, of_files, plain_name

_NAME = re.compile(r"\w{2,}[_./:]\w|::|[a-z][A-Z]")
"""A part of the name of a file or of a test."""


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
    files = {*run.repository.list_files(head), *run.repository.list_files(state.base_commit)}
    own = changed(run.repository.root, state.base_commit, head)
    judged = [
        output
        for output in outputs
        if output.result.name is CommandName.TEST
        and not any(command.covers(output.result) for command in state.unusable)
    ]
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
            if outcome is None and listed and _is_name(name, files)
        ),
    )


def _outcome(name: str, ended: Mapping[str, bool], own: Collection[str]) -> bool | None:
    """Return whether the tests of a name passed; None if none ran. Of several tests of one name
    those in files of the change count, if there are any.
    """
    tests = [test for test in ended if names_test(name, test)]
    counted = [test for test in of_files(tests, own) if test in tests] or tests
    return all(ended[test] for test in counted) if counted else None


def _is_name(name: str, files: Collection[str]) -> bool:
    """Return whether a name in the column of tests claims to be that of a test: it is no word of
    Python, such as an error that a test expects, and no other file.
    """
    path = plain_name(name).rstrip("/")
    other = any(f"/{file}/".find(f"/{path}/") >= 0 for file in files) and not is_test_file(path)
    return _NAME.search(name) is not None and not hasattr(builtins, name) and not other


def _table(run: Run) -> tuple[str, tuple[Requirement, ...]]:
    """Return the last table that an agent wrote before the verification, and its document."""
    verification = {phase.writes for phase in run.pipeline.phases if isinstance(phase, VerifyPhase)}
    for name in run.pipeline.documents("requirements"):
        written = name not in verification and run.workspace.read_bytes(name) is not None
        if written and (rows := read_requirements(run.workspace.read(name))):
            return name, rows
    return "", ()
