"""Python: definitions and imports by tree-sitter, and the files that an import names: source roots,
namespace packages, relative imports.

A root is a folder that Python would search: that of a project and its `src`, the repository itself,
and the folder around each topmost package. Files below a root are tried before other files, except
for names of the standard library.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from posixpath import basename, commonprefix, dirname
from typing import TYPE_CHECKING

from forge_bot.artifacts.test_paths import TEST_FOLDERS
from forge_bot.project.file_list import Listing, above, join
from forge_bot.project.graph.syntax import (
    FileFacts,
    Grammar,
    ImportLine,
    Resolution,
    Stack,
    read_source,
    words_of,
)
from forge_bot.project.scoped_commands import is_inside

if TYPE_CHECKING:
    from tree_sitter import Node


_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_FORMS = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")


class _PythonRoots:
    def __init__(self, listing: Listing) -> None:
        self._files = frozenset(path for path in listing.files if path.endswith((".py", ".pyi")))
        self._packages = {dirname(path) for path in self._files if basename(path) == "__init__.py"}
        self._sources = {"", "src", *_project_folders(listing)} - self._packages
        folders = {folder for path in self._files for folder in above(path)}
        self._root_of = {folder: self._root(folder) for folder in folders | {""}}
        self._visible = self._sources | {
            self._root_of[folder]
            for folder in {dirname(path) for path in self._files.intersection(listing.own())}
            if TEST_FOLDERS.isdisjoint(folder.split("/"))
        }
        self._roots_around = cache(self._sort_roots)
        self._file = cache(self._find_file)

    def resolve(self, importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        """Return the targets of one import: a file for each name that is a module, and the package
        once for the others.
        """
        folder: str = dirname(importer)
        rest = line.module.lstrip(".")
        if depth := len(line.module) - len(rest):
            parts = folder.split("/") if folder else []
            if depth - 1 > len(parts):
                return (Resolution(missing=line.module),)
            base = "/".join([*parts[: len(parts) - depth + 1], *filter(None, rest.split("."))])
            here = self._find_module(base)
            whole = Resolution((here,)) if here else Resolution(missing=line.module)
            paths = [self._find_module(join(base, name)) for name in line.names]
        else:
            whole = self._absolute(folder, line.module)
            paths = [self._file(folder, f"{line.module}.{name}") for name in line.names]
        modules = [Resolution((path,)) for path in paths if path]
        return tuple(dict.fromkeys([*modules, *([whole] if None in paths or not paths else [])]))

    def _absolute(self, folder: str, module: str) -> Resolution:
        if path := self._file(folder, module):
            return Resolution((path,))
        top = module.partition(".")[0]
        own = {*self._sources, self._root_of[folder]}.intersection(self._roots_for(folder, top))
        if any(join(root, top) in self._packages for root in own):
            return Resolution(missing=module)
        return Resolution(outside=top)

    def _find_file(self, folder: str, module: str) -> str | None:
        roots = self._roots_for(folder, module.partition(".")[0])
        paths = (self._find_module(join(root, module.replace(".", "/"))) for root in roots)
        return next(filter(None, paths), None)

    def _roots_for(self, folder: str, top: str) -> Sequence[str]:
        if top in sys.stdlib_module_names:
            # Python would find the standard library first, unless this very package shadows it.
            own = self._root_of[folder]
            package = join(own, top)
            return [own] if package in self._packages and is_inside(folder, package) else []
        return self._roots_around(folder)

    def _sort_roots(self, folder: str) -> Sequence[str]:
        """Return the roots for a file: its own, those of projects, its folder, others."""
        own = self._root_of[folder]
        beside = set[str]() if folder in self._packages else {folder}

        def place(root: str) -> tuple[int, int, str]:
            shared = len(commonprefix([root.split("/"), folder.split("/")]))
            ranks = (root == own, root in self._sources, root in beside, True)
            return ranks.index(True), -shared, root

        around = {root for root in self._root_of.values() if is_inside(folder, root)}
        return sorted({*self._visible, *around, *beside}, key=place)

    def _find_module(self, path: str) -> str | None:
        return next((path + form for form in _FORMS if path + form in self._files), None)

    def _root(self, folder: str) -> str:
        """Return the folder around a folder's topmost package, or the nearest of a project."""
        if folder in self._packages:
            while folder in self._packages:
                folder = dirname(folder)
            return folder
        return next(
            (place for place in reversed(above(f"{folder}/")) if place in self._sources), ""
        )


def _project_folders(listing: Listing) -> Iterator[str]:
    """Yield the folders of projects, and their `src`."""
    for manifest in (path for path in listing.own() if basename(path) in _PROJECTS):
        folder = dirname(manifest)
        yield from (folder, join(folder, "src"))


_GRAMMAR = Grammar(
    "tree_sitter_python",
    """
    (import_statement) @import
    (import_from_statement) @import
    (class_definition name: (identifier) @name) @class
    (function_definition name: (identifier) @name) @function
    (module (expression_statement
      (assignment left: (identifier) @name (#match? @name "^_?[A-Z]")) @constant))
    (type_alias_statement left: (type (identifier) @name)) @type
    """,
)


def _read(path: str, data: bytes) -> FileFacts:
    del path
    return read_source(_GRAMMAR, data, _imports)


def _imports(captures: "dict[str, list[Node]]") -> Sequence[ImportLine]:
    statement = captures["import"][0]
    line = statement.start_point[0] + 1
    named = [_plain(node) for node in statement.children_by_field_name("name")]
    module = statement.child_by_field_name("module_name")
    if module is None:
        return [ImportLine(name, line) for name in named]
    star = any(child.type == "wildcard_import" for child in statement.children)
    names = ("*",) if star else tuple(named)
    return [ImportLine("".join(words_of(module).split()), line, names)]


def _plain(node: "Node") -> str:
    """Return the name that is imported, whatever it is called here."""
    inner = node.child_by_field_name("name") if node.type == "aliased_import" else node
    return "".join(words_of(inner or node).split())


PYTHON = Stack(
    name="Python",
    endings=(".py", ".pyi"),
    read=_read,
    resolver=lambda listing: _PythonRoots(listing).resolve,
    promise="definitions and imports; src layouts, namespace packages and relative imports",
    new_file='"""{purpose}"""\n',
)
