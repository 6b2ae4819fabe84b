"""Unit tests that stand in a source file beside the code they test."""

import pytest

from forge_bot.runs.edit_checks.proof_by_tests import with_tests_of

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


MENDED = CODE.replace("3", "2")
SEVERAL = TESTS.replace("mod tests", "#[allow(unused)]\npub mod tests") + TESTS
BELOW = "\npub fn last() {}\n"


@pytest.mark.parametrize(
    ("text", "other", "made"),
    [
        (CODE + TESTS, MENDED + OTHER, CODE + OTHER),
        (CODE + TESTS + BELOW, OTHER, CODE + OTHER + BELOW),
        (CODE.rstrip(), TESTS, CODE + TESTS.lstrip()),
        (CODE, CODE + SEVERAL, CODE + SEVERAL.replace("\n#[cfg", "#[cfg")),
        *(
            (CODE + TESTS, other, None)
            for other in (
                CODE,
                CODE + TESTS,
                CODE + "#[cfg(test)]\nmod tests;\n",
                CODE + "#[cfg(test)]\nuse std::fs;\n",
                CODE + "#[cfg(test)]\nmod tests {\n",
                CODE + "#[cfg(test)]\n",
                "",
            )
        ),
    ],
)
def test_a_file_gets_the_changed_tests_of_its_other_version(
    text: str, other: str, made: str | None
) -> None:
    assert with_tests_of(text, other) == made
