"""A regular expression costs nothing until it is used, and is then like any other; each in the
product can be compiled.
"""

import ast
import gc
import importlib
import re
import sys
from collections.abc import Iterator

import pytest

from forge_bot.lazy_regex import lazy_regex
from tests.fakes.own_code import PRODUCT, nodes_of_files

pytestmark = pytest.mark.xdist_group("own code")


def test_it_does_what_a_compiled_one_does() -> None:
    late, early = lazy_regex(r"(?P<a>\w)-", re.IGNORECASE), re.compile(r"(?P<a>\w)-", re.IGNORECASE)
    assert late.sub("", "x-y-z") == early.sub("", "x-y-z") == "z"
    assert late.findall("x-y-") == early.findall("x-y-")
    assert late.split("x-y") == early.split("x-y")
    assert late.subn("", "x-y-z") == early.subn("", "x-y-z")
    assert (late.search("--") is None) == (early.search("--") is None)
    assert [each["a"] for each in late.finditer("x-y-")] == ["x", "y"]
    assert late.match("x-y") is not None
    assert late.fullmatch("x-y") is None
    assert (late.pattern, late.flags, late.groups) == (early.pattern, early.flags, early.groups)
    assert late.groupindex == early.groupindex
    assert lazy_regex(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_it_is_compiled_by_its_first_use_and_not_before() -> None:
    broken = lazy_regex("(")
    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("x")


def test_each_of_the_product_can_be_compiled() -> None:
    for path in sorted(PRODUCT.rglob("*.py")):
        if path.name != "__main__.py":
            parts = path.relative_to(PRODUCT.parent).with_suffix("").parts
            importlib.import_module(".".join(part for part in parts if part != "__init__"))
    kind = type(lazy_regex("x"))
    modules = [module for name, module in sys.modules.items() if name.startswith("forge_bot.")]
    # Those that stand in tables too: what a collector froze at the start is in no list of its.
    values = [value for module in modules for value in vars(module).values()]
    found = [each for each in (*values, *gc.get_referents(*values)) if type(each) is kind]
    assert len(found) > 400
    for each in found:
        if each.pattern != "(":
            assert isinstance(each.flags, int), each.pattern


def compiled_at_once(node: ast.AST) -> Iterator[int]:
    """Yield the lines at which a module, and no function, calls `re.compile`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.Call) and ast.unparse(child.func) == "re.compile":
            yield child.lineno
        yield from compiled_at_once(child)


def test_no_module_compiles_one_when_it_is_imported() -> None:
    found = [
        f"{path.relative_to(PRODUCT)}:{line}"
        for path, nodes in nodes_of_files().items()
        for line in compiled_at_once(nodes[0])
    ]
    assert found == []


BEYOND_LINES = re.compile(r"\^(?:\(\?:)?(?:\\s[*+{]|\[[^\]^]*\\s[^\]]*\][*+{])(?!0,)")
"""A run of blanks at the beginning of a line, which may go on over many empty lines."""


def test_no_pattern_for_lines_looks_for_blanks_over_the_ends_of_lines() -> None:
    """Each empty line would be the beginning of all that follow, and the time to read a file of
    empty lines would grow with their square.
    """
    found = [
        f"{path.relative_to(PRODUCT)}:{node.lineno}"
        for path, nodes in nodes_of_files().items()
        for node in nodes
        if isinstance(node, ast.Call)
        and "MULTILINE" in (words := ast.unparse(node))
        and BEYOND_LINES.search(words.replace("\\\\", "\\"))
    ]
    assert found == []
