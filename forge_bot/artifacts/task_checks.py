"""Check a list of tasks, and select the tasks that may run now, and together. Problems are findings
for the list's author; no task is dropped.
"""

import graphlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.values import Problem, TaskId, TaskMode, TaskSpec

MOST_TASKS = 30

_OUTSIDE = re.compile(r"^(?:[/\\~]|[A-Za-z][A-Za-z0-9+.-]*:)")


def check(tasks: Sequence[TaskSpec]) -> tuple[Problem, ...]:
    """Return all problems, those of single tasks first.

    Cycles and overlaps are looked for only if ids are unique and few enough.
    """
    problems = [*_doubles(tasks)]
    unique = not problems
    known = {task.id for task in tasks}
    problems += [problem for task in tasks for problem in _check_task(task, known)]
    if len(tasks) > MOST_TASKS:
        message = (
            f"{len(tasks)} tasks are more than the {MOST_TASKS} that one run can carry; join what"
            " belongs together"
        )
        return (*problems, Problem(place="", message=message, fatal=True))
    if unique:
        problems += [*_cycles_or_overlaps(tasks), *_lone_tests(tasks)]
    return tuple(problems)


def place(task_id: str) -> str:
    return f"Task {task_id}"


def _doubles(tasks: Sequence[TaskSpec]) -> Iterator[Problem]:
    # A task's id is part of file names, and on many disks `impl-A.md` and `impl-a.md` are one file.
    seen: set[str] = set()
    for task in tasks:
        if task.id.casefold() in seen:
            yield Problem(
                place=place(task.id),
                message="this number is used more than once; give each task its own",
                fatal=True,
            )
        seen.add(task.id.casefold())


def _check_task(task: TaskSpec, known: set[TaskId]) -> Iterator[Problem]:
    def problem(message: str, *, fatal: bool = True) -> Problem:
        return Problem(place=place(task.id), message=message, fatal=fatal)

    for dependency in task.depends_on:
        if dependency == task.id:
            yield problem("it depends on itself; take that out of depends_on")
        elif dependency not in known:
            yield problem(f"it depends on task {dependency}, which does not exist")
    for path in task.files:
        if _OUTSIDE.match(path) or ".." in re.split(r"[/\\]", path):
            yield problem(
                f"{path} is not a path inside the repository; write it from the root down"
            )
    if task.mode is TaskMode.PARALLEL and not task.files:
        yield problem("a parallel task must list its files, or be sequential")
    if not task.acceptance:
        yield problem("add acceptance criteria, such as `- [ ] AC-1: …`", fatal=False)


def _cycles_or_overlaps(tasks: Sequence[TaskSpec]) -> Iterator[Problem]:
    """Yield a circle of tasks that wait for each other; without one, the tasks that could run at
    the same time with a file in common.
    """
    known = {task.id for task in tasks}
    graph = {
        task.id: [other for other in task.depends_on if other in known - {task.id}]
        for task in tasks
    }
    try:
        order = [*graphlib.TopologicalSorter(graph).static_order()]
    except graphlib.CycleError as error:
        # The sorter lists each node before the one that needs it, and the first one again at the
        # end.
        circle: list[TaskId] = error.args[1][::-1]
        named = " → ".join(circle)
        message = f"these tasks wait for each other: {named}; take one of the dependencies out"
        yield Problem(place=place(circle[0]), message=message, fatal=True)
        return
    needs: dict[TaskId, set[TaskId]] = {}
    for number in order:
        needs[number] = {*graph[number]}.union(*(needs[other] for other in graph[number]))
    for one, other in combinations([task for task in tasks if task.mode is TaskMode.PARALLEL], 2):
        path = shared_file(one.files, other.files)
        if path is not None and one.id not in needs[other.id] and other.id not in needs[one.id]:
            message = (
                f"it overlaps with task {other.id}: both list {path}; make one depend on the other,"
                " or one sequential"
            )
            yield Problem(place=place(one.id), message=message, fatal=True)


def _lone_tests(tasks: Sequence[TaskSpec]) -> Iterator[Problem]:
    codes = [task for task in tasks if not _holds_only_tests(task)]
    for task in tasks:
        needed = [code for code in codes if code.id in task.depends_on]
        agents = [code.mode is not TaskMode.HUMAN_GATE for code in needed] == [True]
        if _holds_only_tests(task) and agents:
            message = (
                f"it has only tests, of what task {needed[0].id} changes; test and change are one"
                " task: move its files and criteria there"
            )
            yield Problem(place=place(task.id), message=message, fatal=False)


def _holds_only_tests(task: TaskSpec) -> bool:
    agent = task.mode is not TaskMode.HUMAN_GATE
    return agent and bool(task.files) and all(map(belongs_to_tests, task.files))


def ready(
    tasks: Sequence[TaskSpec], passed: Collection[TaskId], waiting: Collection[TaskId], limit: int
) -> tuple[TaskId, ...]:
    """Return the next wave, in the order of tasks.md; empty if nothing can run.

    A task is ready when it waits and everything it depends on has passed; an unknown dependency
    never passes. The first ready task decides. A sequential one runs alone; otherwise the ready
    parallel ones run together, at most `limit` of them, no two with a file in common and no two
    whose files import each other. Human gates are left to `next_human`.
    """
    able = [
        task
        for task in tasks
        if task.mode is not TaskMode.HUMAN_GATE and _able(task, passed, waiting)
    ]
    if not able:
        return ()
    if able[0].mode is TaskMode.SEQUENTIAL:
        return (able[0].id,)
    wave: list[TaskSpec] = []
    for task in able:
        if len(wave) >= max(limit, 1):
            break
        if task.mode is TaskMode.PARALLEL and not any(clash(task, other) for other in wave):
            wave.append(task)
    return tuple(task.id for task in wave)


def next_human(
    tasks: Sequence[TaskSpec], passed: Collection[TaskId], waiting: Collection[TaskId]
) -> TaskId | None:
    """Return the first human gate that waits and whose dependencies have passed."""
    gates = (
        task.id
        for task in tasks
        if task.mode is TaskMode.HUMAN_GATE and _able(task, passed, waiting)
    )
    return next(gates, None)


def clash(one: TaskSpec, other: TaskSpec) -> bool:
    """Return whether two tasks must not run at the same time.

    A task that names no files could touch any file.
    """
    return not one.files or not other.files or shared_file(one.files, other.files) is not None


def shared_file(some: Sequence[str], others: Sequence[str]) -> str | None:
    """Return the first path of `some` that equals a path of `others`, or is a folder above or below
    it. Upper and lower case count as the same, since on many disks they are.
    """
    theirs = [fold_path(other) for other in others]
    return next(
        (path for path in some if any(_meet(fold_path(path), other) for other in theirs)), None
    )


def normal_path(path: str) -> str:
    """Return the path with forward slashes, without `.` and empty parts.

    `..` stays: it is refused elsewhere.
    """
    return "/".join(step for step in path.replace("\\", "/").split("/") if step not in {"", "."})


def _able(task: TaskSpec, passed: Collection[TaskId], waiting: Collection[TaskId]) -> bool:
    return task.id in waiting and all(dependency in passed for dependency in task.depends_on)


def fold_path(path: str) -> str:
    """Return the path as a file system reads it that knows no case."""
    return unicodedata.normalize("NFC", normal_path(path)).casefold()


def _meet(one: str, other: str) -> bool:
    return _is_below(one, other) or _is_below(other, one)


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(folder + "/")
