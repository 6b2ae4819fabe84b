"""Select the tasks that may run now, and together."""

import unicodedata
from collections.abc import Collection, Sequence

from forge_bot.values import TaskId, TaskMode, TaskSpec


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
