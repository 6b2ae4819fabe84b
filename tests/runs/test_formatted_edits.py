"""A formatter whose check is newly red after edits puts the files of the edits right itself: no
model is asked for that.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from forge_bot.agent.assignment import FormattedFile, TryOutcome
from forge_bot.agent.models.base import ModelCall
from forge_bot.runs.edit_checks.edit_tries import formatting_words
from forge_bot.runs.this_process import Outcome
from forge_bot.settings.config import CommandSettings, Config
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.runs.test_drafts import DRAFT, MENDED, asked, corrected, drafted
from tests.runs.test_tries import commands, document, said, stage, talker
from tests.runs.wave_scene import Answer, Planned, Stage, Talker, done, replaced, task_of, wrote

# It wants no blanks at the ends of lines. `{trick}` runs before it writes a file.
BLACK = """\
import pathlib
import sys

check, bad = "--check" in sys.argv, False
for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).rglob("*.py")):
        text = path.read_text()
        new = "".join(f"{{line.rstrip()}}\\n" for line in text.splitlines())
        if new == text:
            continue
        if check:
            bad = True
            print(f"would reformat {{path}}")
        else:
            {trick}
sys.exit(bad)
"""
WRITES = "path.write_text(new)"
TESTS = ("python3", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", ".")
CHECK = ("python3", "-m", "black", "-q", "--check", "--diff", "lib")
TOLD = "`python3 -m black -q lib` formatted `lib/double.py`."
BEFORE = "def double(x):\n    return 2 * x"
UGLY = replaced("lib/double.py", BEFORE, "def double(x):   \n    return x + x")
PRETTY = "def double(x):|    return x + x"


def settings(*linters: tuple[str, ...]) -> Config:
    return Config(commands=CommandSettings(test=(TESTS,), lint=linters or (CHECK,)))


def edited(
    tmp_path: Path,
    *answers: Answer,
    trick: str = WRITES,
    more: Mapping[str, str] | None = None,
    config: Config | None = None,
) -> tuple[Stage, Talker]:
    """A run whose only task gives these answers, at its end; and its model."""
    here = stage(tmp_path, {"black.py": BLACK.format(trick=trick), **(more or {})})
    model = talker(*answers)
    assert here.go_on(model, config=config or settings())[0] is Outcome.DONE
    return here, model


def landed(here: Stage, path: str = "lib/double.py") -> str:
    """A file of the branch, with bars for line ends."""
    return here.git("cat-file", "-p", f"{here.branch}:{path}").replace("\n", "|")


def test_a_formatters_complaint_is_put_right_in_the_files_of_the_edits_and_nowhere_else(
    tmp_path: Path,
) -> None:
    ugly = "def triple(x):   \n    return 3 * x\n"
    here, model = edited(tmp_path, done(UGLY), more={"lib/triple.py": ugly})
    assert landed(here) == PRETTY
    assert landed(here, "lib/triple.py") == "def triple(x):   |    return 3 * x"
    assert len(model.asked("1")) == 1
    assert f"- {TOLD}" in document(here).splitlines()
    assert "- Nothing is newly red." in document(here).splitlines()
    assert f"after the edits of task 1: {TOLD}" in said(here)
    tests, check, formats = map(" ".join, (TESTS, CHECK, ("python3", "-m", "black", "-q", "lib")))
    assert commands(here) == [tests, check, tests, check, formats, check]


@pytest.mark.slow
def test_edits_of_two_answers_land_formatted_and_a_file_that_was_not_formatted_stays_so(
    tmp_path: Path,
) -> None:
    wrong = replaced("lib/double.py", BEFORE, "def double(x):   \n    return x")
    right = replaced("lib/double.py", "return x", "return x + x")
    also = replaced("lib/triple.py", "3 * x", "x + x + x")
    ugly = "def triple(x):   \n    return 3 * x\n"
    here, model = edited(tmp_path, done(wrong), done(right, also), more={"lib/triple.py": ugly})
    assert len(model.asked("1")) == 2
    assert "black" not in model.asked("1")[1].messages[-1].text
    assert landed(here) == PRETTY
    assert landed(here, "lib/triple.py") == "def triple(x):   |    return x + x + x"


@pytest.mark.slow
def test_other_linters_judge_what_the_formatter_leaves(tmp_path: Path) -> None:
    script_ = (
        "import pathlib, sys\n"
        "text = pathlib.Path('lib/double.py').read_text()\n"
        "print('lib/double.py:2:1: W291 blanks') if '   \\n' in text else None\n"
        "print('lib/double.py:1:1: T201 print') if 'print' in text else None\n"
        "sys.exit('   \\n' in text or 'print' in text)\n"
    )
    config = settings(("python3", "lint.py"), CHECK)
    prints = replaced("lib/double.py", "return 2 * x", "print(x)   \n    return 2 * x")
    silent = replaced("lib/double.py", "print(x)   \n    return 2 * x", "return x + x")
    here, model = edited(
        tmp_path, done(prints), done(silent), more={"lint.py": script_}, config=config
    )
    told = model.asked("1")[1].messages[-1].text
    assert "T201" in told
    assert "W291" not in told
    assert landed(here) == PRETTY


TRICKS = {
    "fails": "path.write_text(new); sys.exit(3)",
    "is missing": "sys.exit(127)",
    "link": "path.unlink(); path.symlink_to('/etc/hostname')",
    "folder": "path.unlink(); path.mkdir(); (path / 'inside').touch()",
    "binary": "path.write_bytes(b'\\0')",
    "not UTF-8": "path.write_bytes(b'\\xff')",
    "grows": "path.write_text('#' * 2_500_001)",
    "other file": "path.with_name('triple.py').write_text('TRIPLE = 3\\n')",
}


@pytest.mark.slow
@pytest.mark.parametrize("does", TRICKS)
def test_what_no_formatter_should_leave_is_not_taken_and_its_complaint_goes_back(
    tmp_path: Path, does: str
) -> None:
    right = replaced("lib/double.py", "(x):   ", "(x):")
    here, model = edited(tmp_path, done(UGLY), done(right), trick=TRICKS[does])
    assert "would reformat lib/double.py" in model.asked("1")[1].messages[-1].text
    assert landed(here) == PRETTY
    assert landed(here, "lib/triple.py") == "def triple(x):|    return 3 * x"
    assert "formatted" not in document(here)


def test_a_file_with_a_secret_is_not_kept_formatted() -> None:
    file = FormattedFile(path="a.py", before="", text="KEY = 'hunter22'\n")
    outcome = TryOutcome(formatted=(file,), formatting=("`black` formatted `a.py`.",))
    assert outcome.redacted(str) == outcome
    assert outcome.redacted(lambda text: text.replace("hunter22", "***")) == TryOutcome()


class KilledError(BaseException):
    """The process is no more."""


@pytest.mark.slow
def test_what_was_formatted_lands_so_when_the_run_was_killed_before(tmp_path: Path) -> None:
    """The process ends when the second task was tried: it lands in another one, which neither asks
    for it nor runs anything on it again.
    """
    here = stage(tmp_path, {"black.py": BLACK.format(trick=WRITES)})
    killed = True

    async def implement(call: ModelCall) -> Answer:
        if task_of(call) == "2":
            return done(UGLY)
        if killed:
            agents = [each for each in asyncio.all_tasks() if "_work" in str(each.get_coro())]
            await asyncio.wait(agents, return_when=asyncio.FIRST_COMPLETED)
            raise KilledError
        return done(wrote("notes.txt", "Noted.\n"))

    tasks = (Planned("1", ("notes.txt",)), Planned("2", ("lib/double.py",)))
    model = Talker(tasks, implement)
    with pytest.raises(KilledError):
        here.go_on(model, config=settings())
    killed = False
    assert here.landed() == []
    assert here.go_on(model, config=settings())[0] is Outcome.DONE
    assert len(model.asked("2")) == 1
    assert commands(here).count("python3 -m black -q lib") == 1
    assert landed(here) == PRETTY
    assert f"- {TOLD}" in document(here, "2").splitlines()


def test_a_draft_and_its_correction_are_formatted(sample: Sample) -> None:
    (sample.path / "black.py").write_text(BLACK.format(trick=WRITES))
    (sample.path / ".forge").mkdir(exist_ok=True)
    lint = '[["python3", "-m", "black", "--check", "rota"]]'
    (sample.path / ".forge" / "config.yml").write_text(f"commands:\n  lint: {lint}\n")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "format")
    ugly = {**script.GUARD, "new": script.GUARD["new"].replace("None\n", "None   \n")}
    mended = {**MENDED, "new": MENDED["new"].replace("rota\n", "rota   \n")}
    review = corrected("APPROVE_WITH_NOTES", mended)
    model = asked(sample, first=drafted(ugly, script.TEST), review=review)
    patch = (sample.workspace / DRAFT).read_text()
    assert "before the rota\n" in patch
    assert "return None\n" in patch
    told = "`python3 -m black rota` formatted `rota/schedule.py`."
    for name in ("design.md", "review-design.md"):
        assert told in (sample.workspace / name).read_text()
    assert sample.forge("approve", "--model", model).code == 0
    assert "before the rota\n" in sample.git("show", f"{sample.offered}:rota/schedule.py")


@pytest.mark.parametrize(
    ("check", "formats"),
    [
        ("black --check .", "black ."),
        ("{env}/bin/python -m black -q --check --diff a b", "{env}/bin/python -m black -q a b"),
        ("uv run ruff format --check src", "uv run ruff format src"),
        ("isort -c --diff .", "isort ."),
        ("isort --check-only src/black", "isort src/black"),
        ("npx prettier --check .", "npx prettier --write ."),
        ("node_modules/.bin/prettier . --check", "node_modules/.bin/prettier . --write"),
        ("cargo fmt --all -- --check", "cargo fmt --all --"),
        ("rustfmt --check src/lib.rs", "rustfmt src/lib.rs"),
        ("black .", ""),
        ("ruff check --diff format", ""),
        ("black -c code", ""),
        ("mypy --check-untyped-defs black", ""),
        ("npm run lint", ""),
    ],
)
def test_a_formatter_is_known_by_its_words(check: str, formats: str) -> None:
    assert " ".join(formatting_words(check.split())) == formats
