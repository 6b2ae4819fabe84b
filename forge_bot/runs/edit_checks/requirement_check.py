"""Look for the files and tests that a table of requirements names, and run these tests; and look
whether the tests that the change adds ran.
"""

import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from forge_bot.artifacts.requirement_table import Requirement, read_requirements
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.engine import State
from forge_bot.engine.phases import VerifyPhase
from forge_bot.git.diff import changed
from forge_bot.knowledge.code_index import is_prose
from forge_bot.runs.edit_checks.tests_that_ran import TestCommands, commands_that_judge, looked_for
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.values import CommandResult, RequirementCheck
from forge_bot.verification.named_tests import (
    TestPlace,
    is_listed,
    node_of,
    places,
    plain_name,
    select_place,
    select_places,
    title_of,
)
from forge_bot.verification.selected_tests import runner_of

_MOST_BYTES = 400_000
_MOST_NAMED = 40
"""Named tests that are run alone."""
_MOST_PLACES = 3
"""Tests of one name that are run."""
_SYMBOL = re.compile(r"[A-Za-z_][\w.:]*(?:\(\))?")
_NAME = re.compile(r"\w{2,}[_./:]\w|::|[a-z][A-Z]")

_Places = Mapping[str, tuple[TestPlace, ...]]


def requirement_check(
    results: Sequence[CommandResult], state: State, run: Run, project: Project
) -> RequirementCheck | None:
    """Return the meaning of the names in the last table of requirements, and the tests that the
    change adds and no command ran; None where there is neither.
    """
    document, rows = _table(run)
    commands = commands_that_judge(results, state, project, run)
    head = commands.head
    added = looked_for(commands)
    if not rows:
        found = RequirementCheck(document="", added_not_run=added.not_run, fewer=added.fewer)
        return found if found.said else None
    here = run.repository.list_files(head)
    texts = _texts(run, head, here)
    tests = {name: places(name, texts) for row in rows for name in row.tests}
    own = {*changed(run.repository.root, commands.base, head)}
    found = {name: _own_first(where, own) for name, where in tests.items() if where}
    outcomes = _Runs(commands).of(found)
    known = {*here, *run.repository.list_files(state.base_commit)}
    missing = [name for row in rows for name in _missing_files(row, known, run, head)]
    missing += [name for name in tests if name not in found and _claims_a_test(name, texts)]
    return RequirementCheck(
        document=document,
        ran=tuple(name for name in found if outcomes.get(name) is True),
        failed=tuple(name for name in found if outcomes.get(name) is False),
        not_run=tuple(name for name in found if outcomes.get(name) is None),
        not_found=tuple(dict.fromkeys(missing)),
        untested=tuple(
            row.text for row in rows if not (_has_test(row, found, texts) or _is_text(row, here))
        ),
        added_not_run=added.not_run,
        fewer=added.fewer,
    )


def _own_first(where: tuple[TestPlace, ...], own: Collection[str]) -> tuple[TestPlace, ...]:
    """Return the tests of one name that are run: those in files of the change, else all of them."""
    return (
        tuple(place for place in where if place.path in own)[:_MOST_PLACES] or where[:_MOST_PLACES]
    )


def _table(run: Run) -> tuple[str, tuple[Requirement, ...]]:
    """Return the last table that an agent wrote before the verification, and its document."""
    verification = {phase.writes for phase in run.pipeline.phases if isinstance(phase, VerifyPhase)}
    for name in run.pipeline.documents("requirements"):
        written = name not in verification and run.workspace.read_bytes(name) is not None
        if written and (rows := read_requirements(run.workspace.read(name))):
            return name, rows
    return "", ()


def _texts(run: Run, head: str, here: Sequence[str]) -> dict[str, str]:
    """Return the files that hold tests; in Rust any file may."""
    paths = [path for path in here if belongs_to_tests(path) or path.endswith(".rs")]
    sizes = run.repository.sizes(head, paths)
    small = [path for path in paths if sizes.get(path, 0) <= _MOST_BYTES]
    read = run.repository.read_many(head, small)
    return {path: raw.decode("utf-8", "replace") for path, raw in read.items()}


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


def _claims_a_test(name: str, texts: Mapping[str, str]) -> bool:
    """Return whether a name that is no test claims to be one: it is not a word of the tests, or of
    Python, such as an error that a test expects, nor cut short.
    """
    if not _NAME.search(name) or hasattr(builtins, name) or "…" in name or "..." in name:
        return False
    word = re.compile(rf"(?<!\w){re.escape(plain_name(name))}(?!\w)")
    return not any(word.search(text) for text in texts.values())


def _missing_files(row: Requirement, known: Collection[str], run: Run, head: str) -> list[str]:
    """Return the names in the column of files that stand for nothing: no file, and no symbol whose
    parts are all in the row's own files.
    """
    missing = [name for name in row.files if _NAME.search(name) and not _is_there(name, known)]
    symbols = [name for name in missing if _SYMBOL.fullmatch(name)]
    if not symbols:
        return missing
    paths = [plain_name(name) for name in row.files]
    read = run.repository.read_many(head, [path for path in paths if path in known])
    text = "\n".join(raw[:_MOST_BYTES].decode("utf-8", "replace") for raw in read.values())
    held = {*re.findall(r"\w+", text)}
    known_symbols = {name for name in symbols if held.issuperset(re.findall(r"\w+", name))}
    return [name for name in missing if name not in known_symbols]


def _has_test(row: Requirement, found: _Places, texts: Mapping[str, str]) -> bool:
    """Return whether a test of the row was found; a requirement may be that a test file passes."""
    return any(name in found for name in row.tests) or any(path in row.text for path in texts)


def _is_text(row: Requirement, here: Collection[str]) -> bool:
    """Return whether a requirement is only about existing pages, which have no tests."""
    named = [plain_name(name) for name in row.files]
    return bool(named) and all(path in here and is_prose(path) for path in named)


class _Runs:
    """The runs of named tests."""

    def __init__(self, commands: TestCommands) -> None:
        self.commands = commands.judged
        self._commands = commands

    def of(self, found: _Places) -> dict[str, bool | None]:
        """Return for each name whether its tests passed; None if they were not seen to run."""
        if not found or not self.commands:
            return {}
        named = (
            "tests that the requirements name run"
            if len(found) > 1
            else "test that the requirements name runs"
        )
        self._commands.tell(Message(text=f"The {named} alone."))
        # A file or a class runs more than itself, so its tests cannot be counted beside others.
        nodes = [node_of(place) for where in found.values() for place in where]
        single = {
            name: where
            for name, where in found.items()
            if not any(node.startswith(f"{node_of(place)}::") for place in where for node in nodes)
        }
        ran = dict.fromkeys(single, True) if self._all_ran(single) else {}
        left = [name for name in found if name not in ran][:_MOST_NAMED]
        return {**ran, **{name: self._one(name, found[name]) for name in left}}

    def _all_ran(self, found: _Places) -> bool:
        """Return whether one run ran all of them, each once."""
        named = [place for where in found.values() for place in where]
        for command in self.commands:
            if len({*map(node_of, named)}) < len(named):
                continue
            script = self._commands.script(command.argv)
            words = select_places(command.argv, named, script)
            result = self._run(words) if words else None
            if result is None or result.exit_code or result.tests is None:
                continue
            # A title that leaves values open stands for several tests.
            several = runner_of(command.argv, script) in {"jest", "vitest"}
            if result.tests == len(named) or (several and result.tests > len(named)):
                return True
        return False

    def _one(self, name: str, where: tuple[TestPlace, ...]) -> bool | None:
        outcomes = [
            outcome
            for place in where
            for command in self.commands
            if (outcome := self._outcome(command, name, place)) is not None
        ]
        return all(outcomes) if outcomes else None

    def _outcome(self, command: CommandResult, name: str, place: TestPlace) -> bool | None:
        words = select_place(command.argv, place, self._commands.script(command.argv))
        if words is None:
            listed = is_listed(title_of(name), self._commands.printed(command.argv))
            return True if listed and not command.exit_code else None
        result = self._run(words)
        if result is None or result.timed_out or not (result.tests or result.failures):
            return None
        return not result.exit_code

    def _run(self, words: tuple[str, ...]) -> CommandResult | None:
        ran = self._commands.run(words)
        return ran[0] if ran is not None else None
