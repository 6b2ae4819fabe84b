"""`.specs/instructions.md`: which tasks its rules leave to a person, and what is said of rules that
cannot be read.
"""

import pytest

from forge_bot.errors import BadConfig
from forge_bot.settings.instructions import Rules, parse_rules
from forge_bot.values import TaskId, TaskMode, TaskSpec
from tests.fakes.rows import rows

ROWS = rows(__file__)


def rules(*files: str, title: str = "") -> Rules:
    when = {"files_match": list(files)} | ({"title_matches": title} if title else {})
    return parse_rules(
        f"---\nrules:\n- {{id: one, when: {when}, require: human_gate, reason: why}}\n---\nWords.\n"
    )


def task(*files: str, title: str = "Change the table") -> TaskSpec:
    return TaskSpec(id=TaskId("1"), title=title, files=files)


FITS = ROWS["fits"]
OTHERS = [
    ("db/migrations/**", "db/other/001.sql"),
    ("db/migrations/**", "dbx/migrations/001.sql"),
    ("**/*.sql", "x.py"),
    ("src/**/*.sql", "src/app.py"),
    ("*.sql", "a/x.sql"),
    ("infra/??.tf", "infra/abc.tf"),
    ("a.b", "axb"),
]


@pytest.mark.parametrize(("pattern", "path"), FITS)
def test_a_task_that_declares_such_a_path_is_a_persons(pattern: str, path: str) -> None:
    (found,) = rules(pattern).applied([task(path)])
    assert found.mode is TaskMode.HUMAN_GATE


@pytest.mark.parametrize(("pattern", "path"), OTHERS)
def test_a_task_that_declares_other_paths_stays_as_it_is(pattern: str, path: str) -> None:
    assert rules(pattern).applied([task(path)]) == (task(path),)
    assert rules(pattern).forbidden([path]) == ()


def test_of_two_conditions_both_have_to_hold() -> None:
    both = rules("db/**", title="drop|delete")
    assert both.of(task("db/a", title="DROP the table"))
    assert not both.of(task("db/a"))
    assert not both.of(task("src/a", title="drop it"))
    assert rules(title="^deploy").of(task(title="Deploy to production"))
    assert both.forbidden(["db/a"]) == (), "what a change is called cannot be seen from its paths"


def test_without_a_file_there_are_no_rules() -> None:
    assert parse_rules(None).applied([task("a")]) == (task("a"),)
    assert parse_rules("\ufeff\n---\nrules: []\n---\n").rules == ()


BROKEN = ROWS["broken"]


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_rules_that_cannot_be_read_are_told_with_their_lines(text: str, said: str) -> None:
    with pytest.raises(BadConfig) as caught:
        parse_rules(text)
    assert said in "\n".join(caught.value.details)
