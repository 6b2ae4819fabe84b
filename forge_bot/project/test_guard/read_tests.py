"""Tests in source text by its syntax tree: Python, JavaScript, TypeScript, Go and Rust."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from posixpath import splitext
from typing import TYPE_CHECKING, NamedTuple

from forge_bot.project.graph.syntax import broken_line, syntax_tree, unreadable, words_of

if TYPE_CHECKING:
    from tree_sitter import Node


class TestPart(NamedTuple):
    """A test, a group of tests or a helper of tests; `marks` skip it, `hides` keep it green."""

    name: str
    is_test: bool
    assertions: tuple[str, ...]
    cases: tuple[str, ...]
    marks: tuple[str, ...]
    hides: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name without those of classes and groups around it."""
        return self.name.rpartition(_INSIDE)[2]


class TestFile(NamedTuple):
    """The parts of a file of tests, what leaves out tests of the whole file, and the line where it
    does not fit its grammar, or 0.
    """

    parts: tuple[TestPart, ...]
    marks: tuple[str, ...]
    broken: int = 0


class _Found(NamedTuple):
    """A part before it is read: `outer` are decorators and the like, which belong to it."""

    name: str
    node: "Node"
    is_test: bool = False
    is_group: bool = False
    outer: "tuple[Node, ...]" = ()


class _Language(NamedTuple):
    """The form of tests in a language. The patterns fit the name of what is called, `mark` also a
    decorator or attribute.
    """

    package: str
    part: "Callable[[Node], _Found | None]"
    asserts: re.Pattern[str]
    mark: re.Pattern[str]
    hides: re.Pattern[str]
    function: str = "language"


_INSIDE = " › "
_CALLS = frozenset({"call", "call_expression", "macro_invocation"})
_CALLED = ("function", "macro")
_OUTER = frozenset({"decorator", "attribute_item", "inner_attribute_item"})
_LISTS = frozenset({"list", "tuple", "array"})
_NOTES = frozenset({"comment", "line_comment", "block_comment"})
_NOTHING = re.compile(r"(?:pass|\.\.\.|return|continue|return None|;|\s)*")
_FILE_MARK = re.compile(
    r"^(?:pytestmark\b.*\b(?:skip|xfail)|collect_ignore|__test__ = False|//\s*go:build"
    r"|#!\[cfg)|\ballow_module_level\b|\bimportorskip\("
)
_HOOK = re.compile(r"pytest_(?:collection_modifyitems|ignore_collect|runtest_\w+|pyfunc_call)")
_ROW = re.compile(r"\{|\"[^\"]*\":\s*\{")
_TABLE = re.compile(r"\bparametrize\b|\b(?:test_)?case\(|\.each$")


@lru_cache(maxsize=64)
def read_tests(path: str, data: bytes) -> TestFile | None:
    """Return the tests of a file; None for one in another language, or that is not text."""
    language = _LANGUAGES.get(splitext(path)[1])
    if language is None or unreadable(data) is not None:
        return None
    root = syntax_tree(language.package, language.function, data)
    found = [*_parts(root, language)]
    inside = {part.node.id for part in found} | {node.id for part in found for node in part.outer}
    rest = [*_walk(root, inside)]
    names = list[str]()
    parts = list[TestPart]()
    for one in found:
        names.append(one.name)
        again = names.count(one.name)
        name = f"{one.name} ({again})" if again > 1 else one.name
        parts.append(_read(one._replace(name=name), language, inside))
    marks = [
        words
        for node in rest
        if node.type in _NOTES or "statement" in node.type or node.type in _OUTER
        if _FILE_MARK.search(words := _line(node))
    ]
    marks += [part.name for part in parts if _HOOK.fullmatch(part.name)]
    return TestFile(tuple(parts), tuple(marks), broken_line(root) if root.has_error else 0)


def _parts(root: "Node", language: _Language) -> Iterator[_Found]:
    """Yield the parts of a file in order; nothing inside a test or a helper is one."""
    left = [(root, "")]
    while left:
        node, before = left.pop()
        part = language.part(node)
        if part is not None:
            part = part._replace(name=f"{before}{part.name}")
            yield part
            before = f"{part.name}{_INSIDE}"
        if part is None or part.is_group:
            left += [(child, before) for child in reversed(node.children)]


def _read(part: _Found, language: _Language, inside: set[int]) -> TestPart:
    own = {part.node.id, *(node.id for node in part.outer)}
    nodes = [*_walk(part.node, inside - own)]
    around = [node for top in part.outer for node in _walk(top, inside - own)]
    calls = [*filter(None, map(_called, nodes))]
    asserted = [node for node in nodes if _is_assertion(node, language)]
    outer = [_line(node) for node in part.outer]
    marks = [words for words in outer if language.mark.search(words)]
    marks += [called for called in calls if language.mark.search(called)]
    raised = [_line(node) for node in nodes if node.type == "raise_statement"]
    marks += [words for words in raised if "SkipTest" in words]
    hides = [called for called in calls if language.hides.search(called)]
    hides += [words for words in outer if language.hides.search(words)]
    hides += [_line(node).partition("{")[0] for node in nodes if _swallows(node)]
    hides += ["return before the end" for _ in range(_early_returns(part.node))]
    return TestPart(
        name=part.name,
        is_test=part.is_test,
        assertions=tuple(map(_assertion_text, asserted)),
        cases=tuple(_cases((*around, *nodes))),
        marks=tuple(marks),
        hides=tuple(hides),
        words=tuple(words_of(node) for node in nodes if not node.child_count),
    )


def _walk(node: "Node", without: set[int]) -> "Iterator[Node]":
    """Yield a node and those below it in order, without some."""
    left = [node]
    while left:
        node = left.pop()
        yield node
        left += [
            child
            for child in reversed(node.children)
            if child.id not in without and child.type not in _NOTES - {"comment"}
        ]


def _called(node: "Node") -> str:
    """Return the name of what a call calls, without the arguments of calls before it."""
    if node.type not in _CALLS:
        return ""
    function = next(filter(None, map(node.child_by_field_name, _CALLED)), None)
    return re.sub(r"\(.*?\)|\s", "", _line(function)) if function is not None else ""


def _line(node: "Node") -> str:
    return " ".join(words_of(node).split())


def _is_assertion(node: "Node", language: _Language) -> bool:
    if node.type == "assert_statement":
        return True
    return bool(called := _called(node)) and language.asserts.search(called) is not None


def _assertion_text(node: "Node") -> str:
    """Return an assertion with the chain that it begins; of Go's `t.Error` the condition too."""
    top = node
    while (above := top.parent) is not None and (
        above.type in {"member_expression", "non_null_expression"}
        or (above.type in _CALLS and above.child_by_field_name("function") == top)
    ):
        top = above
    text = _line(top)
    around: Node | None = node if re.match(r"\w+\.(?:Err|Fat|Fail)", text) else None
    while around is not None and around.type not in {"if_statement", "function_declaration"}:
        around = around.parent
    is_if = around is not None and around.type == "if_statement"
    condition = around.child_by_field_name("condition") if around is not None and is_if else None
    return f"if {_line(condition)}: {text}" if condition is not None else text


def _swallows(node: "Node") -> bool:
    """Return whether a node catches an error and does nothing."""
    if node.type not in {"except_clause", "catch_clause"}:
        return False
    body = node.children[-1]
    words = [_line(child) for child in body.children if child.type not in {*_NOTES, "{", "}"}]
    return _NOTHING.fullmatch(" ".join(words)) is not None


def _early_returns(node: "Node") -> int:
    """Return how many statements of a body end it before its last one."""
    bodies = [node.child_by_field_name("body")]
    if arguments := node.child_by_field_name("arguments"):
        bodies += [child.child_by_field_name("body") for child in arguments.children]
    statements = [
        child
        for body in bodies
        if body is not None
        for child in body.named_children
        if child.type not in _NOTES
    ]
    return sum(
        "return" in child.type or _line(child).startswith("return") for child in statements[:-1]
    )


def _cases(nodes: "Sequence[Node]") -> Iterator[str]:
    """Yield the rows of tables: of decorators, of loops, and Go's lists of literals."""
    for node in nodes:
        if node.type == "attribute_item" and _TABLE.search(_line(node)):
            yield _line(node)
        elif node.type == "literal_value":
            yield from (row for child in node.named_children if _ROW.match(row := _line(child)))
        elif (table := _table_of(node)) is not None:
            yield from (_line(child) for child in table.named_children if child.type not in _NOTES)


def _table_of(node: "Node") -> "Node | None":
    """Return the list that a test is repeated with."""
    if node.type in {"for_statement", "for_in_statement"}:
        table = node.child_by_field_name("right")
    elif node.type in _CALLS and _TABLE.search(_called(node)):
        arguments = node.child_by_field_name("arguments")
        inner = arguments.named_children[::-1] if arguments is not None else []
        table = next((child for child in inner if child.type in _LISTS), None)
    else:
        return None
    return table if table is not None and table.type in _LISTS else None


# -- the languages


def _python(node: "Node") -> _Found | None:
    outer: tuple[Node, ...] = ()
    if node.type == "decorated_definition":
        outer = tuple(child for child in node.children if child.type == "decorator")
        node = node.children[-1]
    elif node.parent is not None and node.parent.type == "decorated_definition":
        return None
    name = node.child_by_field_name("name")
    if node.type not in {"function_definition", "class_definition"} or name is None:
        return None
    words, is_class = words_of(name), node.type == "class_definition"
    is_test = words.startswith("test") and not is_class
    return _Found(words, node, is_test, is_class, outer)


_TEST_CALL = re.compile(r"[xf]?(it|test|specify|bench|describe|context|suite)(?:\.\w+)*")
_GROUPS = frozenset({"describe", "context", "suite"})
_HELPERS = frozenset({"function_declaration", "variable_declarator", "method_definition"})


def _script(node: "Node") -> _Found | None:
    if node.type in _HELPERS:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        helps = node.type != "variable_declarator" or (
            value is not None and "function" in value.type
        )
        return _Found(words_of(name), node) if name is not None and helps else None
    called = _TEST_CALL.fullmatch(_called(node))
    arguments = node.child_by_field_name("arguments") if called is not None else None
    named = arguments.named_children if arguments is not None else []
    if called is None or (not named[1:] and "todo" not in called[0]):
        return None
    return _Found(
        _line(named[0]).strip("'\"`"), node, called[1] not in _GROUPS, called[1] in _GROUPS
    )


def _go(node: "Node") -> _Found | None:
    name = node.child_by_field_name("name") if "declaration" in node.type else None
    if node.type not in {"function_declaration", "method_declaration"} or name is None:
        return None
    words = words_of(name)
    return _Found(words, node, re.match(r"(?:Test|Fuzz|Example)(?![a-z])", words) is not None)


def _rust(node: "Node") -> _Found | None:
    name = node.child_by_field_name("name") if node.type in {"function_item", "mod_item"} else None
    if name is None:
        return None
    outer, before = list["Node"](), node.prev_sibling
    while before is not None and before.type in {"attribute_item", *_NOTES}:
        outer += [before] if before.type == "attribute_item" else []
        before = before.prev_sibling
    is_test = any(re.match(r"#\[(?:\w+::)*r?(?:s?test|test_case)\b", _line(one)) for one in outer)
    return _Found(words_of(name), node, is_test, node.type == "mod_item", tuple(outer))


_PYTHON = _Language(
    "tree_sitter_python",
    _python,
    re.compile(r"(?:^|\.)_?(?:assert|check|verify|expect)\w*$|\.(?:raises|warns|fail)$"),
    re.compile(r"\b(?:skip(?!_?(?:white|space|blank))\w*|xfail|expectedFailure|importorskip)\b"),
    re.compile(r"\bsuppress$|^(?:os\._exit|sys\.exit|exit|quit)$"),
)
_SCRIPT = _Language(
    "tree_sitter_javascript",
    _script,
    re.compile(
        r"^(?:expect\w*|assert\w*|should)$|^assert\.|\.(?:expect|should)$"
        r"|^t\.(?!plan|end|test|comment|skip|teardown|context|pass|log|timeout)\w+$"
    ),
    re.compile(
        r"^x(?:it|test|describe|context|specify)\b|^f(?:it|describe|context)\b"
        r"|^(?:it|test|describe|context|suite|specify|this|t|ctx)\b.*"
        r"\.(?:skip|todo|fixme|failing|fails|skipIf|runIf|only)\b"
    ),
    re.compile(r"^process\.exit$"),
)
_GO = _Language(
    "tree_sitter_go",
    _go,
    re.compile(
        r"^[tbf]\.(?:Error|Fatal|Fail)\w*$|^(?:assert|require|is|qt|cmp)\.\w+$"
        r"|^(?:assert|check|expect|must|verify|require)\w*$"
    ),
    re.compile(r"^[tbf]\.Skip\w*$"),
    re.compile(r"^recover$|^os\.Exit$"),
)
_RUST = _Language(
    "tree_sitter_rust",
    _rust,
    re.compile(
        r"^(?:\w+::)*(?:(?:debug_|prop_)?assert\w*|panic|unreachable|(?:check|verify|expect|test)_\w+)$"
    ),
    re.compile(r"^#!?\[(?:ignore|cfg\((?!test\)))"),
    re.compile(r"^#\[should_panic|catch_unwind$|process::exit$"),
)
_TYPED = _SCRIPT._replace(package="tree_sitter_typescript", function="language_tsx")
_LANGUAGES = {
    **dict.fromkeys((".py",), _PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), _SCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPED._replace(function="language_typescript")),
    ".tsx": _TYPED,
    ".go": _GO,
    ".rs": _RUST,
}
