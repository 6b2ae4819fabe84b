"""The project's own formatter runs on the files of edits that were formatted before them."""

import resource
from collections.abc import Mapping
from pathlib import Path

import pytest

from forge_bot.runs.notifications import log_line
from forge_bot.runs.this_process import Outcome
from forge_bot.settings.config import CommandSettings, Config
from tests.runs.test_tries import commands, document, said, stage, talker
from tests.runs.wave_scene import Planned, Stage, done, replaced

FORMATTER = """\
import pathlib
import sys

for name in sys.argv[1:]:
    path = pathlib.Path(name)
    path.write_text("".join(f"{line.rstrip()}\\n" for line in path.read_text().splitlines()))
"""
BLACK = ("python3", "tools/black")
TESTS = ("python3", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", ".")
UGLY = replaced(
    "lib/double.py", "def double(x):\n    return 2 * x", "def double(x):   \n    return x + x"
)
LEFT = "def double(x):   |    return x + x"


def settings(*formatters: tuple[str, ...]) -> Config:
    return Config(commands=CommandSettings(test=(TESTS,), format=formatters))


def edited(
    tmp_path: Path,
    *edits: Mapping[str, str],
    more: Mapping[str, str] | None = None,
    config: Config | None = None,
) -> Stage:
    """A run whose only task makes these edits, at its end."""
    here = stage(tmp_path, {"tools/black": FORMATTER, **(more or {})})
    tasks = (Planned("1", tuple(each["path"] for each in edits)),)
    model = talker(done(*edits), tasks=tasks)
    assert here.go_on(model, config=config or settings(BLACK))[0] is Outcome.DONE
    return here


def as_committed(here: Stage, path: str) -> str:
    return here.git("cat-file", "-p", f"{here.branch}:{path}").replace("\n", "|")


def test_a_file_that_was_formatted_lands_formatted_and_the_reviewer_is_told(tmp_path: Path) -> None:
    here = edited(tmp_path, UGLY)
    assert as_committed(here, "lib/double.py") == "def double(x):|    return x + x"
    told = "`python3 tools/black` formatted `lib/double.py`."
    assert f"- {told}" in document(here).splitlines()
    assert f"after the edits: {told}" in said(here)
    words = "python3 tools/black lib/double.py"
    # The edits, then the file as it was before; the tests judge what was formatted.
    assert commands(here)[1:3] == [words, words]


@pytest.mark.slow
def test_a_formatter_that_is_not_installed_formats_nothing_and_is_told(tmp_path: Path) -> None:
    words = ("python3", "-m", "black_is_not_here")
    here = edited(tmp_path, UGLY, config=settings(words))
    assert as_committed(here, "lib/double.py") == LEFT
    told = (
        "`python3 -m black_is_not_here` formatted nothing: it is not installed in the project's"
        " environment."
    )
    assert f"- {told}" in document(here).splitlines()
    # One sentence, and no line that looks like a command that is red.
    lines = [line.text for each in here.notices if (line := log_line(each)) is not None]
    assert [line for line in lines if "black_is_not_here" in line] == [f"after the edits: {told}"]


@pytest.mark.slow
@pytest.mark.parametrize("does", ["link", "folder", "other file", "grows", "fails"])
def test_a_formatter_changes_nothing_but_the_files_of_the_edits(tmp_path: Path, does: str) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("untouched = 1   \n")
    trick = {
        "link": f"path.unlink(); path.symlink_to({str(outside)!r})",
        "folder": "path.unlink(); path.mkdir(); (path / 'inside').touch()",
        "other file": "path.with_name('triple.py').write_text('TRIPLE = 3\\n'); path.write_text('')",
        "grows": "path.write_text('#' * 100_000)",
        "fails": "path.write_text(''); sys.exit(3)",
    }[does]
    evil = f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{trick}\n"
    here = edited(tmp_path, UGLY, more={"tools/black": evil})
    assert as_committed(here, "lib/double.py") == LEFT
    assert as_committed(here, "lib/triple.py") == "def triple(x):|    return 3 * x"
    assert outside.read_text() == "untouched = 1   \n"
    assert ("ended with exit code 3" in document(here)) is (does == "fails")


HUGE = """\
import pathlib
import sys

for name in sys.argv[1:]:
    with pathlib.Path(name).open("r+b") as file:
        file.truncate(2**29)
"""


@pytest.mark.slow
def test_a_file_that_a_formatter_made_half_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    here = edited(tmp_path, UGLY, more={"tools/black": HUGE})
    assert as_committed(here, "lib/double.py") == LEFT
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 2**29 // 1024
