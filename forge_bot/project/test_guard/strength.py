"""The strength of an assertion, by its words, and the reach of its tolerances."""

import re
from collections.abc import Iterator

EXACT, PARTIAL, LOOSE, NOTHING = 3, 2, 1, 0

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


def strength_of(text: str) -> int:
    """Return how much an assertion demands."""
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
