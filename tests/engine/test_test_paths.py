"""Which files belong to tests, by their paths."""

import pytest

from forge_bot.artifacts.test_paths import belongs_to_tests
from tests.fakes.rows import rows

ROWS = rows(__file__)


@pytest.mark.parametrize("path", ROWS["files_of_tests_are_known"])
def test_files_of_tests_are_known(path: str) -> None:
    assert belongs_to_tests(path)


@pytest.mark.parametrize("path", ROWS["code_with_such_a_word"])
def test_code_with_such_a_word_in_its_name_is_none(path: str) -> None:
    assert not belongs_to_tests(path)
