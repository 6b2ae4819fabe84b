"""Find the tests that a change adds, and whether the project's own commands ran them."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename
from typing import NamedTuple

from forge_bot.verification.named_tests import (
    OPEN,
    TestPlace,
    go_package,
    is_listed,
    is_telling,
    node_of,
    select_places,
)
from forge_bot.verification.selected_tests import (
    Words,
    package_folder,
    runner_of,
    select_tests,
)

_GO = re.compile(r"^func (?P<name>(?:Test|Fuzz)\w*)\(\w+ \*testing\.[TF]\)", re.MULTILINE)
_RUST = re.compile(
    r"^[ \t]*#\[(?:(?:\w+::)*test\b|rstest\b)[^\n]*\n(?:[ \t]*(?:#\[[^\n]*|//[^\n]*)?\n)*"
    r"[ \t]*(?:pub(?:\([^)\n]*\))? )?(?:async )?fn (?P<name>\w+)",
    re.MULTILINE,
)
_SCRIPT = re.compile(
    r"^[ \t]*(?:await )?x?(?:it|test|specify)(?:\.(?:only|skip|failing|concurrent|serial))*"
    r"\(\s*(?P<quote>[\"'`])(?P<name>(?:(?!(?P=quote))[^\\\n]|\\.)+)(?P=quote)",
    re.MULTILINE,
)
_SCRIPT_FILE = re.compile(r"\.[cm]?[jt]sx?$")
_CASES = re.compile(r"\.each\b|\bparametri[sz]e|\bparameteri[sz]ed\b|#\[case\b")
"""Signs of a test that runs once for each of several values."""
_CASE = re.compile(r"Test|TestCase$|Tests?$")
"""Names of classes, or of those they are made from, whose tests a runner looks for."""
_NOT_COLLECTED = ("__test__", "__init__")
_GO_TAG = re.compile(r"^//go:build (?P<tag>[^\n]+)$", re.MULTILINE)
_SHOWN_BY_PYTEST = "-rfEpxX"
_ENDS_OF_PYTEST = "(?:PASSED|FAILED|ERROR|XFAIL|XPASS)"
_LINES_OF_CARGO = r"test (?:\S+::)?{}(?:::\S+)?(?: - should panic)? \.\.\. (?:ok|FAILED)"
_LINES_OF_NEXTEST = r" +PASS \[.*\] .*\b{}(?:::\S+)?"


class AddedTests(NamedTuple):
    """The tests that a change adds, by name; how many it removes; and the names of those of which
    only the last one of the same name runs.
    """

    found: dict[str, TestPlace]
    removed: int
    replaced: tuple[str, ...]


def added_tests(before: Mapping[str, str], after: Mapping[str, str]) -> AddedTests:
    """Return the tests that some files have and had not before. Both take the texts of the changed
    files by path.
    """
    earlier = Counter(place for path, text in before.items() for place in tests_in(path, text))
    now = Counter(place for path, text in after.items() for place in tests_in(path, text))
    return AddedTests(
        {node_of(place): place for place in now if place not in earlier},
        sum(place not in now for place in earlier),
        tuple(
            node_of(each)
            for each in now
            if each.path.endswith(".py") and now[each] > max(1, earlier[each])
        ),
    )


def tests_in(path: str, text: str) -> Iterator[TestPlace]:
    """Yield the tests of a file that a runner finds by their form; none that may be meant for
    classes made from theirs.
    """
    if path.endswith(".py"):
        yield from _of_python(path, text)
        return
    script = _SCRIPT_FILE.search(path) is not None
    pattern = _GO if path.endswith("_test.go") else _RUST if path.endswith(".rs") else _SCRIPT
    if pattern is _SCRIPT and not script:
        return
    for match in pattern.finditer(text):
        name = re.sub(r"\\([\"'`])", r"\1", match["name"])
        if pattern is not _SCRIPT or any(map(is_telling, OPEN.split(name))):
            yield TestPlace(path=path, name=name)


def _of_python(path: str, text: str) -> Iterator[TestPlace]:
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    yield from _of_body(path, module.body, ())


def _of_body(path: str, body: Sequence[ast.stmt], inside: tuple[str, ...]) -> Iterator[TestPlace]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # A decorator may make something else of it, such as a case of another function.
            if node.name.startswith("test"):
                yield TestPlace(path=path, name=node.name, inside=inside)
        elif isinstance(node, ast.ClassDef) and _is_collected(node):
            yield from _of_body(path, node.body, (*inside, node.name))


def _is_collected(node: ast.ClassDef) -> bool:
    """Return whether a class is surely one whose tests run."""
    named = [node.name, *(ast.unparse(each) for each in node.bases)]
    own = {name for each in node.body for name in _names_of(each)}
    abstract = any("ABC" in name or "Mixin" in name or "Base" in name for name in named)
    return (
        own.isdisjoint(_NOT_COLLECTED)
        and not abstract
        and (node.name.startswith("Test") or any(_CASE.search(name) for name in named[1:]))
    )


def _names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def listing_words(
    argv: Sequence[str], wanted: Sequence[TestPlace], script: str = ""
) -> Words | None:
    """Return the words that run some tests, found as the whole command finds them, and list those
    that pass; None if the runner cannot be told so, or if its whole run lists them.
    """
    words = tuple(argv)
    match runner_of(words, script):
        case "pytest" if "-k" not in words:
            own = [each.name for each in wanted if each.path.endswith(".py")]
            named = " or ".join(dict.fromkeys(own))
            return (*words, "-k", named, _SHOWN_BY_PYTEST) if own else None
        case "unittest":
            own = [each for each in wanted if each.path.endswith(".py")]
            found = select_places(words, own) if own else None
            return found if found is None or "-v" in words else (*found, "-v")
        case "go":
            names = [
                f"{folder} {each.name}"
                for each in wanted
                if (folder := go_package(words, each)) is not None
            ]
            chosen = select_tests(words, names) if names else None
            return chosen.argv if chosen is not None else None
        case "jest" | "vitest" as runner:
            own = [each for each in wanted if _SCRIPT_FILE.search(each.path)]
            found = select_places(words, own, script) if own else None
            verbose = "--verbose" if runner == "jest" else "--reporter=verbose"
            return (*found, verbose) if found is not None else None
        case _:
            return None


def can_run(argv: Sequence[str], place: TestPlace, script: str = "") -> bool:
    """Return whether a test is of the language and the folder that a command runs; of any where it
    cannot be told.
    """
    words = tuple(argv)
    folder = package_folder(words)
    if folder and not (place.path.startswith(f"{folder}/") and _SCRIPT_FILE.search(place.path)):
        return False
    match runner_of(words, script):
        case "pytest" | "unittest":
            return place.path.endswith(".py")
        case "go":
            return go_package(words, place) is not None
        case "cargo":
            return place.path.endswith(".rs")
        case "jest" | "vitest":
            return _SCRIPT_FILE.search(place.path) is not None
        case _:
            return True


def ran_in(output: str, place: TestPlace, argv: Sequence[str], script: str = "") -> bool:
    """Return whether the output of a command says that a test ran."""
    match runner_of(tuple(argv), script):
        case "pytest":
            node = rf"(?:.*[ /])?{re.escape(node_of(place))}(?!\w).*"
            line = f"{_ENDS_OF_PYTEST} {node}|{node} {_ENDS_OF_PYTEST}.*"
        case "go":
            line = rf" *--- (?:PASS|FAIL): {re.escape(place.name)} \(.*"
        case "cargo":
            name = re.escape(place.name)
            line = f"{_LINES_OF_CARGO.format(name)}|{_LINES_OF_NEXTEST.format(name)}"
        case "jest" | "vitest":
            # Above its lines stands the call, with the title.
            title = ".*".join(map(re.escape, OPEN.split(place.name)))
            line = rf"\s*[✓✔√✕✗×✖] (?:.*\W)?{title}(?!\w).*"
        case _:
            return _is_named(output, place)
    return re.search(rf"^(?:{line})$", output, re.MULTILINE) is not None


def _is_named(output: str, place: TestPlace) -> bool:
    """Return whether a line that says nothing of skipping names a test."""
    if place.path.endswith(".py"):
        stem = basename(place.path).removesuffix(".py")
        lines = (line for line in output.splitlines() if stem in line)
        return is_listed(place.name, "\n".join(lines))
    return any(is_listed(part, output) for part in OPEN.split(place.name) if part.strip())


def lists_tests(output: str, known: Iterable[TestPlace]) -> bool:
    """Return whether the output of a command names tests: it does if it names one of those that
    are known.
    """
    return any(_is_named(output, place) for place in known)


def counts_once(text: str) -> bool:
    """Return whether each test of a file surely counts as one where it runs."""
    return _CASES.search(text) is None


def why_not_run(place: TestPlace, text: str) -> str:
    """Return what in its own file keeps a test from running; "" where nothing is known."""
    tag = _GO_TAG.search(text) if place.path.endswith(".go") else None
    return f"//go:build {tag['tag'].strip()}" if tag is not None else ""
