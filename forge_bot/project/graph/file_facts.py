"""The facts of one file that depend on its own bytes alone."""

from typing import NamedTuple, cast


class ImportLine(NamedTuple):
    """One import as it is written.

    `module` keeps leading dots. `names` are the imported names, if the language states them.
    """

    module: str
    line: int
    names: tuple[str, ...] = ()


class SymbolFact(NamedTuple):
    """A definition: its name with those around it, its kind, its lines, and its first line."""

    name: str
    kind: str
    line: int
    end: int
    text: str


class FileFacts(NamedTuple):
    """Imports, definitions, the reason why the rest could not be read, and marks. A mark is
    `generated` or `main`.
    """

    imports: tuple[ImportLine, ...] = ()
    symbols: tuple[SymbolFact, ...] = ()
    problem: str = ""
    marks: tuple[str, ...] = ()

    @staticmethod
    def restored(rows: object) -> "FileFacts":
        imports, symbols, problem, marks = cast("tuple[list[list[str]], ...]", rows)
        return FileFacts(
            tuple(ImportLine(row[0], cast("int", row[1]), tuple(row[2])) for row in imports),
            tuple(SymbolFact(*cast("tuple[str, str, int, int, str]", row)) for row in symbols),
            cast("str", problem),
            tuple(cast("list[str]", marks)),
        )
