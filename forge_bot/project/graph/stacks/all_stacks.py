"""All stacks, and which one fits a file. Of Rust, Java and Ruby only definitions are read."""

from functools import lru_cache, partial
from posixpath import splitext

from forge_bot.project.graph.stacks.go_stack import GO
from forge_bot.project.graph.stacks.javascript_stack import JAVASCRIPT
from forge_bot.project.graph.stacks.pipeline_stack import PIPELINES, is_pipeline
from forge_bot.project.graph.stacks.python_stack import PYTHON
from forge_bot.project.graph.stacks.stack import Stack
from forge_bot.project.graph.syntax import FileFacts, Grammar, read_source

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


STACKS = (PYTHON, JAVASCRIPT, GO, RUST, JAVA, RUBY, PIPELINES)
_BY_ENDING = {ending: stack for stack in STACKS for ending in stack.endings}


@lru_cache(maxsize=1 << 16)
def stack_for(path: str) -> Stack | None:
    """Return the stack that reads a file; None if none does."""
    return PIPELINES if is_pipeline(path) else _BY_ENDING.get(splitext(path)[1])


def resolves(path: str) -> bool:
    """Return whether the imports of a file are resolved to files."""
    stack = stack_for(path)
    return stack is not None and stack.resolver is not None


def named_stack(name: str) -> Stack | None:
    """Return a stack by its word in addresses; `typescript` is JavaScript's."""
    word = "javascript" if name.lower() == "typescript" else name.lower()
    return next((stack for stack in STACKS if stack.slug == word), None)
