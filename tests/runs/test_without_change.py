"""The tests of green edits run once more without the rest of the edits, and the record says what they
do there.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forge_bot.agent.models.base import ModelCall
from forge_bot.runs.outcome import Outcome
from forge_bot.settings.config import CommandSettings, Config
from tests.runs.test_tries import (
    FILES,
    RIGHT,
    TEST,
    document,
    said,
    stage,
    talker,
)
from tests.runs.wave_scene import Answer, Planned, Stage, Talker, done, replaced, task_of, wrote

HALF = "def half(x):\n    return x // 2\n"
BROKEN = {"lib/double.py": "def double(x):\n    return x + 1\n"}
MENDED = wrote("lib/double.py", "def double(x):\n    return x + x\n")
RAN = "The tests of this change run without its code, to see them fail."


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def recorded(here: Stage, task: str = "1") -> dict[str, Any]:
    """What the record says of a task's tests; empty if nothing."""
    names = here.git("ls-tree", "-r", "--name-only", here.branch, "--", ".specs").splitlines()
    place = next(name for name in names if name.endswith("state.json"))
    state = json.loads(here.git("show", f"{here.branch}:{place}"))
    found = next(each for each in state["tasks"] if each["spec"]["id"] == task)
    return found.get("withoutChange", {})


def facts(here: Stage, task: str = "1") -> Sequence[str]:
    return recorded(here, task).get("facts", [])


def test_of_several_tests_those_that_fail_without_the_change_are_named(tmp_path: Path) -> None:
    here = stage(tmp_path, BROKEN | {"tests/test_double.py": ""})
    test = TEST.format(module="double", name="double", value=4).replace("(0), 0", "(1), 2")
    here.go_on(talker(done(MENDED, wrote("tests/test_double.py", test))))
    (fact,) = facts(here)
    assert fact == (
        "Without the change, 1 of 2 tests in `tests/test_double.py` fails: `test_double`."
    )
    assert f"- {fact}" in document(here).splitlines()


@pytest.mark.slow
def test_a_test_that_passes_without_the_change_too_is_told_as_such(tmp_path: Path) -> None:
    here = stage(tmp_path, BROKEN | {"tests/test_double.py": ""})
    guard = TEST.format(module="double", name="double", value=2).replace("(2)", "(1)")
    guard = guard.replace("(0), 0", "(1), 2")
    here.go_on(talker(done(MENDED, wrote("tests/test_double.py", guard))))
    (fact,) = facts(here)
    assert fact == "Without the change, the 2 tests in `tests/test_double.py` pass too."
    assert f"- {fact}" in document(here).splitlines()


@pytest.mark.slow
def test_tests_of_what_is_not_there_without_the_change_cannot_be_loaded(tmp_path: Path) -> None:
    here = stage(tmp_path)
    test = TEST.format(module="half", name="half", value=1)
    edits = done(wrote("lib/half.py", HALF), wrote("tests/test_half.py", test))
    here.go_on(talker(edits, tasks=(Planned("1", ("lib/half.py", "tests/test_half.py")),)))
    assert facts(here) == ["Without the change, `tests/test_half.py` cannot be loaded."]


CRATE = """\
/// Half of a number.
pub fn half(x: u32) -> u32 {
    x / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays() {
        assert_eq!(half(0), 0);
    }
}
"""
NEW_TEST = """\
    }

    #[test]
    fn halves() {
        assert_eq!(half(6), 3);
    }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="Rust is not installed")
def test_unit_tests_within_code_run_beside_the_code_without_the_change(tmp_path: Path) -> None:
    cargo = '[package]\nname = "half"\nversion = "0.1.0"\nedition = "2021"\n'
    here = Stage.made(tmp_path / "repo", {"Cargo.toml": cargo, "src/lib.rs": CRATE})
    here.start()
    edits = done(
        replaced("src/lib.rs", "x / 3", "x / 2"), replaced("src/lib.rs", "    }\n}\n", NEW_TEST)
    )
    outcome, _ = here.go_on(talker(edits, tasks=(Planned("1", ("src/lib.rs",)),)))
    assert outcome is Outcome.DONE
    assert facts(here) == ["Without the change, 1 test in `src/lib.rs` fails: `tests::halves`."]
    listed = here.git("ls-tree", "-r", recorded(here)["tree"]).split()
    held = here.git("cat-file", "blob", listed[listed.index("src/lib.rs") - 1])
    assert "x / 3" in held
    assert "halves" in held
    assert "x / 2" in here.files()["src/lib.rs"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no test", "only tests", "a helper of tests", "another runner"])
def test_where_there_is_nothing_to_say_nothing_runs(tmp_path: Path, kind: str) -> None:
    here, config = stage(tmp_path), Config()
    guard = wrote("tests/test_double.py", FILES["tests/test_double.py"] + "# a guard\n")
    edits = {
        "no test": [RIGHT],
        "only tests": [guard],
        "a helper of tests": [RIGHT, wrote("tests/helper.py", "TWO = 2\n")],
        "another runner": [RIGHT, guard],
    }[kind]
    if kind == "another runner":
        words = "import sys, unittest; unittest.main(None, argv=['x', 'discover', '-v'])"
        config = Config(commands=CommandSettings(test=(("python3", "-c", words),)))
    assert here.go_on(talker(done(*edits)), config=config)[0] is Outcome.DONE
    assert recorded(here) == {}
    assert RAN not in said(here)


@pytest.mark.slow
def test_each_task_is_looked_at_without_its_own_edits_alone(tmp_path: Path) -> None:
    """The second task needs the first, so it is not asked what its tests do without both."""
    here = stage(tmp_path)
    first = TEST.format(module="half", name="half", value=1)
    second = TEST.format(module="more", name="half", value=1).replace("0), 0", "5), 2")
    edits = {
        "1": done(wrote("lib/half.py", HALF), wrote("tests/test_half.py", first)),
        "2": done(
            wrote("lib/more.py", "from lib.half import half\n"), wrote("tests/test_more.py", second)
        ),
    }

    async def implement(call: ModelCall) -> Answer:
        return edits[task_of(call)]

    tasks = (
        Planned("1", ("lib/half.py", "tests/test_half.py")),
        Planned("2", ("lib/more.py", "tests/test_more.py"), needs=("1",)),
    )
    here.go_on(Talker(tasks, implement))
    trees = [recorded(here, task)["tree"] for task in "12"]
    listed = [here.git("ls-tree", "-r", "--name-only", tree).splitlines() for tree in trees]
    new = {"lib/half.py", "tests/test_half.py", "lib/more.py", "tests/test_more.py"}
    assert [sorted(new & {*names}) for names in listed] == [
        ["tests/test_half.py"],
        ["lib/half.py", "tests/test_half.py", "tests/test_more.py"],
    ]
