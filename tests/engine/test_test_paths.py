"""Which files belong to tests, by their paths."""

import pytest

from forge_bot.artifacts.test_paths import belongs_to_tests


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py",
        "src/pkg/a_test.py",
        "tests/data/answer.json",
        "conftest.py",
        "pkg/a_test.go",
        "src/a.test.ts",
        "src/a.spec.jsx",
        "src/__snapshots__/a.test.ts.snap",
        "src/main/java/FooTest.java",
        "spec/a_spec.rb",
        "pkg/testdata/x.txt",
        "e2e/login.ts",
        "crate/tests/whole.rs",
    ],
)
def test_files_of_tests_are_known(path: str) -> None:
    assert belongs_to_tests(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/latest.py",
        "src/inspect.py",
        "contest/entry.go",
        "src/specification.py",
        "app/attest.ts",
        "docs/testing.md",
        "shop/testing/client.py",
        ".specs/run/tests/x.md",
    ],
)
def test_code_with_such_a_word_in_its_name_is_none(path: str) -> None:
    assert not belongs_to_tests(path)
