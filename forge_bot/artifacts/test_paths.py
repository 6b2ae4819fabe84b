"""Tell the files of tests from those of the code they test, by their paths."""

import re

_NAMED = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?|conftest)\.py$|_test\.(?:go|dart|exs)$|_spec\.rb$"
    r"|(?:^|[/_])tests?\.rs$"
    r"|[.\-_](?:test|spec)\.[cm]?[jt]sx?(?:\.snap)?$|[a-z](?:Tests?|Spec)\."
    r"(?:java|kt|cs|scala|swift)$"
)
_FOLDER = re.compile(r"(?:^|/)(?:tests?|testing|specs?|__tests__|testdata|__snapshots__)/")
_RECORD = re.compile(r"^\.specs/")


def belongs_to_tests(path: str) -> bool:
    """Return whether a file holds tests, or lies in a folder of tests beside them."""
    if _RECORD.search(path):
        return False
    return _NAMED.search(path) is not None or _FOLDER.search(path) is not None
