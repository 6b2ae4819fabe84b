"""JavaScript and TypeScript: definitions and imports by tree-sitter, also in Vue and Svelte."""

import re
from posixpath import splitext

from forge_bot.project.graph.stacks.resolve_javascript import javascript_resolver
from forge_bot.project.graph.stacks.stack import NewFile, Stack, camel, sentence
from forge_bot.project.graph.syntax import (
    FileFacts,
    Grammar,
    quoted_import,
    read_source,
    unreadable,
)

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
_BEGINS = re.compile(rb"<script\b", re.IGNORECASE)
_ENDS = re.compile(rb"</script\s*>", re.IGNORECASE)


def _read(path: str, data: bytes) -> FileFacts:
    ending = splitext(path)[1]
    if ending in {".vue", ".svelte"}:
        return unreadable(data) or read_source(_TYPED, _script_of(data), quoted_import)
    grammar = {".ts": _TYPED, ".mts": _TYPED, ".cts": _TYPED, ".tsx": _TYPED_MARKUP}
    return read_source(grammar.get(ending, _SCRIPT), data, quoted_import)


def _script_of(data: bytes) -> bytes:
    """Return the scripts of a component at their lines, and blank lines for the rest."""
    made: list[bytes] = []
    place = 0
    while (begins := _BEGINS.search(data, place)) is not None:
        start = data.find(b">", begins.end()) + 1
        ends = _ENDS.search(data, start) if start else None
        if ends is None:
            break
        made += [b"\n" * data.count(b"\n", place, start), data[start : ends.start()]]
        place = ends.start()
    return b"".join(made)


def _scaffold(new: NewFile) -> str:
    typed = new.path.endswith((".ts", ".tsx", ".mts", ".cts"))
    name = camel(new.name)
    if not new.type_name:
        name = name[0].lower() + name[1:]
        returned = ": void" if typed else ""
        text = f'function {name}(){returned} {{\n  throw new Error("not written yet");\n}}\n'
    else:
        text = f"{'interface' if typed else 'class'} {name} {{}}\n"
    return f"/** {sentence(new)} */\nexport {text}"


JAVASCRIPT = Stack(
    name="JavaScript and TypeScript",
    endings=(".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    read=_read,
    resolver=javascript_resolver,
    promise="definitions and imports; tsconfig paths, index files, packages of a workspace",
    scaffold=_scaffold,
)
