"""The strength of an assertion, by its words, and the reach of its tolerances; thresholds of
coverage and linters in configuration, and switches that leave tests out.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from forge_bot.forge import WORKFLOWS

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
