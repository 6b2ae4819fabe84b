"""Python: definitions and imports by tree-sitter, and the files that an import names: source roots,
namespace packages, relative imports.

A root is a folder that Python would search: one that the project declares, the repository itself,
`src`, and the folder around each topmost package. Files below a root are tried before other files,
except for names of the standard library.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename, commonprefix, dirname
from typing import TYPE_CHECKING

from forge_bot.artifacts.test_paths import TEST_FOLDERS
from forge_bot.project.file_list import (
    Listing,
    above,
    ini,
    items,
    join,
    string,
    strings,
    table,
    toml,
)
from forge_bot.project.graph.stacks.stack import (
    Resolution,
    Resolve,
    Stack,
)
from forge_bot.project.graph.syntax import FileFacts, Grammar, ImportLine, read_source, words_of
from forge_bot.project.scoped_commands import is_inside

if TYPE_CHECKING:
    from tree_sitter import Node


_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_SOURCE_KEYS = (
    ("setuptools", "packages", "find", "where"),
    ("setuptools", "package-dir", ""),
    ("pytest", "ini_options", "pythonpath"),
    ("maturin", "python-source"),
    ("pdm", "build", "package-dir"),
    ("uv", "build-backend", "module-root"),
    ("hatch", "build", "targets", "wheel", "sources"),
)
"""The keys below `tool` in pyproject.toml that name folders of sources."""
_FORMS = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")


def python_resolver(listing: Listing) -> Resolve:
    return _PythonRoots(listing).resolve


class _PythonRoots:
    def __init__(self, listing: Listing) -> None:
        self._files = frozenset(path for path in listing.files if path.endswith((".py", ".pyi")))
        self._packages = {dirname(path) for path in self._files if basename(path) == "__init__.py"}
        usual = () if "src" in self._packages else ("src",)
        self._find_source_folders = {"", *_find_source_folders(listing), *usual}
        folders = {folder for path in self._files for folder in above(path)}
        self._root_of = {folder: self._root(folder) for folder in folders | {""}}
        self._visible = self._find_source_folders | {
            self._root_of[folder]
            for folder in {dirname(path) for path in self._files.intersection(listing.own())}
            if TEST_FOLDERS.isdisjoint(folder.split("/"))
        }
        self._tops = self._top_names()
        self._known: dict[tuple[str, str], str | None] = {}

    def resolve(self, importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        """Return the targets of one import; an import of several names can have several files."""
        if line.module.startswith("."):
            return self._relative(importer, line)
        if not line.names:
            return (self._absolute(importer, line.module),)
        whole = self._absolute(importer, line.module)
        paths = [
            self._file(importer, f"{line.module}.{name}") for name in line.names if name != "*"
        ]
        return self._join_resolutions(
            whole, [*paths, *(None for name in line.names if name == "*")]
        )

    def _relative(self, importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        rest = line.module.lstrip(".")
        folder: str = dirname(importer)
        for _ in range(len(line.module) - len(rest) - 1):
            if not folder:
                return (Resolution(missing=line.module),)
            folder = dirname(folder)
        base = join(folder, rest.replace(".", "/")) if rest else folder
        here = self._find_module(base)
        whole = Resolution((here,)) if here else Resolution(missing=line.module)
        return self._join_resolutions(
            whole, [self._find_module(join(base, name)) for name in line.names]
        )

    @staticmethod
    def _join_resolutions(whole: Resolution, paths: list[str | None]) -> tuple[Resolution, ...]:
        """Return a file for each name that is a module, and the package once for the others."""
        modules = [Resolution((path,)) for path in paths if path]
        return tuple(dict.fromkeys([*modules, *([whole] if None in paths or not paths else [])]))

    def _absolute(self, importer: str, module: str) -> Resolution:
        if path := self._file(importer, module):
            return Resolution((path,))
        top = module.partition(".")[0]
        if any(
            join(root, top) in self._packages
            for root in self._roots_for(importer, top)
            if root in self._find_source_folders or root == self._root_of[dirname(importer)]
        ):
            return Resolution(missing=module)
        return Resolution(outside=top)

    def _file(self, importer: str, module: str) -> str | None:
        folder = dirname(importer)
        key = (folder, module)
        if key not in self._known:
            inner = module.replace(".", "/")
            roots = self._roots_for(importer, module.partition(".")[0])
            paths = (self._find_module(join(root, inner)) for root in roots)
            self._known[key] = next(filter(None, paths), None)
        return self._known[key]

    def _roots_for(self, importer: str, top: str) -> Sequence[str]:
        """Return the roots that hold a top name: its own, the declared ones, its folder, others."""
        folder = dirname(importer)
        own = self._root_of[folder]
        if top in sys.stdlib_module_names:
            # Python would find the standard library first, unless this very package shadows it.
            package = join(own, top)
            return [own] if package in self._packages and is_inside(importer, package) else []
        beside = set[str]() if folder in self._packages else {folder}

        def place(root: str) -> tuple[int, int, str]:
            shared = len(commonprefix([root.split("/"), folder.split("/")]))
            ranks = (root == own, root in self._find_source_folders, root in beside, True)
            return ranks.index(True), -shared, root

        holding = self._tops.get(top, frozenset[str]())
        seen = (root for root in holding if root in self._visible or is_inside(importer, root))
        return sorted({*seen, *beside}, key=place)

    def _find_module(self, path: str) -> str | None:
        for form in _FORMS:
            if path + form in self._files:
                return path + form
        return None

    def _root(self, folder: str) -> str:
        """Return the folder around a folder's topmost package, or the nearest declared one."""
        if folder in self._packages:
            while folder in self._packages:
                folder = dirname(folder)
            return folder
        return next(
            (
                place
                for place in (*reversed(above(folder + "/")), "")
                if place in self._find_source_folders
            ),
            "",
        )

    def _top_names(self) -> Mapping[str, frozenset[str]]:
        roots = {*self._root_of.values(), *self._find_source_folders}
        tops: dict[str, set[str]] = defaultdict(set)
        for path in self._files:
            for root in roots.intersection(("", *above(path))):
                name = path[len(root) + 1 if root else 0 :].partition("/")[0]
                tops[name.removesuffix(".pyi").removesuffix(".py")].add(root)
        return {name: frozenset(holders) for name, holders in tops.items()}


def _find_source_folders(listing: Listing) -> Iterator[str]:
    """Yield the source folders that the projects of a repository declare, and the usual ones."""
    for manifest in (path for path in listing.own() if basename(path) in _PROJECTS):
        folder = dirname(manifest)
        yield folder
        if not listing.has(join(folder, "src/__init__.py")) and listing.has_folder(
            join(folder, "src")
        ):
            yield join(folder, "src")
        for name in _find_names(basename(manifest), listing.text(manifest)):
            plain = "/".join(part for part in name.split("/") if part not in {"", "."})
            if ".." not in plain.split("/"):
                yield join(folder, plain) if plain else folder


def _find_names(manifest: str, text: str) -> Iterator[str]:
    if manifest == "setup.cfg":
        sections = ini(text)
        yield from sections.get("options.packages.find", {}).get("where", "").split()
        for line in sections.get("options", {}).get("package_dir", "").splitlines():
            name, equals, folder = line.partition("=")
            if equals and not name.strip():
                yield folder.strip()
    elif manifest == "pyproject.toml":
        tool = table(toml(text), "tool")
        for *keys, last in _SOURCE_KEYS:
            yield from strings(table(tool, *keys).get(last))
        for package in items(table(tool, "poetry").get("packages")):
            yield string(table(package).get("from"))
        for package in strings(table(tool, "hatch", "build", "targets", "wheel").get("packages")):
            yield dirname(package)


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
    resolver=python_resolver,
    promise="definitions and imports; src layouts, namespace packages and relative imports",
    new_file='"""{purpose}"""\n',
)
