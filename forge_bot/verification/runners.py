"""The table of test runners: how each is called, made to report, read, and asked for some tests."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from posixpath import basename, normpath
from shlex import quote
from typing import NamedTuple
from xml.etree.ElementTree import ParseError

from forge_bot.verification import runner_output as output
from forge_bot.verification.runner_output import Lines, RunnerResult, matches

Words = tuple[str, ...]
MANAGERS = {"npm": "--prefix", "pnpm": "--dir", "yarn": "--cwd", "bun": "--cwd"}
"""The package managers of JavaScript, each with its option for the folder."""

_LABEL = re.compile(r"(?<=\S) [\[(].*$")
"""The part of a subtest's name that stands after the name of its test."""
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<place>[\w.]+)\)(?: .*)?")
_GO = re.compile(r"(?P<package>\S+) (?P<test>Test\w*|Example\w*|Fuzz\w*)(?:/.*)?")
_RUST = re.compile(r"(?P<test>\w+(?:::\w+)*)")
_SCRIPT = re.compile(r"(?P<path>[^|›>]+\.[cm]?[jt]sx?) (?P<sign>[›>]) (?P<title>.+)")
_SUITE_FAILED = "Test suite failed to run"
_BROKEN = " (error)"


class Selection(NamedTuple):
    """A command that runs certain tests, and how many tests that are at least."""

    argv: Words
    tests: int


@dataclass(frozen=True)
class Runner:
    """A test runner. `{}` stands for the folder of its reports."""

    called: tuple[str, ...]
    """Programs, with a word that follows: a command that has all words of one calls the runner."""
    report: str = ""
    """The name of the file into which it reports."""
    places: tuple[str, ...] = ()
    """Patterns of the files in the tree into which it reports by itself."""
    words: Words = ()
    """What makes it report, behind its command."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """What makes it report, however deep in a script it is called."""
    read_report: Callable[[str], RunnerResult] | None = None
    read_output: Callable[[Lines], RunnerResult | None] | None = None
    """Reads its output where that tells more than a report; None for that of another runner."""
    select: Callable[[Words, Sequence[str]], Selection | None] | None = None
    """Makes the command for tests by the names that the runner gave them."""
    titles: tuple[str, ...] = ()
    """Patterns of the line that begins what it says about one failing test, its `title`."""

    def is_called_by(self, words: set[str]) -> bool:
        return any(words.issuperset(call.split()) for call in self.called)


def select_tests(argv: Sequence[str], names: Sequence[str]) -> Selection | None:
    """Return the command that runs these tests alone; None if the runner cannot select them.

    The names are those that a run of the command gave to its failing tests.
    """
    words = tuple(argv)
    runner = _runner_of(words)
    select = runner.select if runner is not None else None
    if runner is None and words and words[0] in MANAGERS and "test" in words:
        select = _select_javascript
    return select(words, names) if select is not None and names else None


def select_files(argv: Sequence[str], files: Sequence[str]) -> Words | None:
    """Return the command of pytest that runs the tests of some files alone; None for any other
    command.
    """
    own = [path for path in files if path.endswith(".py")]
    runner = _runner_of(tuple(argv))
    is_pytest = runner is not None and runner.select is _select_pytest
    return _replace_folders(tuple(argv), own) if own and is_pytest else None


def reporting(words: Words, folder: str, script: str = "") -> Words:
    """Return the words of a command that also make its runner report each test: into a folder, or
    in its output. The same words where it cannot be told so; `script` is what a package manager
    runs as `test`, whose last command gets what is handed over.
    """
    if (go := _go_test(words)) is not None:
        return (*go[0], "-json", *go[1])
    runner = _runner_of(words, script)
    added = [word.replace("{}", folder) for word in runner.words] if runner is not None else []
    handed = ("--",) if added and words[0] == "npm" and "--" not in words else ()
    return (*words, *handed, *(word for word in added if word not in words))


def report_environment(folder: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make runners report into a folder."""
    return {
        name: f"{environment.get(name, '')} {value.replace('{}', quote(folder))}".strip()
        for runner in RUNNERS
        for name, value in runner.variables.items()
    }


def places_of_reports(words: Words) -> tuple[str, ...]:
    """Return the patterns of files in the tree into which the runner of a command reports."""
    runner = _runner_of(words[:1])
    return runner.places if runner is not None else ()


def read_report(name: str, text: str) -> RunnerResult | None:
    """Return the outcome in a report; None if it cannot be read. Its name tells whose it is."""
    files = ((file, runner) for runner in RUNNERS for file in (runner.report, *runner.places))
    own = (runner for file, runner in files if fnmatchcase(basename(name), basename(file)))
    reader = next((runner.read_report for runner in own), None)
    try:
        return reader(text) if reader is not None else None
    except (ValueError, LookupError, TypeError, AttributeError, ParseError):
        return None


def uncached(argv: Sequence[str]) -> Words:
    """Return the command that runs its tests again even where nothing has changed."""
    words = tuple(argv)
    if (go := _go_test(words)) and not any(word.startswith("-count") for word in words):
        return (*go[0], "-count=1", *go[1])
    return words


def package_folder(words: Sequence[str]) -> str | None:
    """Return the folder of the package whose script a package manager runs, "" for the root; None
    for another command.
    """
    option = MANAGERS.get(words[0]) if words else None
    if option is None:
        return None
    folder = normpath(next((after for word, after in pairwise(words) if word == option), "."))
    return "" if folder == "." else folder


def _go_test(words: Words) -> tuple[Words, Words] | None:
    """Return the words of a call of `go test` up to the flags of the test, and these with the
    packages; None for any other command. `-C` stands before `test` or right behind it.

    Source: https://pkg.go.dev/cmd/go#hdr-Compile_packages_and_dependencies
    """
    call = re.match(r"go\0(?:-C[\0=][^\0]+\0)?test\0(?:-C[\0=][^\0]+\0)?", "\0".join((*words, "")))
    if call is None:
        return None
    place = call[0].count("\0")
    return words[:place], words[place:]


def _runner_of(words: Words, script: str = "") -> Runner | None:
    """Return the runner that a command calls, also by the last command of a `script` if that can
    hand words over.
    """
    called = {basename(word) for word in words}
    runner = next((runner for runner in RUNNERS if runner.is_called_by(called)), None)
    if runner is not None or not script:
        return runner
    last = {*re.findall(r"[\w-]+", re.split(r"&&|\|\||[;|&]", script)[-1])}
    writing = (runner for runner in RUNNERS if runner.report and runner.words)
    return next((runner for runner in writing if runner.is_called_by(last)), None)


def _select_pytest(words: Words, names: Sequence[str]) -> Selection | None:
    """Name the tests in the place of the folders or files that hold them."""
    chosen = [_LABEL.sub("", name) if "[" not in name.split(" ")[0] else name for name in names]
    chosen = [name.removesuffix(_BROKEN) for name in dict.fromkeys(chosen)]
    if not all("::" in name for name in chosen):
        return None
    return Selection(_replace_folders(words, chosen), len(chosen))


def _replace_folders(words: Words, chosen: Sequence[str]) -> Words:
    """Return a command of pytest with files or tests in the place of the folders that hold them."""
    program = next(
        place for place, word in enumerate(words) if word.endswith(("pytest", "py.test"))
    )
    files = {name.split("::")[0] for name in chosen}
    kept = [word for word in words[program + 1 :] if not _holds(word, files)]
    return (*words[: program + 1], *kept, *chosen)


def _holds(word: str, files: set[str]) -> bool:
    """Return whether a word of the command names a folder or file with some of these files."""
    place = word.split("::", maxsplit=1)[0].removeprefix("./").rstrip("/")
    return not word.startswith("-") and (
        place in {"", "."} or any(f"{file}/".startswith(f"{place}/") for file in files)
    )


def _select_unittest(words: Words, names: Sequence[str]) -> Selection | None:
    """Give patterns, which `discover` takes too.

    Source: https://docs.python.org/3/library/unittest.html
    """
    matched = [_UNITTEST.fullmatch(name) for name in names]
    chosen = [
        match["place"]
        if match["place"].endswith(f".{match['test']}")
        else f"{match['place']}.{match['test']}"
        for match in matched
        if match is not None and match["test"].startswith("test")
    ]
    if len(chosen) < len(names):
        return None
    chosen = [*dict.fromkeys(chosen)]
    patterns = [word for name in chosen for word in ("-k", f"*{name}")]
    return Selection((*words, *patterns), len(chosen))


def _select_go(words: Words, names: Sequence[str]) -> Selection | None:
    """Name the packages, and the tests by one pattern. Only `-v` counts the tests."""
    matched, go = matches(_GO, names), _go_test(words)
    if len(matched) < len(names) or go is None:
        return None
    before, rest = go
    tests = [*dict.fromkeys(match["test"] for match in matched)]
    packages = dict.fromkeys(match["package"] for match in matched)
    flags = [word for word in rest if not word.startswith(".")]
    pattern = f"^({'|'.join(tests)})$"
    argv = (*before, *flags, "-v", "-count=1", "-run", pattern, *packages)
    return Selection(argv, len(tests))


def _select_cargo(words: Words, names: Sequence[str]) -> Selection | None:
    """Give the whole names to libtest. Doc tests are named by their place and cannot be given."""
    matched = matches(_RUST, names)
    if len(matched) < len(names):
        return None
    before = words if "--" in words else (*words, "--")
    tests = dict.fromkeys(match["test"] for match in matched)
    return Selection((*before, "--exact", *tests), len(names))


def _select_javascript(words: Words, names: Sequence[str]) -> Selection | None:
    """Name the files, and the tests by one pattern.

    Jest and Vitest join titles by blanks. A script gets only the arguments after `--`; with pnpm,
    Yarn and Bun it gets all of them.
    """
    matched = matches(_SCRIPT, names)
    if len(matched) < len(names) or any(match["title"] == _SUITE_FAILED for match in matched):
        return None
    titles = [match["title"].replace(f" {match['sign']} ", " ") for match in matched]
    pattern = f"^({'|'.join(_literal(title) for title in dict.fromkeys(titles))})$"
    paths = dict.fromkeys(match["path"] for match in matched)
    script = ("--",) if words[0] == "npm" and "--" not in words else ()
    return Selection((*words, *script, *paths, "-t", pattern), len({*titles}))


def _literal(title: str) -> str:
    """Return a pattern of JavaScript that a title alone fits."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", title)


RUNNERS = (
    # The events of Go's own runner are read by `read_go`, since they stand in for its output.
    Runner(
        ("go test",),
        select=_select_go,
        titles=(r"\s*--- FAIL: (?P<title>.+) \([\d.]+s\)", r"(?P<title>panic: .+)"),
    ),
    Runner(
        ("cargo test",),
        read_output=output.read_cargo,
        select=_select_cargo,
        titles=(r"---- (?P<title>\S.*) stdout ----", r"(?P<title>error\[E\d+\]: .+)"),
    ),
    Runner(
        ("pytest", "py.test"),
        report="pytest.xml",
        variables={"PYTEST_ADDOPTS": "--junit-xml={}/pytest.xml -o junit_family=xunit1"},
        read_report=output.read_pytest,
        select=_select_pytest,
        titles=(r"_{3,} (?P<title>\S.*?) _{3,}",),
    ),
    Runner(
        ("unittest",),
        words=("-v",),
        read_output=output.read_unittest,
        select=_select_unittest,
        titles=(r"(?:FAIL|ERROR): (?P<title>\S.*)",),
    ),
    Runner(("manage.py test",), select=_select_unittest),
    Runner(
        ("jest",),
        report="jest.json",
        words=("--json", "--outputFile={}/jest.json"),
        read_report=output.read_jest,
        select=_select_javascript,
        titles=(r"  ● (?P<title>.+)",),
    ),
    Runner(
        ("vitest",),
        report="vitest.json",
        words=("--reporter=default", "--reporter=json", "--outputFile.json={}/vitest.json"),
        read_report=partial(output.read_jest, sign=" > "),
        select=_select_javascript,
        titles=(r" FAIL  (?P<title>.+)",),
    ),
    Runner(
        ("mocha",),
        report="mocha.json",
        words=("--reporter", "json", "--reporter-option", "output={}/mocha.json"),
        read_report=output.read_mocha,
    ),
    Runner(
        ("node",),
        read_output=output.read_node,
        titles=(r"✖ (?P<title>.*?) \([\d.…]+ ?m?s\)", r" *not ok \d+ - (?P<title>.*)"),
    ),
    Runner(
        ("rspec",),
        report="rspec.json",
        variables={"SPEC_OPTS": "--format progress --format json --out {}/rspec.json"},
        read_report=output.read_rspec,
    ),
    Runner(
        ("mvn", "mvnw"),
        places=("**/target/*-reports/TEST-*.xml",),
        read_report=output.read_java,
    ),
    Runner(
        ("gradle", "gradlew"),
        places=("**/build/test-results/**/TEST-*.xml",),
        read_report=output.read_java,
    ),
)
