"""Unit tests that stand in a source file beside the code they test, as Rust has them."""

from collections.abc import Iterator, Sequence

_ENDING = ".rs"
_TESTS = "#[cfg(test)]"
"""Source: "Test Organization" in https://doc.rust-lang.org/book/ch11-03-test-organization.html."""


def may_hold_tests(path: str) -> bool:
    """Return whether a file of this name can hold code and unit tests."""
    return path.endswith(_ENDING)


def with_tests_of(text: str, other: str) -> str | None:
    """Return a source file with the unit tests of another version of it; None where these are the
    same, or where the other version has none.
    """
    lines, theirs = text.splitlines(keepends=True), other.splitlines(keepends=True)
    own, new = [*_modules(lines)], [*_modules(theirs)]
    if not new:
        return None
    place = own[0].start if own else len(lines)
    inside = {number for module in own for number in module}
    code = [line for number, line in enumerate(lines) if number not in inside]
    if code and place == len(lines) and not code[-1].endswith("\n"):
        code[-1] += "\n"
    tests = [theirs[number] for module in new for number in module]
    made = "".join((*code[:place], *tests, *code[place:]))
    return None if made == text else made


def _modules(lines: Sequence[str]) -> Iterator[range]:
    """Yield the lines of each module of tests at the top level, its attributes included."""
    number = 0
    while number < len(lines):
        first = number
        number += 1
        if lines[first].rstrip() != _TESTS:
            continue
        while number < len(lines) and lines[number].startswith("#["):
            number += 1
        if number == len(lines) or not lines[number].startswith(("mod ", "pub mod ")):
            continue
        while number < len(lines) and lines[number].rstrip() != "}":
            number += 1
        if number == len(lines):
            return
        number += 1
        yield range(first, number)
