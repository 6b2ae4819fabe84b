"""tasks.md: read in its one form, refused where it contradicts itself, run in waves."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.artifacts.task_checks import clash, next_human, ready
from forge_bot.artifacts.tasks import one_task, read_tasks
from forge_bot.values import TaskId, TaskMode, TaskSpec
from tests.fakes.rows import rows

ROWS = rows(__file__)

HEAD = "## Task 1: A"
FINE = "mode: sequential\ndepends_on: []\nAcceptance criteria:\n- [ ] AC-1: x"


def parallel(number: int, *files: str, needs: str = "") -> str:
    listed = "\n".join(f"- {path}" for path in files)
    return (
        f"## Task {number}: T\nmode: parallel\nfiles:\n{listed}\ndepends_on: [{needs}]\n"
        "Acceptance criteria:\n- AC-1: x\n"
    )


def needing(number: int, needs: str) -> str:
    return f"## Task {number}: T\n{FINE}\n".replace("[]", needs)


def test_the_prescribed_form_is_read_and_other_text_is_the_description() -> None:
    text = """# Tasks

## Task 1: Answer 413 with `STATUS`
mode: parallel
files:
- `app/a b.py`
- ./tests//test_upload.py
depends_on: []

Design: “Changes”, first points.

- no file and no criterion

Acceptance criteria:
- [ ] AC-1: a test sends
  10 MB
- [x] AC-2: `__init__` __never__ calls it

```yaml
mode: both
```

### Notes

> depends_on: [7]

## Task 2.1: Tell the team
mode: human_gate
- depends_on: [1]

Acceptance criteria:
* AC-1: told
"""
    expected = (
        TaskSpec(
            id=TaskId("1"),
            title="Answer 413 with STATUS",
            mode=TaskMode.PARALLEL,
            files=("app/a b.py", "tests/test_upload.py"),
            acceptance=("AC-1: a test sends 10 MB", "AC-2: `__init__` __never__ calls it"),
        ),
        TaskSpec(
            id=TaskId("2.1"),
            title="Tell the team",
            mode=TaskMode.HUMAN_GATE,
            depends_on=(TaskId("1"),),
            acceptance=("AC-1: told",),
        ),
    )
    for written in (text, text.replace("\n", "\r\n")):
        assert read_tasks(written) == (expected, ())


PROBLEMS = [
    # The text; place, a piece of the message, and whether no person may accept it either.
    ("", ["|there is no task in it|fatal"]),
    ("- Task 1: A", ["|write each as `## Task 1: Title`|fatal"]),
    (f"```\n{HEAD}\n{FINE}\n```", ["|outside of code fences|fatal"]),
    (f"{HEAD}\n{FINE}\n## 2. B", ["2. B|not that of a task|fatal"]),
    (f"{HEAD}\n{FINE}\n### Task: B", ["Task: B|not that of a task|fatal"]),
    (f"{HEAD}\n{FINE}\n{HEAD}\n{FINE}", ["Task 1|more than once|fatal"]),
    (f"{HEAD}\n{FINE}\nfiles: a.py", ["Task 1|“files: a.py” is not in the form of `files:`|"]),
    (f"{HEAD}\n{FINE}\nfiles:\n- all callers", ["Task 1|“all callers” under files is no|"]),
    (f"{HEAD}\n{FINE}\nfiles:\n- a/*.py", ["Task 1|“a/*.py” under files is no|"]),
    (f"{HEAD}\n{FINE}\nfiles:\n- /etc/a", ["Task 1|/etc/a is not a path inside|fatal"]),
    (f"{HEAD}\n{FINE}\nfiles:\n- ~/a", ["Task 1|~/a is not a path inside|fatal"]),
    (f"{HEAD}\n{FINE}\nfiles:\n- C:\\a", ["Task 1|C:/a is not a path inside|fatal"]),
    (f"{HEAD}\n{FINE}\nfiles:\n- a/../../b", ["Task 1|a/../../b is not a path inside|fatal"]),
    (f"{HEAD}\n{FINE}\nmode: parallel", ["Task 1|more than one line `mode:`|fatal"]),
    (f"{HEAD}\n{FINE}".replace("sequential", "serial"), ["Task 1|“serial” is unknown|fatal"]),
    (HEAD, ["Task 1|no line `mode:`|", "Task 1|no line `depends_on:`|", "Task 1|add acceptance|"]),
    (needing(1, "the schema"), ["Task 1|depends on “the schema”|fatal"]),
    (needing(1, "[1-2]"), ["Task 1|depends on “[1-2]”|fatal"]),
    (needing(1, "[7]"), ["Task 1|task 7, which does not exist|fatal"]),
    (needing(1, "[1]"), ["Task 1|depends on itself|fatal"]),
    (needing(1, "[3]") + needing(2, "[1]") + needing(3, "[2]"), ["Task 1|1 → 3 → 2 → 1|fatal"]),
    (parallel(1), ["Task 1|must list its files|fatal"]),
    (parallel(1, "a.py", "all callers"), ["Task 1|“all callers”|fatal"]),
    (parallel(1, "src/a.py") + parallel(2, "b", "src\\A.py"), ["Task 1|both list src/a.py|fatal"]),
    (parallel(1, "src/") + parallel(2, "src/a.py"), ["Task 1|both list src;|fatal"]),
    (parallel(1, ".") + parallel(2, "a"), ["Task 1|both list .;|fatal"]),
    (
        parallel(1, "a") + parallel(2, "a") + parallel(3, "a", needs="2"),
        ["Task 1|with task 2|fatal", "Task 1|with task 3|fatal"],
    ),
    (parallel(1, "a.py") + parallel(2, "tests/test_a.py", needs="1"), ["Task 2|one task: move|"]),
]


@pytest.mark.parametrize(("text", "problems"), PROBLEMS, ids=range(len(PROBLEMS)))
def test_what_is_not_in_the_form_is_said_with_its_place(text: str, problems: list[str]) -> None:
    _, read = read_tasks(text)
    assert len(read) == len(problems), read
    for problem, expected in zip(read, problems, strict=True):
        at, message, weight = expected.split("|")
        assert (problem.place, problem.fatal) == (at, weight == "fatal"), problem
        assert message in problem.message


@pytest.mark.parametrize(("count", "too_many"), [(30, False), (31, True)])
def test_thirty_tasks_are_the_most_of_one_run(count: int, too_many: bool) -> None:
    tasks, problems = read_tasks(
        "\n".join(f"## Task {number}: T\n{FINE}\n" for number in range(count))
    )
    assert len(tasks) == count
    assert [problem.fatal for problem in problems] == ([True] if too_many else [])


@st.composite
def plans(draw: st.DrawFn) -> list[TaskSpec]:
    """Tasks whose dependencies run backwards, with few file names, so that they often share one."""
    tasks: list[TaskSpec] = []
    for number in range(1, draw(st.integers(1, 10)) + 1):
        earlier = [task.id for task in tasks]
        task = TaskSpec(
            id=TaskId(str(number)),
            title=draw(st.sampled_from(["Add the parser", "Wire it", "Say why"])),
            mode=draw(st.sampled_from(TaskMode)),
            files=tuple(
                draw(
                    st.lists(
                        st.sampled_from(["a.py", "b.py", "src/c.py", "src", "docs", "docs/a.md"]),
                        unique=True,
                        max_size=3,
                    )
                )
            ),
            depends_on=(
                tuple(draw(st.lists(st.sampled_from(earlier), unique=True))) if earlier else ()
            ),
            acceptance=(f"AC-{number}: done",),
        )
        tasks.append(task)
    return tasks


@settings(deadline=None)
@given(plans(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_every_plan_runs_to_its_end_and_no_wave_holds_two_tasks_with_one_file(
    tasks: list[TaskSpec], limit: int, random: Any
) -> None:
    by_id = {task.id: task for task in tasks}
    shuffled = random.sample(tasks, len(tasks))
    passed, waiting = set[TaskId](), {*by_id}
    for _ in tasks:
        wave = ready(shuffled, passed, waiting, limit)
        human = next_human(shuffled, passed, waiting)
        done = wave or ((human,) if human is not None else ())
        if not done:
            break
        assert len(done) <= limit
        assert all({*by_id[task].depends_on} <= passed for task in done)
        assert not any(clash(by_id[one], by_id[other]) for one, other in combinations(done, 2))
        assert all(by_id[task].mode is TaskMode.HUMAN_GATE for task in done) == (not wave)
        assert len(done) == 1 or all(by_id[task].mode is TaskMode.PARALLEL for task in done)
        passed |= {*done}
        waiting -= {*done}
    assert waiting == set()


def spec(
    name: str, mode: TaskMode = TaskMode.PARALLEL, files: str = "", needs: str = ""
) -> TaskSpec:
    return TaskSpec(
        id=TaskId(name),
        title=name,
        mode=mode,
        files=tuple(files.split()),
        depends_on=tuple(TaskId(need) for need in needs.split()),
    )


A, B = spec("a", files="a.py"), spec("b", files="b.py")
C = spec("c", files="c.py")
WAVES: list[tuple[list[TaskSpec], str, str]] = [
    # The tasks, those that passed, and the next wave, if all that has not passed waits.
    ([A, B, C], "", "a b"),
    ([A, B, C], "a b", "c"),
    ([A, B, C], "a b c", ""),
    ([spec("a", TaskMode.SEQUENTIAL), B], "", "a"),
    ([A, spec("b", TaskMode.SEQUENTIAL, files="b.py"), C], "", "a c"),
    ([spec("a", files="x"), spec("b", files="x y"), spec("c", files="y")], "", "a c"),
    ([spec("a", files="src"), spec("b", files="src/x"), spec("c", files="srcs/x")], "", "a c"),
    ([spec("a", files="app/[id]/a.tsx"), spec("b", files="app/[id]/b.tsx")], "", "a b"),
    ([spec("a"), B], "", "a"),
    ([A, spec("b")], "", "a"),
    ([A, spec("b", files="b.py", needs="a")], "", "a"),
    ([A, spec("b", files="b.py", needs="a")], "a", "b"),
    ([spec("a", files="a.py", needs="nobody")], "", ""),
    ([spec("a", files="a.py", needs="b"), spec("b", files="b.py", needs="a")], "", ""),
]


@pytest.mark.parametrize(("tasks", "passed", "wave"), WAVES, ids=range(len(WAVES)))
def test_a_wave_has_parallel_tasks_without_a_file_in_common_or_the_first_sequential_one(
    tasks: list[TaskSpec], passed: str, wave: str
) -> None:
    done = [TaskId(name) for name in passed.split()]
    waiting = [task.id for task in tasks if task.id not in done]
    assert " ".join(ready(tasks, done, waiting, 2)) == wave


def test_only_waiting_tasks_are_handed_out() -> None:
    tasks = [spec("a", files="a.py"), spec("b", files="b.py")]
    assert ready(tasks, [], [TaskId("b")], 4) == ("b",)
    assert ready(tasks, [], [], 4) == ()


def test_a_human_gate_is_no_part_of_a_wave_and_comes_up_when_its_dependencies_have_passed() -> None:
    tasks = [
        spec("a", TaskMode.HUMAN_GATE, needs="b"),
        spec("b", files="b.py"),
        spec("c", TaskMode.HUMAN_GATE),
    ]
    everyone = [task.id for task in tasks]
    assert ready(tasks, [], everyone, 4) == ("b",)
    assert next_human(tasks, [], everyone) == "c"
    assert next_human(tasks, [TaskId("b")], [TaskId("a"), TaskId("c")]) == "a"
    assert next_human(tasks, [TaskId("b")], [TaskId("b")]) is None


@settings(deadline=None)
@given(st.text(max_size=120), st.lists(st.text(max_size=60), max_size=4))
def test_the_tasks_file_of_a_small_request_is_read_without_problems_whatever_its_title(
    title: str, sections: list[str]
) -> None:
    (task,), problems = read_tasks(one_task(title, "design.md", sections))
    assert problems == ()
    assert task.id == "1"
    assert task.title
    assert task.mode is TaskMode.SEQUENTIAL
    assert task.depends_on == ()
    assert task.files == ()
    assert len(task.acceptance) == 2


def test_the_tasks_file_of_a_small_request_names_the_parts_of_the_design() -> None:
    assert '- the part "Changes"' in one_task(
        "Fix the typo", "design.md", ["Changes", "Test Strategy"]
    )
    assert "It has:" not in one_task("Fix the typo", "design.md", [])


@pytest.mark.parametrize("title", ROWS["titles"])
def test_the_one_task_has_the_title_of_the_request_letter_by_letter(title: str) -> None:
    parts = ["mode: parallel", "## Task 3: z", "- [ ] AC-9: no", "files:\n- /etc"]
    (task,), problems = read_tasks(one_task(title, "design.md", parts))
    assert (task.mode, task.files, len(task.acceptance)) == (TaskMode.SEQUENTIAL, (), 2)
    assert problems == ()
    assert task.title in {title, title.replace("`", "")}
