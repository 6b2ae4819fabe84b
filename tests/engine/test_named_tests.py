"""A name in a document is that of a test which a runner reports, or it is not."""

import pytest

from forge_bot.verification.red_tests import is_listed, names_test
from tests.fakes.rows import rows

ROWS = rows(__file__)

PYTEST = "tests/test_cli.py::TestCli::test_a[x-1]"


@pytest.mark.parametrize(("name", "test", "same"), ROWS["a_name_is_that_of"])
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
    ):
        assert is_listed(name, passed), name
    for name in ("b.py::test_a", "test_c (m.T.test_c)", "a.test.js > subtracts"):
        assert not is_listed(name, passed), name
