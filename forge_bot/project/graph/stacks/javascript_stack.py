"""JavaScript and TypeScript: definitions and imports by tree-sitter, also in Vue and Svelte, and
the files that an import names.

Order: relative paths, `paths` of tsconfig.json, packages outside.
"""

import re
from collections.abc import Mapping
from functools import cache
from posixpath import dirname, normpath, splitext

from forge_bot.project.file_list import Listing, above, join, json_object, strings, table
from forge_bot.project.graph.syntax import (
    FileFacts,
    Grammar,
    ImportLine,
    Resolution,
    Stack,
    quoted_import,
    read_source,
    unreadable,
)

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue")
_WRITTEN = (".js", ".jsx", ".mjs", ".cjs")
"""Endings that stand in an import for those of TypeScript."""
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_LONGEST = 500


class _JavaScriptFiles:
    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._paths = _TypeScriptPaths(listing)
        self._resolved = cache(self._resolve)

    def resolve(self, importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        return (self._resolved(dirname(importer), line.module),)

    def _resolve(self, folder: str, written: str) -> Resolution:
        name = written.rpartition("!")[2].partition("?")[0]
        if not name or len(name) > _LONGEST or _ELSEWHERE.match(name) or name.startswith("/"):
            return Resolution(outside=written.partition("?")[0][:_LONGEST] or "?")
        parts = name.split("/")
        package = "/".join(parts[: 2 if name.startswith("@") else 1])
        if name.startswith("."):
            path, own = self._relative(folder, name), True
        else:
            candidates, own = self._paths.candidates(folder, name)
            path = next(filter(None, map(self._file, candidates)), None)
        if path:
            return Resolution((path,))
        return Resolution(missing=written) if own else Resolution(outside=package)

    def _relative(self, folder: str, name: str) -> str | None:
        path = normpath(join(folder, name))
        if path.startswith(".."):
            return None
        path = "" if path == "." else path
        return self._index(path) if name.endswith(("/", ".")) else self._file(path)

    def _file(self, path: str) -> str | None:
        """Return the file that a path without or with its ending stands for."""
        stem, ending = splitext(path)
        stems = (stem, path) if ending in _WRITTEN else (path,)
        forms = (path, *(start + other for start in stems for other in _ENDINGS))
        return next(filter(self._listing.has, forms), None) or self._index(path)

    def _index(self, folder: str) -> str | None:
        if folder and not self._listing.has_folder(folder):
            return None
        indexes = (join(folder, f"index{ending}") for ending in _ENDINGS)
        return next(filter(self._listing.has, indexes), None)


_NAMES = ("tsconfig.json", "jsconfig.json")
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"?)|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*"?)|,(?=\s*[}\]])')


class _TypeScriptPaths:
    """The `paths` that count in each folder of a repository."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._for = cache(self._read_paths)

    def candidates(self, folder: str, name: str) -> tuple[tuple[str, ...], bool]:
        """Return the paths to try for a name, and whether the name can only be the project's."""
        patterns = self._for(folder)
        fitting = [pattern for pattern in patterns if _matched(pattern, name) is not None]
        # The longest fitting pattern counts, as TypeScript has it.
        best = max(fitting, key=lambda pattern: len(pattern.partition("*")[0]), default="")
        rest = _matched(best, name) or ""
        paths = (normpath(to.replace("*", rest)) for to in patterns.get(best, ()))
        inside = (path for path in paths if not path.startswith(".."))
        return tuple(inside), best not in {"", "*"}

    def _read_paths(self, folder: str) -> Mapping[str, tuple[str, ...]]:
        places = (*reversed(above(f"{folder}/x")), "")
        files = (self._listing.first(place, _NAMES) for place in places)
        return self._patterns(next(filter(None, files), ""), ())

    def _patterns(self, file: str, extending: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
        """Return the patterns of a file with the paths they mean, else those of the last own file
        that it extends.
        """
        config, folder = json_object(_plain_json(self._listing.text(file))), dirname(file)
        if paths := table(config, "compilerOptions", "paths"):
            return {
                name: tuple(join(folder, target) for target in strings(targets))
                for name, targets in paths.items()
            }
        patterns: Mapping[str, tuple[str, ...]] = {}
        for name in strings(config.get("extends")):
            path = normpath(join(folder, name))
            other = next(filter(self._listing.has, (path, f"{path}.json")), "")
            if name.startswith(".") and other and other not in extending:
                patterns = self._patterns(other, (*extending, other))
        return patterns


def _matched(pattern: str, name: str) -> str | None:
    """Return the part of a name that stands for the `*` of a pattern; None if it does not fit."""
    start, star, end = pattern.partition("*")
    if not star:
        return "" if pattern == name else None
    fits = name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)
    return name[len(start) : len(name) - len(end)] if fits else None


def _plain_json(text: str) -> str:
    """Return JSON without the comments and last commas that a tsconfig may have."""
    without = _COMMENT.sub(lambda match: match[1] or " ", text)
    return _COMMA.sub(lambda match: match[1] or "", without)


_DEFINITIONS = """
    (function_declaration name: (identifier) @name) @function
    (generator_function_declaration name: (identifier) @name) @function
    (class_declaration name: (_) @name) @class
    (method_definition name: (property_identifier) @name) @method
    (program (lexical_declaration (variable_declarator name: (identifier) @name
      value: [(arrow_function) (function_expression)]) @function))
    (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
      value: [(arrow_function) (function_expression)]) @function))
    (program (lexical_declaration (variable_declarator name: (identifier) @name
      (#match? @name "^[A-Z][A-Z0-9_]+$")) @constant))
    (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
      (#match? @name "^[A-Z][A-Z0-9_]+$")) @constant))
"""
_IMPORTS = """
    (import_statement source: (string) @import)
    (export_statement source: (string) @import)
    (call_expression function: (import) arguments: (arguments . (string) @import))
    (call_expression function: (identifier) @_called (#eq? @_called "require")
      arguments: (arguments . (string) @import .))
"""
_TYPES = """
    (abstract_class_declaration name: (_) @name) @class
    (interface_declaration name: (_) @name) @interface
    (type_alias_declaration name: (_) @name) @type
    (enum_declaration name: (_) @name) @enum
    (import_require_clause source: (string) @import)
"""
_SCRIPT = Grammar("tree_sitter_javascript", _DEFINITIONS + _IMPORTS)
_TYPED = Grammar("tree_sitter_typescript", _DEFINITIONS + _IMPORTS + _TYPES, "language_typescript")
_TYPED_MARKUP = Grammar("tree_sitter_typescript", _TYPED.query, "language_tsx")
_NO_SCRIPT = re.compile(
    rb"(?:\A|</script\s*>).*?(?:<script\b[^>]{0,500}>|\Z)", re.IGNORECASE | re.DOTALL
)
"""What stands in a component before its scripts, between them and behind them."""


def _read(path: str, data: bytes) -> FileFacts:
    ending = splitext(path)[1]
    if ending in {".vue", ".svelte"}:
        scripts = _NO_SCRIPT.sub(lambda rest: b"\n" * rest[0].count(b"\n"), data)
        return unreadable(data) or read_source(_TYPED, scripts, quoted_import)
    grammar = {".ts": _TYPED, ".mts": _TYPED, ".cts": _TYPED, ".tsx": _TYPED_MARKUP}
    return read_source(grammar.get(ending, _SCRIPT), data, quoted_import)


JAVASCRIPT = Stack(
    name="JavaScript and TypeScript",
    endings=(".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    read=_read,
    resolver=lambda listing: _JavaScriptFiles(listing).resolve,
    promise="definitions and imports; tsconfig paths, index files",
    new_file="/** {purpose} */\n",
)
