"""An implementer's edits are run by the project's own commands before anybody reads them, and what is
newly red goes back to it.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.agent.models.base import ModelCall
from forge_bot.engine.reports import Answer as PersonsAnswer
from forge_bot.engine.reports import Report
from forge_bot.errors import ModelUnavailable
from forge_bot.runs.notifications import CommandBegan, Message
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import PersonAnswer, answer
from forge_bot.runs.this_process import Outcome
from forge_bot.settings.config import CommandSettings, Config
from tests.runs.wave_scene import Answer, Planned, Stage, Talker, done, replaced, task_of, wrote

TEST = """\
import unittest

from lib.{module} import {name}


class Works(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual({name}(2), {value}, "two is not {name}d")

    def test_nothing(self):
        self.assertEqual({name}(0), 0)
"""
FILES = {
    "lib/__init__.py": "",
    "lib/double.py": "def double(x):\n    return 2 * x\n",
    "lib/triple.py": "def triple(x):\n    return 3 * x\n",
    "tests/__init__.py": "",
    "tests/test_double.py": TEST.format(module="double", name="double", value=4),
    "tests/test_triple.py": TEST.format(module="triple", name="triple", value=6),
}
GREEN = (
    "## Tests After the Edits\n\nOur own process ran the project's commands on the edits.\n\n"
    "- Nothing is newly red."
)
ONE = (Planned("1", ("lib/double.py",)),)
WRONG = replaced("lib/double.py", "2 * x", "x")
RIGHT = replaced("lib/double.py", "2 * x", "x + x")


def stage(tmp_path: Path, more: Mapping[str, str] | None = None) -> Stage:
    made = Stage.made(tmp_path / "repo", {**FILES, **(more or {})})
    made.start()
    return made


def talker(*answers: Answer, tasks: Sequence[Planned] = ONE) -> Talker:
    """A model whose implementer gives these answers in turn, and then the last one for ever."""
    left = [*answers]

    async def implement(call: ModelCall) -> Answer:
        del call
        return left.pop(0) if len(left) > 1 else left[0]

    return Talker(tasks, implement)


def commands(here: Stage) -> list[str]:
    """The commands that ran, in order."""
    return [" ".join(each.argv) for each in here.notices if isinstance(each, CommandBegan)]


def said(here: Stage) -> list[str]:
    return [each.text for each in here.notices if isinstance(each, Message)]


def document(here: Stage, task: str = "1") -> str:
    name = here.git("ls-tree", "-r", "--name-only", here.branch, "--", ".specs").splitlines()[0]
    return here.git("show", f"{here.branch}:{name.rpartition('/')[0]}/impl-{task}.md")


def test_edits_that_break_a_test_go_back_in_the_same_conversation_with_the_tests_own_words(
    tmp_path: Path,
) -> None:
    here, model = stage(tmp_path), talker(done(WRONG), done(RIGHT))
    assert here.go_on(model)[0] is Outcome.DONE
    first, second = model.asked("1")
    assert second.messages[: len(first.messages)] == first.messages
    told = second.messages[-1].text
    assert "AssertionError: 2 != 4 : two is not doubled" in told
    assert "test_double (tests.test_double.Works" in told
    assert "triple" not in told
    assert "\x1b" not in told
    assert here.files()["lib/double.py"] == "def double(x):\n    return x + x"
    assert "tests are red after the edits of task 1: 1 of 4; sent back to the implementer" in said(
        here
    )
    assert "- Went back to the implementer: tests are red: 1 of 4." in document(here)
    assert "Nothing is newly red after the last edits." in document(here)


def test_after_red_edits_an_empty_document_stands_for_the_one_before(tmp_path: Path) -> None:
    here = stage(tmp_path)
    assert (
        here.go_on(talker(done(WRONG), {**done(RIGHT), "artifact_markdown": ""}))[0] is Outcome.DONE
    )
    assert "As asked." in document(here)


@pytest.mark.parametrize("whole", [False, True], ids=["alone", "with the others"])
def test_an_edit_that_cannot_be_made_is_corrected_and_the_others_stand(
    tmp_path: Path, *, whole: bool
) -> None:
    other = replaced("lib/triple.py", "3 * x", "x * 3")
    second = done(*([other] if whole else []), RIGHT)
    again = {**second, "artifact_markdown": ""}
    here, model = stage(tmp_path), talker(done(replaced("lib/double.py", "4", "5"), other), again)
    assert here.go_on(model)[0] is Outcome.DONE
    told = model.asked("1")[-1].messages[-1].text
    assert "Edit 1, replace lib/double.py" in told
    assert "Answer with a Change of these edits alone" in told
    assert here.files()["lib/double.py"] == "def double(x):\n    return x + x"
    assert here.files()["lib/triple.py"] == "def triple(x):\n    return x * 3"
    assert "As asked." in document(here)


@pytest.mark.slow
def test_what_stays_red_goes_back_three_times_and_then_to_the_reviewer(tmp_path: Path) -> None:
    here = stage(tmp_path)
    model = talker(*(done(replaced("lib/double.py", "2 * x", f"{n}")) for n in range(5, 11)))
    assert here.go_on(model)[0] is Outcome.DONE
    assert len(model.asked("1")) == 4
    assert "return 8" in here.files()["lib/double.py"]
    assert document(here).count("Went back to the implementer") == 3
    assert "- Still newly red: `test_double (tests.test_double.Works" in document(here)
    assert "AssertionError: 8 != 4" in document(here)
    assert said(here)[-1].endswith("2 of 4; the reviewer is told")


@pytest.mark.slow
def test_a_linter_that_complains_about_the_edits_goes_back_too(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys\n"
        "bad = [p for p in sorted(pathlib.Path('lib').glob('*.py')) if 'print' in p.read_text()]\n"
        "[print(f'{p}:1:1: T201 print found') for p in bad]\n"
        "sys.exit(bool(bad))\n"
    )
    here = stage(tmp_path, {"lint.py": script})
    prints = replaced("lib/double.py", "return", "print(x); return")
    model = talker(done(prints), done(RIGHT))
    tests = ("python3", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", ".")
    config = Config(commands=CommandSettings(test=(tests,), lint=(("python3", "lint.py"),)))
    assert here.go_on(model, config=config)[0] is Outcome.DONE
    assert "lib/double.py:1:1: T201 print found" in model.asked("1")[1].messages[-1].text
    assert "linters are red after the edits of task 1: 1; sent back to the implementer" in said(
        here
    )


@pytest.mark.slow
def test_what_an_earlier_task_left_red_does_not_go_back_to_a_later_one(tmp_path: Path) -> None:
    here = stage(tmp_path)

    async def implement(call: ModelCall) -> Answer:
        right = replaced("lib/triple.py", "3 * x", "x + x + x")
        return done(WRONG) if task_of(call) == "1" else done(right)

    model = Talker((*ONE, Planned("2", ("lib/triple.py",), needs=("1",))), implement)
    assert here.go_on(model)[0] is Outcome.DONE
    assert len(model.asked("2")) == 1
    assert GREEN in document(here, "2")


@pytest.mark.slow
def test_a_change_that_waits_for_a_person_is_run_when_it_was_approved(tmp_path: Path) -> None:
    here = stage(tmp_path)
    model = talker(done(WRONG, wrote(".github/workflows/ci.yml", "on: push\n")))
    assert here.go_on(model)[0] is Outcome.WAITING
    assert len(model.asked("1")) == 1
    assert len(commands(here)) == 1
    assert "Tests After the Edits" not in document(here)
    outcome, _ = here.go_on(model, _approved)
    assert outcome is Outcome.DONE
    assert len(model.asked("1")) == 1
    assert commands(here)[1] == "python3 -m unittest discover -v -s tests -t ."
    assert "- Still newly red: `test_double (tests.test_double.Works" in document(here)
    assert here.files()["lib/double.py"] == "def double(x):\n    return x"


@pytest.mark.slow
def test_an_outcome_is_read_and_not_made_again_when_the_model_was_gone_meanwhile(
    tmp_path: Path,
) -> None:
    here = stage(tmp_path)
    gone = True

    async def implement(call: ModelCall) -> Answer:
        if len(call.messages) == 2:
            return done(WRONG)
        if gone:
            raise ModelUnavailable("The model is asleep.")
        return done(RIGHT)

    model = Talker(ONE, implement)
    with pytest.raises(ModelUnavailable):
        here.go_on(model)
    ran = len(commands(here))
    gone = False
    assert here.go_on(model)[0] is Outcome.DONE
    assert len(commands(here)) == ran + 1
    assert [len(call.messages) for call in model.asked("1")] == [2, 4, 4]
    assert model.asked("1")[1].messages == model.asked("1")[2].messages


@pytest.mark.slow
def test_a_budget_that_ends_between_keeps_the_edits_and_says_that_they_are_red(
    tmp_path: Path,
) -> None:
    here = Stage.made(tmp_path / "repo", FILES)
    here.start(budget=Decimal("0.60"))
    model = talker(done(WRONG), done(RIGHT))
    model.name, model.cost = "anthropic:claude-sonnet-4-5", Decimal("0.25")
    here.go_on(model)
    assert len(model.asked("1")) == 1
    assert "return x" in here.files()["lib/double.py"]
    assert "Still newly red" in document(here)


def _approved(run: Run) -> Report:
    return answer(run, PersonAnswer(answer=PersonsAnswer.APPROVE), "terminal")
