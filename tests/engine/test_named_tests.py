"""A name in a document is that of a test which a runner reports, or it is not."""

import pytest

from forge_bot.verification.named_tests import is_listed, names_test

PYTEST = "tests/test_cli.py::TestCli::test_a[x-1]"


@pytest.mark.parametrize(
    ("name", "test", "same"),
    [
        ("tests/test_next.py", "tests.test_next.NextDay.test_a_stranger_is_told", True),
        ("test_a", PYTEST, True),
        ("test_a[y]", PYTEST, True),
        ("test_a()", PYTEST, True),
        ("TestCli.test_a", PYTEST, True),
        ("TestCli", PYTEST, True),
        ("tests/test_cli.py::TestCli::test_a", PYTEST, True),
        ("test_cli.py:12", PYTEST, True),
        ("test_", PYTEST, False),
        ("est_a", PYTEST, False),
        ("tests/test_cli.py::test_a", PYTEST, False),
        ("test_ab", PYTEST, False),
        ("test_a", "test_a (m.T.test_a)", True),
        ("m.T.test_a", "test_a (m.T.test_a)", False),
        ("T::test_a", "x.T.test_a", True),
        ("TestRead", "example.com/io TestRead", True),
        ("TestRead/empty file", "example.com/io TestRead", True),
        ("TestRe", "example.com/io TestRead", False),
        ("tests::it_adds", "tests::it_adds", True),
        ("adds two numbers", "a.test.js › sum › adds two numbers", True),
        ("sum > adds two numbers", "a.test.js › sum › adds two numbers", True),
        ("adds two", "a.test.js › sum › adds two numbers", False),
        ("adds … numbers", "a.test.js › sum › adds two numbers", True),
        ("adds %s", "a.test.js › sum › adds two", True),
        ("says ${word} twice", "a.test.js › says hello twice", True),
        ("", PYTEST, False),
    ],
)
def test_a_name_is_that_of_a_test_of_its_class_or_of_its_file(
    name: str, test: str, same: bool
) -> None:
    assert names_test(name, test) is same


def test_a_test_that_failed_elsewhere_is_listed_by_its_name_its_part_or_its_title() -> None:
    passed = {"a.py::test_a", "test_b (m.T.test_b)", "works (x)", "adds"}
    for name in (
        "a.py::test_a",
        "test_b (m.T.test_b) (i=1)",
        "a.test.js > adds",
        "works (x) (-p y)",
    ):
        assert is_listed(name, passed), name
    for name in ("b.py::test_a", "test_c (m.T.test_c)", "a.test.js > subtracts"):
        assert not is_listed(name, passed), name
