"""Find tests that a change deletes, skips or weakens, by the syntax trees of both versions: by the
strength of an assertion by its words, the reach of its tolerances, thresholds of coverage and
linters in configuration, and switches that leave tests out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import basename
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests, is_test_file
from forge_bot.forge import WORKFLOWS
from forge_bot.project.test_guard.read_tests import TestPart, read_tests
from forge_bot.text_format import several, short_line

Files = Mapping[str, bytes]
"""The changed files of one version, by name."""

_SNAPSHOT = re.compile(
    r"\.(?:snap|ambr|golden|approved\.\w+|verified\.\w+)$|(?:^|/)(?:__snapshots__|snapshots|golden)/"
)
_SHOWN = 80
_LONG_VALUE = 12
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
    values = {word for word in words if re.match(r"[\d\"'`]", word) or len(word) > _LONG_VALUE}
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


EXACT, PARTIAL, LOOSE, NOTHING = 3, 2, 1, 0
_LONGEST = 2_000

_NUMBER = r"[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?"
_TRIVIAL = re.compile(
    r"assert!?\s*\(?\s*(?:True|true|1|not False|!false)\s*(?:[,)].*)?"
    r"|.*\bor True\)?|.*\|\| true\b\)?"
    r"|(?:\w+\.)*assert_?(?:True|true|Ok)?\s*\(\s*(?:t, )?(?:True|true|1)\s*[,)].*"
    r"|.*\bassert\w*(?:\.\w+)?!?\(\s*(?:t, )?([\w.'\"]+), \1\s*[,)].*"
    r"|assert!?\s*\(?\s*([\w.'\"]+) ={2,3} \2\)?"
    r"|expect\(([\w.'\"]+)\)\.to\w+\(\3\)|(?:if )?false: .*"
    r"|expect\([^()]*\)"
)
_LOOSE = re.compile(
    r"\bassert(?:True|IsNotNone|IsInstance|Ok)\b(?!.*(?:==|\bin\b))|is not None|\bisinstance\("
    r"|\bhasattr\(|\bcallable\(|\.to(?:BeTruthy|BeDefined|BeInstanceOf|HaveProperty)\(|\.not\.toBe(?:Null|Undefined)\("
    r"|\.(?:toThrow|toThrowError|rejects|throws)\(\)|\.(?:NotNil|NoError|NotEmpty|NotPanics)\("
    r"|\.is_(?:ok|some|err)\(\)\s*[,)]|\.(?:raises|assertRaises)\(\s*(?:Base)?Exception\s*[,)]"
    r"|if \w+ == nil: |to\.(?:exist|be\.ok)\b"
)
_PARTIAL = re.compile(
    r"\bapprox\(|AlmostEqual|allclose|isclose|\b(?:not )?in\b|[<>]=?|!=|\bany\(|NotEqual"
    r"|assert(?:Not)?In\b|\.(?:starts?|ends?)_?[wW]ith\(|\.(?:assert)?Contains|\.not\.|\.to(?:Contain|Match|BeCloseTo|Be(?:Greater|Less))\w*\("
    r"|InDelta|InEpsilon|\bRegexp?\(|\bassert_ne!|\.contains\(|\.includes?\(|\bmatches!\(|\.raises\([^,]*\)$"
)
_COMPARES = re.compile(
    r"==|\bassert\w*(?:Equal|_eq|Is|Same)|\.(?:to(?:Be|Equal|Strict)\w*|[a-z]*[eE]quals?|deep\w*|is|same)\("
    r"|assert_eq!|\bis\b"
)
_WIDER = re.compile(
    rf"\b(?:abs|rel|delta|[ar]?tol\w*|epsilon|eps|max_relative)\s*[=:]\s*({_NUMBER})"
    rf"|<=?\s*({_NUMBER})|\b(?:InDelta|InEpsilon|closeTo|approximately)\(.*,\s*({_NUMBER})\s*\)"
    rf"|allclose\([^=]*,\s*({_NUMBER})\s*\)"
)
_NARROWER = re.compile(
    rf"\b(?:places|decimal|digits|significant)\s*[=:]\s*({_NUMBER})|>=?\s*({_NUMBER})"
    rf"|toBeCloseTo\([^,]+,\s*({_NUMBER})\s*\)|AlmostEqual\([^=]*,[^=]*,\s*({_NUMBER})\s*\)"
)
_ARGUMENT = re.compile(r",\s*\w+\s*[=:]\s*" + _NUMBER)
_CONSTANT = re.compile(
    rf"\b(\w*(?:TOL|tol|EPS|eps|DELTA|delta|Toler|Epsilon)\w*)\b[^=\n,(){{}}]{{0,20}}=\s*({_NUMBER})(?!\w*\()"
)


@lru_cache(maxsize=10_000)
def strength_of(assertion: str) -> int:
    """Return how much an assertion demands: 0 nothing, 3 one exact value."""
    text = assertion[:_LONGEST]
    if _TRIVIAL.fullmatch(text):
        return NOTHING
    if _LOOSE.search(text):
        return LOOSE
    if _PARTIAL.search(text):
        return PARTIAL
    bare = re.match(r"assert\b(?!\w)|assert!\(|(?:\w+\.)?assert_?True\b|assert(?:\.ok)?\(", text)
    return LOOSE if bare is not None and not _COMPARES.search(text) else EXACT


def without_numbers(text: str) -> str:
    """Return an assertion without its numbers and named tolerances, to find its other version."""
    return re.sub(rf"(?<![\w.]){_NUMBER}", "0", _ARGUMENT.sub("", text))


def is_broader(before: str, after: str) -> bool:
    """Return whether an assertion, the same but for its numbers, allows more than before."""
    wide, wide_now = [*_numbers(_WIDER, before)], [*_numbers(_WIDER, after)]
    close, close_now = [*_numbers(_NARROWER, before)], [*_numbers(_NARROWER, after)]
    return (
        len(wide_now) > len(wide)
        or len(close_now) < len(close)
        or any(now > then for then, now in zip(wide, wide_now, strict=False))
        or any(now < then for then, now in zip(close, close_now, strict=False))
    )


def _numbers(pattern: re.Pattern[str], text: str) -> Iterator[float]:
    for match in pattern.finditer(text):
        yield float(next(filter(None, match.groups())).replace("_", ""))


def tolerances(text: str) -> dict[str, float]:
    """Return the constants of a source text that are named as tolerances."""
    return {name: float(value.replace("_", "")) for name, value in _CONSTANT.findall(text)}


_CONFIGURES = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|noxfile\.py|Makefile|justfile"
    r"|package\.json|\.coveragerc|\.?ruff\.toml|\.flake8|\.?pylintrc|mypy\.ini|\.nycrc(?:\.json)?"
    r"|\.c8rc\.json|\.?codecov\.ya?ml|\.golangci\.(?:ya?ml|toml)|\.?clippy\.toml|\.eslintrc(?:\.\w+)?"
    r"|(?:jest|vitest|vite|eslint|karma|ava)\.config\.\w+|\.mocharc(?:\.\w+)?|biome\.jsonc?"
    rf"|{re.escape(WORKFLOWS)}/[^/]+\.ya?ml|\.gitlab-ci\.yml)$"
)
_VALUE = r"[\"']?\s*(?:[:=]|\s)\s*[\"']?(\d+(?:\.\d+)?)%?"
_LEAST = re.compile(
    r"\b((?:cov-)?fail[-_]under|branches|functions|lines|statements|min(?:imum)?[-_]?coverage|target)"
    + _VALUE
)
_MOST = re.compile(r"(?<![\w-])(?:--)?(max[-_]?[\w-]*|threshold)" + _VALUE)
_NO_QUALITY = re.compile(
    r"max[-_]?(?:retries|parallel|age|old|workers|procs?|size|width|len|depth|files)\w*$|maxWorkers",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"(?<![\w-])((?:extend-)?(?:ignore|disable|disable-all|exclude-rules)|(?:extend-)?select|enable)"
    r"\s*[=:]\s*(\[[^\]]*\]|[^\n\[]+(?:\n[ \t]+\S[^\n]*)*)"
)
_RULE = re.compile(r"[A-Z]{1,4}\d{1,4}\b|\b[A-Z]{1,4}\b|[a-z]+(?:-[a-z]+)+|\b[a-z]{4,}\b")
_OFF = re.compile(r"""["']?([\w@/-]+)["']?\s*:\s*\[?\s*(?:["'](off|warn)["']|0\b)""")
_SWITCH = re.compile(
    r"--ignore[= ]\S+|--deselect[= ]\S+|-k[= ]?[\"']not [^\"']+|testPathIgnorePatterns"
    r"|passWithNoTests|pass-with-no-tests|\|\| true\b|\|\| exit 0|continue-on-error:\s*true"
    r"|check-?coverage[\"']?\s*[:=]\s*false|--no-cov\b|--exit-zero\b|--maxfail=0|-skip[= ]\S+"
)
_LOWER = re.compile(r"ignore|disable|exclude")


def configures_checks(path: str) -> bool:
    """Return whether a file of this name may set thresholds of tests and linters."""
    return _CONFIGURES.search(path) is not None


def lowered(before: str, after: str) -> Iterator[str]:
    """Yield what a file of configuration demands less of tests and linters than before."""
    for pattern, lower in ((_LEAST, True), (_MOST, False)):
        yield from _moved(pattern, before, after, lower=lower)
    then, now = (Counter(_SWITCH.findall(text)) for text in (before, after))
    yield from (f"`{' '.join(switch.split())}` is new" for switch in now - then)
    then, now = ({name for name, _ in _OFF.findall(text)} for text in (before, after))
    yield from (f"the rule `{name}` is off" for name in sorted(now - then) if name in before)
    yield from _rules(before, after)


def _moved(pattern: re.Pattern[str], before: str, after: str, *, lower: bool) -> Iterator[str]:
    """Yield the thresholds that are gone or easier to meet."""
    then, now = ([*pattern.findall(text)] for text in (before, after))
    for name in dict.fromkeys(name for name, _ in then if not _NO_QUALITY.match(name)):
        old = [float(value) for key, value in then if key == name]
        new = [float(value) for key, value in now if key == name]
        if len(new) < len(old):
            yield f"the threshold `{name}` is gone"
        for was, value in zip(old, new, strict=False):
            if value < was if lower else value > was:
                yield f"`{name}` went from {was:g} to {value:g}"


def _rules(before: str, after: str) -> Iterator[str]:
    """Yield the rules that a linter is told to leave out."""
    then, now = (_listed(text) for text in (before, after))
    for name in {**then, **now}:
        gone, new = (then.get(name, set()), now.get(name, set()))
        eased = new - gone if _LOWER.search(name) else gone - new if name in now else set[str]()
        if eased:
            yield f"`{name}` of a linter: {', '.join(sorted(eased)[:5])}"


def _listed(text: str) -> dict[str, set[str]]:
    lists = dict[str, set[str]]()
    for name, words in _LIST.findall(re.sub(r"#.*", "", text)):
        lists.setdefault(name, set()).update(_RULE.findall(words))
    return lists
