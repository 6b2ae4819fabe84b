"""Look for the files and tests that a table of requirements names: files in the repository, tests
among those that the project's own commands ran.
"""

import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from forge_bot.artifacts.requirement_table import Requirement, read_requirements
from forge_bot.artifacts.test_paths import is_test_file
from forge_bot.engine import State
from forge_bot.engine.phases import VerifyPhase
from forge_bot.git.diff import changed
from forge_bot.knowledge.code_index import is_prose
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.values import CommandName, CommandResult, RequirementCheck
from forge_bot.verification.judgement import UNNAMED
from forge_bot.verification.named_tests import names_test, plain_name
from forge_bot.verification.red_before_green import of_files

_MOST_BYTES = 400_000
_SYMBOL = re.compile(r"[A-Za-z_][\w.:]*(?:\(\))?")
_NAME = re.compile(r"\w{2,}[_./:]\w|::|[a-z][A-Z]")
"""A part of the name of a file or of a test."""


def requirement_check(
    results: Sequence[CommandResult], state: State, run: Run, project: Project
) -> RequirementCheck | None:
    """Return the meaning of the names in the last table of requirements; None without a table."""
    document, rows = _table(run)
    if not rows:
        return None
    head = project.tree.commit_id()
    here = run.repository.list_files(head)
    known = {*here, *run.repository.list_files(state.base_commit)}
    own = changed(run.repository.root, state.base_commit, head)
    judged = [
        result
        for result in results
        if result.name is CommandName.TEST
        and not any(command.covers(result) for command in state.unusable)
    ]
    passed = [project.passed(result.argv) for result in judged]
    ended = {name: True for names in passed for name in names or ()}
    ended |= {name: False for result in judged for name in result.failures if name != UNNAMED}
    tests = dict.fromkeys(name for row in rows for name in row.tests)
    outcomes = {name: _outcome(name, ended, own) for name in tests}
    # A runner that does not list its tests says nothing of those that are not in its output.
    listed = bool(judged) and None not in passed
    absent = (name for name, outcome in outcomes.items() if outcome is None)
    not_run = [name for name in absent if listed and _is_name(name, known)]
    tested = {name for name, outcome in outcomes.items() if outcome is not None}.union(not_run)
    missing = (name for row in rows for name in _missing_files(row, known, run, head))
    return RequirementCheck(
        document=document,
        ran=tuple(name for name, outcome in outcomes.items() if outcome),
        failed=tuple(name for name, outcome in outcomes.items() if outcome is False),
        not_run=tuple(not_run),
        not_found=tuple(dict.fromkeys(missing)),
        untested=tuple(
            row.text
            for row in rows
            if tested.isdisjoint(row.tests) and not _needs_no_test(row, here)
        ),
    )


def _outcome(name: str, ended: Mapping[str, bool], own: Collection[str]) -> bool | None:
    """Return whether the tests of a name passed; None if none ran. Of several tests of one name
    those in files of the change count, if there are any.
    """
    tests = [test for test in ended if names_test(name, test)]
    counted = [test for test in of_files(tests, own) if test in tests] or tests
    return all(ended[test] for test in counted) if counted else None


def _is_name(name: str, known: Collection[str]) -> bool:
    """Return whether a name in the column of tests claims to be that of a test: it is no word of
    Python, such as an error that a test expects, and no other file.
    """
    other = _is_there(name, known) and not is_test_file(plain_name(name))
    return _NAME.search(name) is not None and not hasattr(builtins, name) and not other


def _table(run: Run) -> tuple[str, tuple[Requirement, ...]]:
    """Return the last table that an agent wrote before the verification, and its document."""
    verification = {phase.writes for phase in run.pipeline.phases if isinstance(phase, VerifyPhase)}
    for name in run.pipeline.documents("requirements"):
        written = name not in verification and run.workspace.read_bytes(name) is not None
        if written and (rows := read_requirements(run.workspace.read(name))):
            return name, rows
    return "", ()


def _missing_files(row: Requirement, known: Collection[str], run: Run, head: str) -> list[str]:
    """Return the names in the column of files that stand for nothing: no file, and no symbol whose
    parts are all in the row's own files.
    """
    missing = [name for name in row.files if _NAME.search(name) and not _is_there(name, known)]
    symbols = [name for name in missing if _SYMBOL.fullmatch(name)]
    if not symbols:
        return missing
    paths = [plain_name(name) for name in row.files]
    texts = run.repository.read_many(head, [path for path in paths if path in known])
    text = "\n".join(raw[:_MOST_BYTES].decode("utf-8", "replace") for raw in texts.values())
    words = {*re.findall(r"\w+", text)}
    named = {name for name in symbols if words.issuperset(re.findall(r"\w+", name))}
    return [name for name in missing if name not in named]


def _is_there(name: str, known: Collection[str]) -> bool:
    """Return whether a name is that of a file, of a folder, or a pattern that some file fits."""
    plain = plain_name(name).rstrip("/")
    return any(
        path == plain
        or path.endswith(f"/{plain}")
        or path.startswith(f"{plain}/")
        or fnmatchcase(path, plain)
        for path in known
    )


def _needs_no_test(row: Requirement, here: Collection[str]) -> bool:
    """Return whether a requirement is that a file of tests passes, or only about existing pages."""
    if any(is_test_file(word) for word in re.findall(r"[\w./-]+", row.text)):
        return True
    named = [plain_name(name) for name in row.files]
    return bool(named) and all(path in here and is_prose(path) for path in named)
