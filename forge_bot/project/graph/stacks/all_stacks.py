"""All stacks, and which one fits a file. Of Rust, Java and Ruby only definitions are read.

In Go a package is a folder, and an import path is the module's path and that folder, so the import
lines say the same as `go list`; it is not run, since it may fetch a toolchain.
"""

import re
from collections import defaultdict
from functools import partial
from posixpath import basename, dirname, splitext

from forge_bot.project.file_list import Listing, join
from forge_bot.project.graph.stacks.javascript_stack import JAVASCRIPT
from forge_bot.project.graph.stacks.python_stack import PYTHON
from forge_bot.project.graph.syntax import (
    FileFacts,
    Grammar,
    ImportLine,
    Resolution,
    Resolve,
    Stack,
    quoted_import,
    read_source,
)

_RUST = Grammar(
    "tree_sitter_rust",
    """
    (function_item name: (identifier) @name) @function
    (struct_item name: (type_identifier) @name) @struct
    (enum_item name: (type_identifier) @name) @enum
    (trait_item name: (type_identifier) @name) @trait
    (type_item name: (type_identifier) @name) @type
    (const_item name: (identifier) @name) @constant
    (macro_definition name: (identifier) @name) @macro
    (mod_item name: (identifier) @name body: (_)) @module
    (impl_item type: [(type_identifier) @name (generic_type type: (type_identifier) @name)]) @impl
    """,
)
_JAVA = Grammar(
    "tree_sitter_java",
    """
    (class_declaration name: (identifier) @name) @class
    (record_declaration name: (identifier) @name) @class
    (interface_declaration name: (identifier) @name) @interface
    (enum_declaration name: (identifier) @name) @enum
    (method_declaration name: (identifier) @name) @method
    (constructor_declaration name: (identifier) @name) @method
    """,
)
_RUBY = Grammar(
    "tree_sitter_ruby",
    """
    (class name: (_) @name) @class
    (module name: (_) @name) @module
    (method name: (_) @name) @method
    (singleton_method name: (_) @name) @method
    """,
)
_PROMISE = "definitions and commands; imports are not resolved"


def _read(grammar: Grammar, path: str, data: bytes) -> FileFacts:
    del path
    return read_source(grammar, data, lambda _: ())


RUST = Stack("Rust", (".rs",), partial(_read, _RUST), None, _PROMISE)
JAVA = Stack("Java", (".java",), partial(_read, _JAVA), None, _PROMISE)
RUBY = Stack("Ruby", (".rb", ".rake"), partial(_read, _RUBY), None, _PROMISE)


_GO = Grammar(
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


def _read_go(path: str, data: bytes) -> FileFacts:
    del path
    facts = read_source(_GO, data, quoted_import)
    return facts._replace(is_program=_MAIN.search(data) is not None)


def _go_resolver(listing: Listing) -> Resolve:
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
    read=_read_go,
    resolver=_go_resolver,
    promise="definitions and imports; an import of a package means its files",
    new_file="// {purpose}\npackage {package}\n",
)


STACKS = (PYTHON, JAVASCRIPT, GO, RUST, JAVA, RUBY)
_BY_ENDING = {ending: stack for stack in STACKS for ending in stack.endings}


def stack_for(path: str) -> Stack | None:
    """Return the stack that reads a file; None if none does."""
    return _BY_ENDING.get(splitext(path)[1])


def resolves(path: str) -> bool:
    """Return whether the imports of a file are resolved to files."""
    stack = stack_for(path)
    return stack is not None and stack.resolver is not None


def named_stack(name: str) -> Stack | None:
    """Return a stack by its word in addresses; `typescript` is JavaScript's."""
    word = "javascript" if name.lower() == "typescript" else name.lower()
    return next((stack for stack in STACKS if stack.slug == word), None)
