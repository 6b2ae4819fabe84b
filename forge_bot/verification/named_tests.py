"""Compare the names of tests in documents with those that runners report."""

import re
from collections.abc import Collection

_LINE = re.compile(r":\d+(?:-\d+)?$")
_CASES = re.compile(r"(?<=\S)(?:\[[^\]]*\]|\([^()]*\))$")
_STEPS = re.compile(r"::| [›>] |[#.]")
_GO_CASE = re.compile(r"(?P<test>Test\w*)/.+")
_OPEN = re.compile(r"…|%[sdifjopc#$]|\\\$\\\{[^}]*\\\}|\\\$\w[\w.]*")
"""A place of a title for a value, as `each` of Jest and Vitest has them, or where it is cut."""


def plain_name(name: str) -> str:
    """Return a name without the number of a line."""
    return _LINE.sub("", name.strip()).removeprefix("./")


def names_test(name: str, test: str) -> bool:
    """Return whether a document's name is that of a reported test, of a part of it, of its class
    or of its file: `test_a` and `tests/a.py::A` of `tests/a.py::A::test_a[1]`.
    """
    plain = plain_name(name)
    plain = plain if " " in plain else _CASES.sub("", plain)
    if (case := _GO_CASE.fullmatch(plain)) is not None:
        plain = case["test"]
    if not plain:
        return False
    if plain.endswith(".py") and names_test(plain[:-3].replace("/", "."), test):
        # unittest names a file as a module.
        return True
    words = _OPEN.sub(".*", re.escape(_STEPS.sub(":", plain)))
    return re.search(rf"(?:^|[^\w]){words}(?=$|[:\[(/]| \()", _STEPS.sub(":", test)) is not None


def is_listed(name: str, passed: Collection[str]) -> bool:
    """Return whether a test that failed elsewhere is among those that passed here: by its name, by
    that of the test which a part belongs to, or by its title where only titles are listed.
    """
    whole = name in passed or _STEPS.split(name)[-1] in passed
    return whole or any(name.startswith(f"{test} ") for test in passed)
