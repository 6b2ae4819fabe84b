"""Select tests by name: the words of a command that runs them without the others."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from posixpath import normpath
from shlex import quote
from typing import NamedTuple

from forge_bot.verification.runner_result import matches

Words = tuple[str, ...]

_LABEL = re.compile(r"(?<=\S) [\[(].*$")
"""The part of a subtest's name that stands after the name of its test."""
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<place>[\w.]+)\)(?: .*)?")
_GO = re.compile(r"(?P<package>\S+) (?P<test>Test\w*|Example\w*|Fuzz\w*)(?:/.*)?")
_RUST = re.compile(r"(?P<test>\w+(?:::\w+)*)(?: \(-.*\))?")
_SCRIPT = re.compile(r"(?P<path>[^|›>]+\.[cm]?[jt]sx?) (?P<sign>[›>]) (?P<title>.+)")
_SUITE_FAILED = "Test suite failed to run"
_JAVASCRIPT = ("jest", "vitest")
MANAGERS = {"npm": "--prefix", "pnpm": "--dir", "yarn": "--cwd", "bun": "--cwd"}
"""The package managers of JavaScript, each with its option for the folder."""
_BROKEN = " (error)"
_REPORT_WORDS = {
    "jest": ("--json", "--outputFile={}/jest.json"),
    "vitest": ("--reporter=default", "--reporter=json", "--outputFile.json={}/vitest.json"),
    "mocha": ("--reporter", "json", "--reporter-option", "output={}/mocha.json"),
}
"""What makes a runner of JavaScript write its report into a folder."""


class Selection(NamedTuple):
    """A command that runs certain tests, and how many tests that are at least."""

    argv: Words
    tests: int


def select_tests(argv: Sequence[str], names: Sequence[str]) -> Selection | None:
    """Return the command that runs these tests alone; None if the runner cannot select them.

    The names are those that a run of the command gave to its failing tests.
    """
    words = tuple(argv)
    runner = _runner(words)
    return runner(words, names) if runner is not None and names else None


def uncached(argv: Sequence[str]) -> Words:
    """Return the command that runs its tests again even where nothing has changed."""
    words = tuple(argv)
    go = go_test(words)
    if go is not None and not any(word.startswith("-count") for word in words):
        return (*go.before, "-count=1", *go.rest)
    return words


class GoTest(NamedTuple):
    """A call of `go test`: the folder that `-C` names, and its words up to there and after it."""

    folder: str
    before: Words
    rest: Words


def go_test(words: Words) -> GoTest | None:
    """Return a command as a call of `go test`; None for any other. `-C` stands before `test` or
    right behind it.

    Source: https://pkg.go.dev/cmd/go#hdr-Compile_packages_and_dependencies
    """
    if words[:1] != ("go",) or "test" not in words:
        return None
    folder, place, named = "", 1, False
    while place < len(words):
        word = words[place]
        if word == "-C" and not folder:
            folder = words[place + 1] if place + 1 < len(words) else ""
            place += 2
        elif word.startswith("-C=") and not folder:
            folder = word.removeprefix("-C=")
            place += 1
        elif word == "test" and not named:
            named = True
            place += 1
        else:
            break
    return GoTest(folder, words[:place], words[place:]) if named else None


_Runner = Callable[[Words, Sequence[str]], Selection | None]


def runner_of(words: Words, script: str = "") -> str:
    """Return the name of the test runner that a command calls, or ""; `script` is what a package
    manager runs as `test`.
    """
    programs = {word.rsplit("/", 1)[-1] for word in words}
    if words[:2] == ("cargo", "test") or go_test(words) is not None:
        return words[0]
    if programs & {"pytest", "py.test"}:
        return "pytest"
    if "unittest" in words or ("manage.py" in programs and "test" in words):
        return "unittest"
    handed = {*re.findall(r"[\w-]+", script)} if words[:1] and words[0] in MANAGERS else set[str]()
    return next((name for name in _JAVASCRIPT if name in programs | handed), "")


def reporting(words: Words, folder: str, script: str = "") -> Words:
    """Return the words of a command that also make its runner report each test: into a folder, or
    in its output. The same words where it cannot be told so; `script` is what a package manager
    runs as `test`, whose last command gets what is handed over.
    """
    if (go := go_test(words)) is not None:
        return (*go.before, "-json", *go.rest)
    if "unittest" in words:
        return (*words, *(() if "-v" in words else ("-v",)))
    of_manager = words[0] in MANAGERS
    last = re.split(r"&&|\|\||[;|&]", script)[-1] if of_manager else " ".join(words[:2])
    program = next((name for name in _REPORT_WORDS if name in re.findall(r"[\w-]+", last)), "")
    if not program:
        return words
    handed = ("--",) if words[0] == "npm" and "--" not in words else ()
    return (*words, *handed, *(word.format(folder) for word in _REPORT_WORDS[program]))


def report_environment(folder: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make pytest and RSpec report into a folder, however deep in a
    script they are called.
    """
    given = environment.get("PYTEST_ADDOPTS", "")
    report = f"{given} --junit-xml={quote(f'{folder}/pytest.xml')} -o junit_family=xunit1"
    formats = f"--format progress --format json --out {quote(f'{folder}/rspec.json')}"
    return {"PYTEST_ADDOPTS": report.strip(), "SPEC_OPTS": formats}


def package_folder(words: Sequence[str]) -> str | None:
    """Return the folder of the package whose script a package manager runs, "" for the root; None
    for another command.
    """
    option = MANAGERS.get(words[0]) if words else None
    if option is None:
        return None
    folder = normpath(next((after for word, after in pairwise(words) if word == option), "."))
    return "" if folder == "." else folder


def _runner(words: Words) -> _Runner | None:
    """Return the function that selects for the program that a command calls."""
    runner = _RUNNERS.get(runner_of(words))
    if runner is None and words and words[0] in MANAGERS and "test" in words:
        return _javascript
    return runner


def _pytest(words: Words, names: Sequence[str]) -> Selection | None:
    """Name the tests in the place of the folders or files that hold them."""
    chosen = [_LABEL.sub("", name) if "[" not in name.split(" ")[0] else name for name in names]
    chosen = [name.removesuffix(_BROKEN) for name in dict.fromkeys(chosen)]
    if not all("::" in name for name in chosen):
        return None
    return Selection(_replace_folders(words, chosen), len(chosen))


def select_files(argv: Sequence[str], files: Sequence[str]) -> Words | None:
    """Return the command of pytest that runs the tests of some files alone; None for any other
    command.
    """
    own = [path for path in files if path.endswith(".py")]
    return (
        _replace_folders(tuple(argv), own) if own and runner_of(tuple(argv)) == "pytest" else None
    )


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


def _unittest(words: Words, names: Sequence[str]) -> Selection | None:
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


def _go(words: Words, names: Sequence[str]) -> Selection | None:
    """Name the packages, and the tests by one pattern. Only `-v` counts the tests."""
    matched, go = matches(_GO, names), go_test(words)
    if len(matched) < len(names) or go is None:
        return None
    tests = [*dict.fromkeys(match["test"] for match in matched)]
    packages = dict.fromkeys(match["package"] for match in matched)
    flags = [word for word in go.rest if not word.startswith(".")]
    pattern = f"^({'|'.join(tests)})$"
    argv = (*go.before, *flags, "-v", "-count=1", "-run", pattern, *packages)
    return Selection(argv, len(tests))


def _cargo(words: Words, names: Sequence[str]) -> Selection | None:
    """Give the whole names to libtest. Doc tests are named by their place and cannot be given."""
    matched = matches(_RUST, names)
    if len(matched) < len(names):
        return None
    before = words if "--" in words else (*words, "--")
    tests = dict.fromkeys(match["test"] for match in matched)
    return Selection((*before, "--exact", *tests), len(names))


def _javascript(words: Words, names: Sequence[str]) -> Selection | None:
    """Name the files, and the tests by one pattern.

    Jest and Vitest join titles by blanks. A script gets only the arguments after `--`; with pnpm,
    Yarn and Bun it gets all of them.
    """
    matched = matches(_SCRIPT, names)
    if len(matched) < len(names) or any(match["title"] == _SUITE_FAILED for match in matched):
        return None
    titles = [match["title"].replace(f" {match['sign']} ", " ") for match in matched]
    pattern = f"^({'|'.join(literal(title) for title in dict.fromkeys(titles))})$"
    paths = dict.fromkeys(match["path"] for match in matched)
    script = ("--",) if words[0] == "npm" and "--" not in words else ()
    return Selection((*words, *script, *paths, "-t", pattern), len({*titles}))


def literal(title: str) -> str:
    """Return a pattern of JavaScript that a title alone fits."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", title)


_RUNNERS: dict[str, _Runner] = {
    "go": _go,
    "cargo": _cargo,
    "pytest": _pytest,
    "unittest": _unittest,
    "jest": _javascript,
    "vitest": _javascript,
}
