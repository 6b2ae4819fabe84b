"""Find the tests that a document names, in the files of a repository, and select each one alone."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename, dirname, normpath, relpath

from forge_bot.values import Frozen
from forge_bot.verification.selected_tests import (
    Words,
    go_test,
    literal,
    package_folder,
    runner_of,
    runner_words,
    select_tests,
)

_LINE = re.compile(r":\d+(?:-\d+)?$")
_CALL = re.compile(r"\([^()]*\)$")
_LABEL = re.compile(r"(?<=\S)\[[^\]]*\]$")
_STEPS = re.compile(r"::| [›>] |#(?=\w)")
_SKIPPED = re.compile(
    r"\b(?:skip(?:ped)?|ignored|todo|pending|disabled)\b|^\s*[-↓] ", re.IGNORECASE
)
_ESCAPED_QUOTE = re.compile(r"\\([\"'`])")
_WORD = re.compile(r"\w+")
OPEN = re.compile(r"…|%[sdifjopc#$]|\$\{[^}]*\}|\$[\w.#]+")
"""A place of a title for a value, as `each` of Jest and Vitest has them, or where it is cut."""

_CUT = "…"
_LEAST_OF_CUT = 8
"""Letters of a title that is cut short: fewer fit by chance."""


class TestPlace(Frozen):
    """A test in a file; without a name, all tests of the file."""

    __test__ = False

    path: str
    name: str = ""
    inside: tuple[str, ...] = ()
    """The classes that hold it."""


def plain_name(name: str) -> str:
    """Return a name without the number of a line."""
    return _LINE.sub("", name.strip()).removeprefix("./")


def title_of(name: str) -> str:
    """Return the part of a name that its definition has: `test_a` of `tests/a.py::A::test_a[1]`."""
    last = _STEPS.split(plain_name(name))[-1].strip()
    if " " not in last:
        last = _LABEL.sub("", _CALL.sub("", last))
    if re.fullmatch(r"Test\w*/.+", last):
        return last.split("/")[0]
    return last.rpartition(".")[2] if re.fullmatch(r"\w+(?:\.\w+)+", last) else last


def places(name: str, texts: Mapping[str, str]) -> tuple[TestPlace, ...]:
    """Return where a test is defined; `texts` has the files that may hold it, by path."""
    plain = plain_name(name)
    if plain in texts:
        return (TestPlace(path=plain),)
    first, title = _STEPS.split(plain)[0], title_of(name)
    if not title or (_CUT in title and max(map(len, title.split(_CUT))) < _LEAST_OF_CUT):
        return ()
    there = [path for path in texts if path == first or path.endswith(f"/{first}")]
    if not there and re.fullmatch(r"[\w./-]+\.\w+", first) and first != plain:
        return ()
    near = {
        path: texts[path]
        for path in there or texts
        if all(part in _ESCAPED_QUOTE.sub(r"\1", texts[path]) for part in title.split(_CUT))
    }
    return tuple(place for path, text in near.items() for place in _defined(title, path, text))


def _defined(title: str, path: str, text: str) -> Iterator[TestPlace]:
    if path.endswith(".py"):
        yield from (
            TestPlace(path=path, name=title, inside=inside)
            for found, inside in _of_python(text)
            if found == title
        )
        return
    word = r"[^\n]*".join(map(re.escape, title.split(_CUT)))
    text = _ESCAPED_QUOTE.sub(r"\1", text)
    signs = rf"\b(?:def|fn|func|fun|function|void)\s+(?:\([^)\n]*\)\s*)?`?{word}\b"
    # In Go a text in quotes is a case within a test, which its own name does not select.
    titles = "" if path.endswith(".go") else rf"|[\"'`]{word}[\"'`]"
    if re.search(signs + titles, text):
        yield TestPlace(path=path, name=title)


def _of_python(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the functions and classes of a module, each with the classes around it."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    open_nodes: list[tuple[ast.AST, tuple[str, ...]]] = [(module, ())]
    while open_nodes:
        node, inside = open_nodes.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield child.name, inside
            elif isinstance(child, ast.ClassDef):
                yield child.name, inside
                open_nodes.append((child, (*inside, child.name)))


def node_of(place: TestPlace) -> str:
    """Return how pytest names a test."""
    return "::".join(filter(None, (place.path, *place.inside, place.name)))


def select_place(argv: Sequence[str], place: TestPlace, script: str = "") -> Words | None:
    """Return the words that run one test alone; None if the runner cannot select it. `script` is
    the command that a package manager runs as `test`.
    """
    words = tuple(argv)
    match runner_of(words, script):
        case "pytest" if place.path.endswith(".py"):
            chosen = select_tests(words, [node_of(place) if place.name else f"{place.path}::"])
            if chosen is None:
                return None
            return tuple(word.removesuffix("::") for word in chosen.argv)
        case "unittest" if place.path.endswith(".py"):
            stem = basename(place.path).removesuffix(".py")
            return (*words, "-k", f"*{'.'.join((stem, *place.inside, place.name))}*")
        case "go" if place.path.endswith(".go"):
            return _of_go(words, place)
        case "cargo" if place.path.endswith(".rs") and place.name:
            return (*words, *(() if "--" in words else ("--",)), place.name)
        case "jest" | "vitest":
            return _of_scripts(words, [place], script)
        case _:
            return None


def _of_go(words: Words, place: TestPlace) -> Words | None:
    package = go_package(words, place) if place.name else None
    found = select_tests(words, [f"{package} {place.name}"]) if package else None
    return found.argv if found is not None else None


def go_package(words: Words, place: TestPlace) -> str | None:
    """Return the package of a test as a call of `go test` names it; None if it is elsewhere."""
    go = go_test(words)
    if go is None or not place.path.endswith(".go"):
        return None
    folder = relpath(dirname(place.path) or ".", normpath(go.folder or "."))
    return None if folder.startswith("..") else "." if folder == "." else f"./{folder}"


def select_places(
    argv: Sequence[str], wanted: Sequence[TestPlace], script: str = ""
) -> Words | None:
    """Return the words that run some tests at once; None if the runner cannot select them so."""
    words = tuple(argv)
    match runner_of(words, script):
        case "pytest":
            selection = select_tests(words, [node_of(place) for place in wanted])
            return selection.argv if selection is not None else None
        case "unittest":
            chosen = [select_place(words, place) or () for place in wanted]
            return (*words, *(word for each in chosen for word in each[len(words) :]))
        case "jest" | "vitest" if all(place.name for place in wanted):
            return _of_scripts(words, wanted, script)
        case _:
            return None


def _of_scripts(words: Words, wanted: Sequence[TestPlace], script: str) -> Words | None:
    """Name the files, and the tests by one pattern, for Jest and Vitest."""
    handed = runner_words(words, script)
    start = package_folder(words) or "."
    paths = dict.fromkeys(relpath(place.path, start) for place in wanted)
    if handed is None or any(path.startswith("..") for path in paths):
        return None
    titles = dict.fromkeys(
        ".*".join(map(literal, OPEN.split(place.name))) for place in wanted if place.name
    )
    return (*handed, *paths, *(("-t", "|".join(titles)) if titles else ()))


def is_telling(title: str) -> bool:
    """Return whether a title is more than a short word, which may stand in any output."""
    return bool(title) and not (_WORD.fullmatch(title) and len(title) <= len("test"))


def is_listed(title: str, output: str) -> bool:
    """Return whether the output of a run lists a test by its name, and not as skipped."""
    if not is_telling(title):
        return False
    whole = re.compile(rf"(?<!\w){re.escape(title)}(?!\w|\s+\w)")
    return any(
        whole.search(line) is not None and _SKIPPED.search(whole.sub("", line)) is None
        for line in output.splitlines()
    )
