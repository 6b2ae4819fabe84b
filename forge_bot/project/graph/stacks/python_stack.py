"""Python: definitions and imports by tree-sitter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forge_bot.project.graph.stacks.resolve_python import python_resolver
from forge_bot.project.graph.stacks.stack import NewFile, Stack, camel, parts_of, sentence
from forge_bot.project.graph.syntax import FileFacts, Grammar, ImportLine, read_source, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

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


def _scaffold(new: NewFile) -> str:
    if new.type_name:
        return f'"""{sentence(new)}"""\n\n\nclass {camel(new.name)}:\n    """{sentence(new)}"""\n'
    body = "    raise NotImplementedError\n"
    name = "_".join(parts_of(new.name))
    return f'"""{sentence(new)}"""\n\n\ndef {name}() -> None:\n    """{sentence(new)}"""\n{body}'


PYTHON = Stack(
    name="Python",
    endings=(".py", ".pyi"),
    read=_read,
    resolver=python_resolver,
    promise="definitions and imports; src layouts, namespace packages and relative imports",
    scaffold=_scaffold,
)
