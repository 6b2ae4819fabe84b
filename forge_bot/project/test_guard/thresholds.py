"""Thresholds of coverage and linters in configuration, and switches that leave tests out."""

import re
from collections import Counter
from collections.abc import Iterator

_CONFIGURES = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|noxfile\.py|Makefile|justfile"
    r"|package\.json|\.coveragerc|\.?ruff\.toml|\.flake8|\.?pylintrc|mypy\.ini|\.nycrc(?:\.json)?"
    r"|\.c8rc\.json|\.?codecov\.ya?ml|\.golangci\.(?:ya?ml|toml)|\.?clippy\.toml|\.eslintrc(?:\.\w+)?"
    r"|(?:jest|vitest|vite|eslint|karma|ava)\.config\.\w+|\.mocharc(?:\.\w+)?|biome\.jsonc?"
    r"|\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml)$"
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
