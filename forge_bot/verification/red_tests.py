"""The meaning of newly red tests. Flaky ones are told from red ones: they run again, at both
commits. One that gives two outcomes at one commit is flaky; one that fails each time after the
change and passes each time before it is red. Tests that fail at the base commit and pass at the end
prove that a change mends a defect; and names of tests in documents are compared with those that
runners report.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum
from posixpath import basename

from forge_bot.text_format import command_line
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import about, failure_blocks
from forge_bot.verification.judgement import UNNAMED, Cause, cause_of
from forge_bot.verification.runners import select_tests

MOST_RERUN = 50
"""Newly red tests that are run again. If there are more, no chance is behind it."""
RERUNS = 5
"""Reruns of a test at each commit, alone and with the others."""


class Moment(StrEnum):
    """A commit at which tests run."""

    BEFORE = "before the change"
    AFTER = "after the change"


RunTests = Callable[[Moment, Sequence[str]], CommandResult | None]
"""Runs the tests of these names alone, or all without a name. None if there is no more time."""


def newly_red(before: CommandResult, now: CommandResult) -> tuple[str, ...]:
    """Return the newly failing tests whose outcomes can be told; `UNNAMED` stands for failures
    without a name. Of several tests of one name nobody can tell which of them failed.
    """
    ran = {cause_of(before), cause_of(now)} <= {None, Cause.ALL_RED, Cause.UNREADABLE}
    if now.name is not CommandName.TEST or not now.exit_code or not ran:
        return ()
    new = [name for name in dict.fromkeys(now.failures) if name not in before.failures]
    return tuple(new) or (() if before.exit_code or now.failures else (UNNAMED,))


def flaky_tests(before: CommandResult, now: CommandResult, run: RunTests) -> tuple[str, ...]:
    """Return the newly red tests that are flaky, sorted.

    First they run alone, if the runner can select them. A test that passes alone may still fail
    with the others, so for such a test all run again.
    """
    suspects = newly_red(before, now)
    if not suspects or len(suspects) > MOST_RERUN:
        return ()
    reruns = _Reruns(now.argv, run)
    reruns.together(reruns.alone(suspects))
    return tuple(sorted(reruns.flaky))


class _Reruns:
    """The outcomes of one command's newly red tests so far; True is a failure."""

    def __init__(self, argv: Sequence[str], run: RunTests) -> None:
        self.argv = argv
        self.run = run
        self.flaky: set[str] = set()
        self._seen = defaultdict[tuple[Moment, str], set[bool]](set)

    def alone(self, suspects: Sequence[str]) -> list[str]:
        """Run tests alone until their outcomes disagree; return those that this cannot judge.

        All reruns of one commit come first, since each commit has to be built anew. A test that the
        base has not is the change's own, and stays red if it is flaky.
        """
        left = [name for name in suspects if select_tests(self.argv, (name,)) is not None]
        others = [name for name in suspects if name not in left]
        for _ in range(RERUNS):
            steady = [name for name in left if not self._is_mixed(name)]
            unread = self._run(Moment.AFTER, steady)
            others += unread
            left = [name for name in left if name not in unread]
        for _ in range(RERUNS):
            wanted = [
                name
                for name in left
                if not self._seen[Moment.BEFORE, name] or True in self._seen[Moment.AFTER, name]
            ]
            new = self._run(Moment.BEFORE, wanted)
            self.flaky |= {name for name in left if name not in new and self._is_mixed(name)}
            left = [name for name in left if name not in new and name not in self.flaky]
        # Green alone after the change, or red alone before it: it depends on other tests.
        return others + [
            name
            for name in left
            if False in self._seen[Moment.AFTER, name] or True in self._seen[Moment.BEFORE, name]
        ]

    def together(self, suspects: Sequence[str]) -> None:
        """Run everything until the outcomes of these tests disagree with their first ones."""
        left: list[str] = [*suspects]
        for moment in (Moment.AFTER,) * RERUNS + (Moment.BEFORE,) * RERUNS:
            result = self.run(moment, ()) if left else None
            if result is None:
                return
            first = moment is Moment.AFTER
            self.flaky |= {name for name in left if _disagrees(name, first, result)}
            left = [name for name in left if name not in self.flaky]

    def _is_mixed(self, name: str) -> bool:
        """Return whether a test gave both outcomes at one commit."""
        return any(len(self._seen[moment, name]) > 1 for moment in Moment)

    def _run(self, moment: Moment, names: Sequence[str]) -> list[str]:
        """Run tests, in one command if it reports each of them; return those not reported."""
        unread = self._run_at_once(moment, names) if names else []
        if len(names) > 1:
            unread = [name for name in unread if self._run_at_once(moment, (name,))]
        return unread

    def _run_at_once(self, moment: Moment, names: Sequence[str]) -> list[str]:
        selection = select_tests(self.argv, names)
        result = self.run(moment, names) if selection is not None else None
        if selection is None or result is None or result.timed_out:
            return [*names]
        whole = UNNAMED not in result.failures and (result.tests or 0) >= selection.tests
        passes = whole and bool(result.failures or not result.exit_code)
        read = [name for name in names if passes or name in result.failures]
        for name in read:
            self._seen[moment, name].add(name in result.failures)
        return [name for name in names if name not in read]


def _disagrees(name: str, first: bool, result: CommandResult) -> bool:
    """Return whether the second outcome of a test is known and differs from the first (True: it
    failed).
    """
    if result.timed_out or result.tests == 0:
        return False
    if not result.exit_code:
        return first
    if name == UNNAMED:
        return not first and not result.failures
    failed = name in result.failures
    is_known = bool(result.failures) and (failed or UNNAMED not in result.failures)
    return is_known and failed is not first


_NAMES_FILES = re.compile(r"^[^:./]*[./][^:]*::|\.[cm]?[jt]sx? [›>] |^\w+ \([\w.]+\)")
"""Names of tests that tell their file: of pytest, of Jest and Vitest, of unittest. Those of Cargo
begin with a module.
"""
_FILE_BEFORE = re.compile(r"^.+?(?:::| [›>] )")
_PATH_END = re.compile(r"(?:::| [›>] )$")
_NO_TEST = re.compile(r"_FailedTest|^setUp|^tearDown|\(error\)$")


_LACKS_A_NAME = re.compile(
    r"^E?\s*(?:ImportError|ModuleNotFoundError|NameError|ReferenceError)\b"
    r"|^E?\s*AttributeError: (?:module|type object) (?!.*attribute '__)"
    r"|\bCannot find module\b|is not a function\b",
    re.MULTILINE,
)
"""A test that stops where the base commit has no such name shows no defect, unless it is one of
Python's own names, which no change brings.
"""


def red_at_base(
    with_tests: CommandResult, known: Collection[str], output: str = ""
) -> tuple[str, ...]:
    """Return the tests that fail only because the base commit lacks the change.

    They fail there with the tests of the change, and not because a name is not there yet. The known
    ones fail without these tests too, or after the change.
    """
    blocks = failure_blocks(output.splitlines())
    nameless = [block for block in blocks if _LACKS_A_NAME.search(block.text)]
    return tuple(
        name
        for name in dict.fromkeys(with_tests.failures)
        if name not in {*known, UNNAMED} and not _NO_TEST.search(name)
        if not any(about(name, block) for block in nameless)
    )


def is_red_script(before: CommandResult | None, there: CommandResult, now: CommandResult) -> bool:
    """Return whether a command that names no tests shows a defect by its exit code: 0 before the
    change and after it, and not with only its tests.
    """
    if before is None or any(one.tests is not None or one.failures for one in (before, there, now)):
        return False
    green = all(one.exit_code == 0 and not one.timed_out for one in (before, now))
    return green and there.exit_code != 0 and cause_of(there) is Cause.UNREADABLE


def of_files(names: Sequence[str], files: Collection[str]) -> tuple[str, ...]:
    """Return the names of tests in certain files, as far as the names contain files."""
    return tuple(
        name
        for name in names
        if _NAMES_FILES.search(name) is None or any(_lies_in(name, file) for file in files)
    )


def _lies_in(name: str, file: str) -> bool:
    stem = basename(file).split(".")[0]
    file_named = _FILE_BEFORE.match(name)
    if file_named is not None and f"/{file}".endswith(f"/{_PATH_END.sub('', file_named[0])}"):
        # Vitest names a file as its project sees it.
        return True
    return name.startswith((f"{file}:", f"{file} ")) or stem in re.split(r"[.()\s]+", name)


def why_not_red(results: Sequence[CommandResult]) -> Iterator[str]:
    """Yield sentences about test commands that showed no red test at the base commit."""
    for result in results:
        words = f"`{command_line(result.argv)}`"
        if result.timed_out:
            yield f"At the base commit {words} did not end in time with the tests of this change."
        elif any(map(_NO_TEST.search, result.failures)):
            yield f"At the base commit {words} could not load the tests of this change."
        elif result.exit_code and not result.failures:
            yield f"The output of {words} does not name its tests."
        else:
            yield f"At the base commit no test of this change fails with {words}."


_LINE = re.compile(r":\d+(?:-\d+)?$")
_CASES = re.compile(r"(?<=\S)(?:\[[^\]]*\]|\([^()]*\))$")
_STEPS = re.compile(r"::| [›>] |[#.]")
_GO_CASE = re.compile(r"(?P<test>Test\w*)/.+")


def plain_name(name: str) -> str:
    """Return a name without the number of a line."""
    return _LINE.sub("", name.strip()).removeprefix("./")


def names_test(name: str, test: str) -> bool:
    """Return whether a document's name is that of a reported test, of a part of it, of its class
    or of its file: `test_a` and `tests/a.py::A` of `tests/a.py::A::test_a[1]`. The package
    `parameterized` writes the cases of `test_a` as `test_a_0` and `test_a_1_words`.
    """
    plain = plain_name(name)
    plain = plain if " " in plain else _CASES.sub("", plain)
    if (case := _GO_CASE.fullmatch(plain)) is not None:
        plain = case["test"]
    if not plain:
        return False
    if plain.endswith(".py") and names_test(plain[:-3].replace("/", "."), test):
        # unittest names a file as a module.
        return True
    words = re.escape(_STEPS.sub(":", plain)).replace("…", ".*")
    return (
        re.search(rf"(?:^|[^\w]){words}(?:_\d+(?:_\w+)?)?(?=$|[:\[(/]| \()", _STEPS.sub(":", test))
        is not None
    )


def is_listed(name: str, passed: Collection[str]) -> bool:
    """Return whether a test that failed elsewhere is among those that passed here: by its name, by
    that of the test which a part belongs to, or by its title where only titles are listed.
    """
    whole = name in passed or _STEPS.split(name)[-1] in passed
    return whole or any(name.startswith(f"{test} ") for test in passed)
