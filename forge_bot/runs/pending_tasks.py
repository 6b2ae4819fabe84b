"""The tasks of a plan that are not done yet, and the failures after other edits that are theirs."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from forge_bot.artifacts.waves import shared_file
from forge_bot.engine.state import State, TaskStatus
from forge_bot.knowledge.affected_tests import is_code, is_test, reaches
from forge_bot.knowledge.likely_files import file_links
from forge_bot.values import TaskId

_DONE = {TaskStatus.PASSED, TaskStatus.SKIPPED}


class PendingTasks:
    """The unfinished tasks beside those whose edits are tried.

    A failure in a file that such a task declares is left to that task. So is a failure in a test of
    these edits that uses such a file.
    """

    def __init__(
        self, state: State, tasks: Sequence[TaskId], paths: frozenset[str], texts: Mapping[str, str]
    ) -> None:
        """Take the tasks whose edits are tried, the paths of the edits, and the code after them."""
        self.paths = paths
        self.texts = texts
        self.specs = [
            task.spec
            for task in state.tasks
            if task.spec.id not in tasks and task.status not in _DONE and task.spec.files
        ]

    def owns(self, item: str, words: str) -> bool:
        """Return whether a failing test belongs to one of these tasks, by its name and the
        command's output.
        """
        path = self._place(item, words)
        if not path:
            return False
        if path not in self.paths:
            return self._declares(path)
        if not is_test(path):
            return False
        wanted = self._wanted
        stems = "|".join(re.escape(PurePosixPath(each).stem) for each in wanted)
        return reaches(path, wanted, self._links) or (
            bool(stems) and re.search(rf"\b(?:{stems})\b", words) is not None
        )

    def _place(self, item: str, words: str) -> str:
        """Return the file of a failing test or a complaint: named in its name, or in its words."""
        here = sorted(self.texts, key=lambda path: (not is_test(path), path))
        named_in_it = (
            path
            for path in here
            if path in item or path.rpartition(".")[0].replace("/", ".") in item
        )
        told = (path for path in here if is_test(path) and PurePosixPath(path).name in words)
        return next(named_in_it, "") or next(told, "")

    def _declares(self, path: str) -> bool:
        return any(shared_file((path,), spec.files) is not None for spec in self.specs)

    @cached_property
    def _wanted(self) -> frozenset[str]:
        named_there = {path for spec in self.specs for path in spec.files if is_code(path)}
        there = {path for path in self.texts if self._declares(path)}
        return frozenset((named_there | there) - self.paths)

    @cached_property
    def _links(self) -> dict[str, tuple[str, ...]]:
        return file_links({**dict.fromkeys(self._wanted, ""), **self.texts})
