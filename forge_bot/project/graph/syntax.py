"""The facts of one file that depend on its own bytes alone, read by tree-sitter: definitions and
imports, also of a file that is broken.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from forge_bot.project.file_list import Listing

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query


LARGEST = 1_000_000
"""Bytes of the largest file that is parsed. A larger file is hardly written by hand."""

_MOST_UNFITTING = 10_000
_TEXT = 160
_HOLDERS = frozenset({"class", "interface", "module", "impl", "trait", "enum", "type", "struct"})
"""Kinds of definitions whose members are listed; definitions inside a function are not."""


class ImportLine(NamedTuple):
    """One import as it is written.

    `module` keeps leading dots. `names` are the imported names, if the language states them.
    """

    module: str
    line: int
    names: tuple[str, ...] = ()


class SymbolFact(NamedTuple):
    """A definition: its name with those around it, its lines, and its first line."""

    name: str
    line: int
    end: int
    text: str


class FileFacts(NamedTuple):
    """Imports, definitions, and the reason why the rest could not be read; `is_program` is said of
    files that a command starts.
    """

    imports: tuple[ImportLine, ...] = ()
    symbols: tuple[SymbolFact, ...] = ()
    problem: str = ""
    is_program: bool = False


class Grammar(NamedTuple):
    """A grammar of tree-sitter with its query.

    Each pattern captures one `@import` or a definition named after its kind with its `@name`.
    """

    package: str
    query: str
    function: str = "language"


ImportReader = Callable[["dict[str, list[Node]]"], Sequence[ImportLine]]
"""Makes imports of the captures of one match of a pattern with `@import`."""


def read_source(grammar: Grammar, data: bytes, imports: ImportReader) -> FileFacts:
    """Return the facts of a source text. A part that cannot be parsed is a problem, and the rest
    is read.
    """
    if (trouble := unreadable(data)) is not None:
        return trouble
    from tree_sitter import QueryCursor

    parser, query = _load(grammar)
    root = parser.parse(data).root_node
    if root.has_error and any(_is_heap(node) for node in (root, *root.children)):
        problem = f"line {broken_line(root)} cannot be parsed, nor most of what follows"
        return FileFacts(problem=problem)
    lines: list[ImportLine] = []
    definitions: list[tuple[int, int, str, Node, Node | None]] = []
    for _, captures in QueryCursor(query).matches(root):
        if "import" in captures:
            lines.extend(imports(captures))
            continue
        names = captures.pop("name", None)
        owner = captures.pop("owner", [None])[0]
        if names:
            kind, nodes = next(iter(captures.items()))
            node = nodes[0]
            definitions.append((node.start_byte, -node.end_byte, kind, names[0], owner))
    problem = f"line {broken_line(root)} cannot be parsed" if root.has_error else ""
    return FileFacts(tuple(dict.fromkeys(lines)), _nest(definitions, data), problem)


def unreadable(data: bytes) -> FileFacts | None:
    """Return facts that only say why a file is not read; None for one that can be."""
    if len(data) > LARGEST:
        size = f"{len(data) / 1_000_000:.1f} MB, more than {LARGEST // 1_000_000} MB"
        return FileFacts(problem=f"too large to read ({size})")
    if b"\0" in data[:8_000]:
        return FileFacts(problem="not text")
    return None


def quoted_import(captures: "dict[str, list[Node]]") -> Sequence[ImportLine]:
    """Return an import that is a string, without its quotes."""
    node = captures["import"][0]
    return [ImportLine(words_of(node)[1:-1], node.start_point[0] + 1)]


def words_of(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _nest(
    definitions: "list[tuple[int, int, str, Node, Node | None]]", data: bytes
) -> tuple[SymbolFact, ...]:
    """Return the definitions with the names of those around them, without those in functions."""
    symbols: list[SymbolFact] = []
    around: list[tuple[int, str, bool]] = []
    for start, minus_end, kind, name, owner in sorted(
        definitions, key=lambda definition: definition[:3]
    ):
        while around and around[-1][0] < -minus_end:
            around.pop()
        shown = all(holds for _, _, holds in around)
        parts = [outer for _, outer, _ in around]
        if owner is not None:
            parts.append(re.sub(r"[*&\s]|\[.*|<.*", "", words_of(owner)))
        whole = ".".join(part for part in (*parts, words_of(name)) if part)
        around.append((-minus_end, words_of(name), kind in _HOLDERS))
        if not shown or kind == "impl":
            continue
        line = name.start_point[0] + 1
        more = data.count(b"\n", name.start_byte, max(-minus_end - 1, name.start_byte))
        symbols.append(SymbolFact(whole, line, line + more, _first_line(data, start)))
    return tuple(dict.fromkeys(symbols))


def _first_line(data: bytes, start: int) -> str:
    end = data.find(b"\n", start)
    line = data[start : end if end >= 0 else len(data)][: _TEXT * 4].decode("utf-8", "replace")
    return " ".join(line.split())[:_TEXT]


def _is_heap(node: "Node") -> bool:
    """Return whether so many signs in a row fit nothing that to look for definitions among them
    takes minutes: the time grows with their square.
    """
    return node.is_error and node.child_count > _MOST_UNFITTING


def broken_line(root: "Node") -> int:
    """Return the line of the first place that does not fit the grammar."""
    node = root
    while broken := [child for child in node.children if child.has_error or child.is_missing]:
        node = broken[0]
    return node.start_point[0] + 1


def syntax_tree(package: str, function: str, data: bytes) -> "Node":
    """Return the root of a text's syntax tree by a grammar."""
    return _load(Grammar(package, "", function))[0].parse(data).root_node


@cache
def _load(grammar: Grammar) -> "tuple[Parser, Query]":
    from tree_sitter import Language, Parser, Query

    capsule: object = getattr(import_module(grammar.package), grammar.function)()
    language = Language(capsule)
    return Parser(language), Query(language, grammar.query)


class Resolution(NamedTuple):
    """The meaning of one import: files of the project, or a package outside, or neither."""

    paths: tuple[str, ...] = ()
    outside: str = ""
    missing: str = ""


Resolve = Callable[[str, ImportLine], tuple[Resolution, ...]]
"""Takes the importing file and its import, and gives what it means."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack with its faces."""

    name: str
    endings: tuple[str, ...]
    read: Callable[[str, bytes], FileFacts]
    resolver: Callable[[Listing], Resolve] | None
    promise: str
    new_file: str = ""
    """The text of a new file, with a place for its purpose; empty where none is made."""

    @property
    def slug(self) -> str:
        """The stack in one word, for addresses."""
        return self.name.split(" ", 1)[0].lower()
