"""Unit tests that stand in a source file beside the code they test."""

import pytest

from forge_bot.runs.edit_checks.proof_by_tests import may_hold_tests, with_tests_of

CODE = "pub fn half(x: u32) -> u32 {\n    x / 3\n}\n"
TESTS = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        assert_eq!(half(6), 3);
    }
}
"""
OTHER = TESTS.replace("halves", "halves_even_numbers")


def test_the_tests_of_another_version_stand_beside_the_code_of_this_one() -> None:
    mended = CODE.replace("3", "2")
    assert with_tests_of(CODE + TESTS, mended + OTHER) == CODE + OTHER


def test_code_below_the_tests_stays_below_them() -> None:
    below = "\npub fn last() {}\n"
    assert with_tests_of(CODE + TESTS + below, OTHER) == CODE + OTHER + below


def test_the_first_tests_of_a_file_come_behind_its_code() -> None:
    assert with_tests_of(CODE.rstrip(), TESTS) == CODE + TESTS.lstrip()


def test_attributes_and_each_of_several_modules_belong_to_the_tests() -> None:
    several = TESTS.replace("mod tests", "#[allow(unused)]\npub mod tests") + TESTS
    assert with_tests_of(CODE, CODE + several) == CODE + several.replace("\n#[cfg", "#[cfg")


@pytest.mark.parametrize(
    "other",
    [
        CODE,
        CODE + TESTS,
        CODE + "#[cfg(test)]\nmod tests;\n",
        CODE + "#[cfg(test)]\nuse std::fs;\n",
        CODE + "#[cfg(test)]\nmod tests {\n",
        CODE + "#[cfg(test)]\n",
        "",
    ],
)
def test_tests_that_are_the_same_or_elsewhere_or_unfinished_change_nothing(other: str) -> None:
    assert with_tests_of(CODE + TESTS, other) is None


def test_only_files_of_rust_hold_both() -> None:
    assert may_hold_tests("src/lib.rs")
    assert not may_hold_tests("src/lib.py")
