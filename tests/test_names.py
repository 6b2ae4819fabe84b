"""Names that a stranger meets: each class name and each file name has one meaning."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.fakes.own_code import PRODUCT, nodes

pytestmark = pytest.mark.xdist_group("own code")
_CLAUSE = re.compile(r"(What|Whether|Where|Which|Who|Whose|How|When|That)\b")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def twice(names: Iterator[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def test_no_class_name_is_defined_twice() -> None:
    public = (
        node.name
        for node in nodes()
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert twice(public) == set()


def test_no_file_name_is_used_twice() -> None:
    stems = (path.stem for path in PRODUCT.rglob("*.py") if not path.stem.startswith("__"))
    assert twice(stems) == set()


def test_docstrings_begin_with_a_verb_or_name_a_thing() -> None:
    clauses = [
        words
        for node in nodes()
        if isinstance(node, _Documented)
        and (words := ast.get_docstring(node))
        and _CLAUSE.match(words)
    ]
    assert clauses == []
