"""Searching a repository: what is found, what stays unseen, and that it ends in time."""

import time

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import ResultStatus
from tests.agent.repository_scene import Ask


def test_matches_come_with_path_and_line_from_tracked_and_new_files_but_no_ignored_or_binary_ones(
    ask: Ask,
) -> None:
    found = ask("search_code", pattern="total")
    assert found.content.splitlines() == [
        "latin.txt:1: caf\ufffd total",
        "src/app.py:4: def total(a, b):",
        "src/new.py:1: total = 3",
    ]
    assert found.note == "3 matches"


@pytest.mark.parametrize(
    ("pattern", "path", "files"),
    [
        (r"\bx = \d+", None, ["src/deep/ümlaut b.py"]),
        ("(?i)TOTAL = ", None, ["src/new.py"]),
        ("total", "*.py", ["src/app.py", "src/new.py"]),
        ("total", "src", ["src/app.py", "src/new.py"]),
        ("total", "src/new.py", ["src/new.py"]),
        ("x|total", "src/**/*.py", ["src/app.py", "src/deep/ümlaut b.py", "src/new.py"]),
        ("-e", None, []),
        ("--untracked", None, []),
    ],
)
def test_expressions_are_perls_and_paths_may_be_folders_or_globs(
    ask: Ask, pattern: str, path: str | None, files: list[str]
) -> None:
    found = ask("search_code", pattern=pattern, path=path)
    assert found.status is ResultStatus.OK
    assert [line.split(":")[0] for line in found.content.splitlines() if ":" in line] == files


def test_too_many_matches_are_counted_and_the_first_are_shown(ask: Ask) -> None:
    found = ask("search_code", pattern="line", path="long.txt", max=3)
    assert found.truncated
    assert found.content.splitlines() == ["long.txt:", "1: line 1", "2: line 2", "3: line 3"]
    assert "2,000 matches; the first 3 are shown" in found.note


def test_matches_are_cut_at_the_limit_and_so_are_endless_lines(ask: Ask) -> None:
    found = ask("search_code", WorkLimits(result_chars=200), pattern="line", path="long.txt")
    assert found.truncated
    assert len(found.content) <= 200
    assert ask("search_code", pattern="www").content == f"wide.txt:1: {'w' * 199}…"


@pytest.mark.parametrize(
    ("params", "status", "said"),
    [
        ({"pattern": "(a"}, ResultStatus.INVALID_PARAMS, "git cannot search for this"),
        ({"pattern": "a\nb"}, ResultStatus.INVALID_PARAMS, "line break"),
        ({"pattern": ""}, ResultStatus.INVALID_PARAMS, "at least 1 character"),
        ({"pattern": "a", "path": "../"}, ResultStatus.DENIED, "leads out"),
        ({"pattern": "a", "path": "/etc"}, ResultStatus.DENIED, "not a path"),
        ({"pattern": "a", "path": ".git"}, ResultStatus.DENIED, "git's own"),
        ({"pattern": "secret", "path": "leak"}, ResultStatus.OK, "No line matches"),
        ({"pattern": "secret", "path": "up"}, ResultStatus.OK, "No line matches"),
        ({"pattern": "a", "path": ":(exclude)src"}, ResultStatus.OK, "No line matches"),
    ],
)
def test_a_search_that_cannot_be_made_is_a_result(
    ask: Ask, params: dict[str, object], status: ResultStatus, said: str
) -> None:
    found = ask("search_code", **params)
    assert (found.status, said in found.content) == (status, True)


@pytest.mark.parametrize("pattern", [r"^(w+)+$", r"(w|ww)+\1x", r"((w*)*)*\1\2c"])
def test_a_pathological_expression_ends_in_time(ask: Ask, pattern: str) -> None:
    began = time.monotonic()
    found = ask("search_code", pattern=pattern)
    assert time.monotonic() - began < 15
    assert found.status in {ResultStatus.OK, ResultStatus.TIMEOUT}
