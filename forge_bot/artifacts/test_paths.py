"""Tell the files of tests from those of the code they test, by their paths."""

import re

from forge_bot.text_format import names

TEST_FOLDERS = frozenset(
    names("test tests spec specs e2e testdata __tests__ __mocks__ __snapshots__")
)
"""Folders whose files test other code, or help to."""
_NAMED = re.compile(
    r"(?:^|/)(?:test_[^/]*|test[A-Z0-9][^/]*|[^/]*_tests?|tests?)\.py$|_test\.(?:go|dart|exs)$"
    r"|_(?:spec|test)\.rb$|(?:^|[/_])tests?\.rs$|(?:^|/)tests/[^/]+\.rs$"
    r"|[.\-_](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)__tests__/[^/]+\.[cm]?[jt]sx?$"
    r"|[a-z](?:Tests?|Spec|IT)\.(?:java|kt|cs|scala|swift)$"
)
_RECORD = ".specs/"


def is_test_file(path: str) -> bool:
    return _NAMED.search(path) is not None


def belongs_to_tests(path: str) -> bool:
    """Return whether a file holds tests, helps those beside it, or lies in a folder of tests."""
    *folders, name = path.split("/")
    aside = name == "conftest.py" or name.endswith(".snap") or not TEST_FOLDERS.isdisjoint(folders)
    return (aside or is_test_file(path)) and not path.startswith(_RECORD)


def is_page(path: str) -> bool:
    """Return whether a file is documentation, by its ending."""
    return path.lower().endswith((".md", ".rst", ".txt", ".adoc"))
