"""The table of attack classes, held against the tests that are there and against the page that
people read.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.security.classes import CLASSES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security-model.md"


def named_in(path: Path) -> set[str]:
    found = ast.parse(path.read_text(encoding="utf-8")).body
    return {
        each.name
        for each in found
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and each.name.startswith("test_")
    }


def test_every_class_is_shown_or_says_why_not() -> None:
    numbers = [int(name.removeprefix("S")) for name in CLASSES]
    assert numbers[:34] == list(range(1, 35))
    assert numbers == sorted(set(numbers))
    assert all(each.shown or each.not_shown for each in CLASSES.values())


def test_a_class_found_by_attacking_the_real_thing_names_the_commit_that_it_got_through() -> None:
    for name, each in CLASSES.items():
        if int(name.removeprefix("S")) > 34:
            assert re.fullmatch(r"[0-9a-f]{7,40}", each.red_at), name


@pytest.mark.parametrize("node", sorted({node for each in CLASSES.values() for node in each.shown}))
def test_what_the_table_names_is_there(node: str) -> None:
    path, _, name = node.partition("::")
    assert name in named_in(ROOT / path)


def test_every_test_here_stands_for_a_class() -> None:
    shown = {node for each in CLASSES.values() for node in each.shown}
    here = {
        f"tests/security/{path.name}::{name}"
        for path in Path(__file__).parent.glob("test_*.py")
        if path.name != Path(__file__).name
        for name in named_in(path)
    }
    ordinary = {
        "tests/security/test_commits.py::test_ordinary_work_is_pushed",
        "tests/security/test_commits.py::test_a_value_that_stood_in_a_file_before_is_no_leak",
    }
    assert here - ordinary <= shown, here - ordinary - shown


def test_the_page_has_the_same_table() -> None:
    rows = re.findall(
        r"^\| (S\d+) \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    said = {number: (name, rest) for number, name, rest in rows}
    assert list(said) == list(CLASSES)
    for number, each in CLASSES.items():
        name, rest = said[number]
        assert name == each.name
        assert len(re.findall(r"`tests/[^`]+`", rest)) == len(
            {node.partition("::")[0] for node in each.shown}
        )
        assert bool(each.not_shown) == ("not shown" in rest.lower())
