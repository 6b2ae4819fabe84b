"""Patches that were held back, approved by a person or waiting for one: which paths they touch, and
which of them only a person can push.
"""

import re
from collections.abc import Callable, Iterator

from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.reports import Answer
from forge_bot.engine.state import Reason, State
from forge_bot.runs.workflow_file import WORKFLOWS
from forge_bot.values import TaskId

_PATH = re.compile(r"^(?:\+\+\+ b/|--- a/|rename (?:from|to) )(?P<path>.+)$", re.MULTILINE)


def approved(state: State) -> Iterator[str]:
    """The names of the patches that were approved, in the order of the decisions."""
    for decision in state.decisions:
        if decision.reason is Reason.PROTECTED_PATHS and decision.answer == Answer.APPROVE:
            yield held_patch_name(decision.task or TaskId(""))


def paths_in(patch: bytes) -> set[str]:
    """Every path that a patch changes, makes, removes or renames."""
    return {match["path"] for match in _PATH.finditer(patch.decode("utf-8", "replace"))}


def to_push_by_hand(
    state: State, read: Callable[[str], bytes | None]
) -> dict[str, tuple[str, ...]]:
    """The approved patches that have workflow files in them, with those files; `read` gives a
    document of the run.
    """
    workflows = {name: _workflows(read(name)) for name in approved(state)}
    return {name: paths for name, paths in workflows.items() if paths}


def workflows_that_wait(state: State, read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The workflow files of the patch that a person is asked about now."""
    gate = state.gate
    if gate is None or gate.reason is not Reason.PROTECTED_PATHS:
        return ()
    return _workflows(read(held_patch_name(gate.task or TaskId(""))))


def _workflows(patch: bytes | None) -> tuple[str, ...]:
    paths = paths_in(patch or b"")
    return tuple(sorted(path for path in paths if path.startswith(f"{WORKFLOWS}/")))
