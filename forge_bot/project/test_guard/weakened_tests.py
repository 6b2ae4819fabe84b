"""Find tests that a change deletes, skips or weakens, by the syntax trees of both versions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests, is_test_file
from forge_bot.project.test_guard.read_tests import TestPart, read_tests
from forge_bot.project.test_guard.strength import (
    EXACT,
    LOOSE,
    PARTIAL,
    configures_checks,
    is_broader,
    lowered,
    strength_of,
    tolerances,
    without_numbers,
)
from forge_bot.text_format import several, short_line

Files = Mapping[str, bytes]
"""The changed files of one version, by name."""

_SNAPSHOT = re.compile(
    r"\.(?:snap|ambr|golden|approved\.\w+|verified\.\w+)$|(?:^|/)(?:__snapshots__|snapshots|golden)/"
)
_SHOWN = 80
_VALUE = 12
_WORDS = re.compile(r"\w+|[\"'`]")


class WeakenedTest(NamedTuple):
    """A loss of proof in the tests, as a sentence; `name` is the test's, or the file's."""

    path: str
    name: str
    what: str

    @property
    def said(self) -> str:
        """Return it as a sentence for people."""
        test = f"`{self.name}` " if self.name != self.path else ""
        return f"{self.path}: {test}{self.what}"


_Part = tuple[str, TestPart]
"""A part of a test file, with the file's path."""


def weakened_tests(before: Files, after: Files) -> tuple[WeakenedTest, ...]:
    """Return what a change takes from the tests, of the files that differ, in both versions."""
    of_files = (
        WeakenedTest(path, path, what)
        for path, data in before.items()
        for what in _of_file(path, data, after)
    )
    return tuple(dict.fromkeys((*_of_parts(before, after), *of_files)))


def files_to_compare(paths: Sequence[str]) -> list[str]:
    """Return those of the changed files that hold tests or say how they are run."""
    return [path for path in paths if _holds_tests(path) or configures_checks(path)]


def _holds_tests(path: str) -> bool:
    return belongs_to_tests(path) or _SNAPSHOT.search(path) is not None or path.endswith(".rs")


# -- files


def _of_file(path: str, data: bytes, after: Files) -> Iterator[str]:
    now, moved = after.get(path), any(basename(other) == basename(path) for other in after)
    text, new = data.decode("utf-8", "replace"), (now or b"").decode("utf-8", "replace")
    if _SNAPSHOT.search(path):
        gone = Counter(filter(str.strip, text.splitlines())) - Counter(new.splitlines())
        if gone and not (now is None and moved):
            yield f"the snapshot was renewed: {several(gone.total(), 'line')} went"
        return
    if configures_checks(path):
        yield from lowered(text, new) if now is not None else ()
        return
    then = read_tests(path, data)
    if then is None:
        if now is None and is_test_file(path) and not moved:
            yield "the file of tests was deleted"
        return
    tests = read_tests(path, now) if now is not None else None
    if tests is None:
        if now is not None:
            yield "the file of tests is no text any more"
        return
    if tests.broken and not then.broken:
        yield f"the file no longer parses, from line {tests.broken}"
    yield from (f"`{mark}` leaves out tests" for mark in Counter(tests.marks) - Counter(then.marks))
    known, values = tolerances(text), tolerances(new)
    yield from (
        f"`{name}` went from {known[name]:g} to {value:g}"
        for name, value in values.items()
        if value > known.get(name, value)
    )


# -- tests


def _of_parts(before: Files, after: Files) -> Iterator[WeakenedTest]:
    then, now = _parts(before), _parts(after)
    pairs, left, new = _paired(then, now)
    gone = _texts(then) - _texts(now)
    grown = [part for _, part in new]
    grown += [now for (_, part), now in pairs if len(now.words) > len(part.words)]
    tests = ((path, read_tests(path, data)) for path, data in after.items() if _holds_tests(path))
    broken = {path for path, read in tests if read is not None and read.broken}
    for (path, part), other in pairs:
        for what in (
            *_marked(part, other),
            *_fewer(
                part, _with_helpers(other, new), gone, max(0, len(other.cases) - len(part.cases))
            ),
            *_fewer_cases(part, other, gone),
            *_broader(part, other),
        ):
            if path not in broken:
                yield WeakenedTest(path, part.title, what)
    for path, part in left:
        if path not in broken and part.is_test and not _is_in_another(part, grown):
            yield WeakenedTest(path, part.title, "was deleted")
    for path, part in new:
        # A file of tests that is new is judged by itself: `only` leaves out all others.
        if only := [mark for mark in part.marks if mark.endswith(".only")]:
            yield WeakenedTest(path, part.title, f"`{only[0]}` leaves out all other tests")


def _parts(files: Files) -> list[_Part]:
    read = ((path, read_tests(path, data)) for path, data in files.items() if _holds_tests(path))
    return [
        (path, part)
        for path, tests in read
        if tests is not None
        for part in tests.parts
        if belongs_to_tests(path) or part.is_test
    ]


def _texts(parts: Sequence[_Part]) -> Counter[str]:
    """Count the assertions and cases of all parts, by their words."""
    return Counter(text for _, part in parts for text in (*part.assertions, *part.cases))


def _paired(
    then: Sequence[_Part], now: Sequence[_Part]
) -> tuple[list[tuple[_Part, TestPart]], list[_Part], list[_Part]]:
    """Pair the parts of two versions, by file and name, then by name alone. Return also the parts
    that are gone, and the new ones.
    """
    pairs, left, new = list[tuple[_Part, TestPart]](), [*then], [*now]
    for key in (_place, _title):
        known = defaultdict[tuple[str, bool], list[_Part]](list)
        for one in new:
            known[key(one)].append(one)
        pairs += [(one, known[key(one)].pop(0)[1]) for one in left if known[key(one)]]
        paired = {id(part) for (_, before), after in pairs for part in (before, after)}
        left = [one for one in left if id(one[1]) not in paired]
        new = [one for one in new if id(one[1]) not in paired]
    return pairs, left, new


def _place(one: _Part) -> tuple[str, bool]:
    return f"{one[0]} {one[1].name}", one[1].is_test


def _title(one: _Part) -> tuple[str, bool]:
    return one[1].title, one[1].is_test


def _is_in_another(part: TestPart, tests: Sequence[TestPart]) -> bool:
    """Return whether all words of a test are in another one, or its values in the rows of one."""
    words = {*part.words} - {part.title}
    values = {word for word in words if re.match(r"[\d\"'`]", word) or len(word) > _VALUE}
    return any(
        words <= {*one.words} or (values and values <= {*_WORDS.findall(" ".join(one.cases))})
        for one in tests
        if one.is_test
    )


def _marked(part: TestPart, now: TestPart) -> Iterator[str]:
    # What was skipped on a condition may be so on another one.
    for mark in list(Counter(now.marks) - Counter(part.marks))[: len(now.marks) - len(part.marks)]:
        yield f"is skipped by `{short_line(mark, _SHOWN)}`"
    for hidden in Counter(now.hides) - Counter(part.hides):
        yield f"may hide failures by `{short_line(hidden, _SHOWN)}`"


def _with_helpers(part: TestPart, new: Sequence[_Part]) -> tuple[str, ...]:
    """Return the assertions of a part with those of new helpers that it names."""
    helpers = [one for _, one in new if not one.is_test and one.title in part.words]
    return (*part.assertions, *(text for one in helpers for text in one.assertions))


def _fewer(
    part: TestPart, now: Sequence[str], gone: Counter[str], more_cases: int
) -> Iterator[str]:
    """Yield that a test has fewer assertions than before, or weaker ones; one that stands elsewhere
    now, or is a further case of the same one, is not lost.
    """
    old, new = Counter(part.assertions), Counter(now)
    lost = [one for one in (old - new).elements() if one in gone]
    gained = [*(new - old).elements()]
    for least in (LOOSE, PARTIAL, EXACT):
        weaker = [one for one in lost if strength_of(one) >= least]
        count = len(weaker) - sum(strength_of(one) >= least for one in gained)
        count -= more_cases * any(strength_of(one) >= least for one in now)
        if count > 0:
            kind = "fewer" if least == LOOSE else "weaker"
            first = short_line(weaker[0], _SHOWN)
            yield f"has {count} {kind} assertion{'s' if count > 1 else ''}, such as `{first}`"
            return


def _fewer_cases(part: TestPart, now: TestPart, gone: Counter[str]) -> Iterator[str]:
    lost = [case for case in (Counter(part.cases) - Counter(now.cases)) if case in gone]
    count = len(part.cases) - len(now.cases)
    if lost and count > 0:
        yield f"has {several(count, 'case')} fewer, such as `{short_line(lost[0], _SHOWN)}`"


def _broader(part: TestPart, now: TestPart) -> Iterator[str]:
    """Yield the assertions that allow more than before."""
    before, after = Counter(part.assertions), Counter(now.assertions)
    lost, gained = before - after, after - before
    by_words = {without_numbers(text): text for text in gained}
    for text in lost:
        other = by_words.get(without_numbers(text), text)
        if other != text and is_broader(text, other):
            short = short_line(text, _SHOWN), short_line(other, _SHOWN)
            yield f"allows more: `{short[0]}` became `{short[1]}`"
