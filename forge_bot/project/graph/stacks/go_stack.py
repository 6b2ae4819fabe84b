"""Go: definitions by tree-sitter; imports by the module paths of go.mod.

A package is a folder, and an import path is the module's path and that folder, so the import lines
say the same as `go list`; it is not run, since it may fetch a toolchain.
"""

import re
from collections import defaultdict
from posixpath import basename, dirname

from forge_bot.project.file_list import Listing, join
from forge_bot.project.graph.stacks.stack import (
    Resolution,
    Resolve,
    Stack,
)
from forge_bot.project.graph.syntax import (
    FileFacts,
    Grammar,
    ImportLine,
    quoted_import,
    read_source,
)

_GRAMMAR = Grammar(
    "tree_sitter_go",
    """
    (import_spec path: (_) @import)
    (function_declaration name: (identifier) @name) @function
    (method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner))
      name: (field_identifier) @name) @method
    (type_spec name: (type_identifier) @name) @type
    """,
)
_MAIN = re.compile(rb"^package main\b", re.MULTILINE)
_MODULE = re.compile(r'^module\s+"?([^\s"]+)', re.MULTILINE)


def _read(path: str, data: bytes) -> FileFacts:
    del path
    facts = read_source(_GRAMMAR, data, quoted_import)
    return facts._replace(marks=(*facts.marks, "main")) if _MAIN.search(data) else facts


def _resolver(listing: Listing) -> Resolve:
    modules = {
        match[1]: dirname(path)
        for path in reversed(listing.files)
        if basename(path) == "go.mod" and (match := _MODULE.search(listing.text(path)))
    }
    packages: dict[str, list[str]] = defaultdict(list)
    for path in listing.files:
        if path.endswith(".go") and not path.endswith("_test.go"):
            packages[dirname(path)].append(path)

    def resolve(importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        del importer
        path = line.module
        parts = path.split("/")
        for count in range(len(parts), 0, -1):
            module = "/".join(parts[:count])
            if module in modules:
                folder = join(modules[module], "/".join(parts[count:])).rstrip("/")
                files = packages.get(folder)
                return (Resolution(tuple(files)) if files else Resolution(missing=path),)
        return (Resolution(outside=path),)

    return resolve


GO = Stack(
    name="Go",
    endings=(".go",),
    read=_read,
    resolver=_resolver,
    promise="definitions and imports; an import of a package means its files",
    new_file="// {purpose}\npackage {package}\n",
)
