"""What the rules of `approvals` look at in a question of a run: its gate, its paths, its
requester.
"""

import re

from forge_bot.artifacts.design_outline import read_outline
from forge_bot.engine.phases import AgentPhase
from forge_bot.engine.state import Decision, Reason
from forge_bot.git.diff import changed
from forge_bot.runs.run import Run
from forge_bot.settings.approvals import ApprovalCase
from forge_bot.store import SPECS

_PATCHED = re.compile(r'^(?:--- "?a/|\+\+\+ "?b/)(.+?)"?\s*$', re.MULTILINE)


def approval_case(run: Run, settled: Decision | None = None) -> ApprovalCase | None:
    """Return the open question, or one that was settled, about all paths that are known now; None
    without one, and for one about money, which any command may raise. An approval that is asked
    for again stands for every checkpoint that was approved.
    """
    state = run.state
    if settled is not None:
        gate, reason = settled.gate, settled.reason
    elif state.gate is not None:
        gate, reason = state.gate.name, state.gate.reason
    else:
        return None
    if reason is Reason.BUDGET:
        return None
    passed = (one.gate for one in state.decisions if one.reason is None and one.answer == "approve")
    gates = (gate, *(passed if reason is Reason.UNVERIFIED_APPROVAL else ()))
    return ApprovalCase(gates=gates, paths=_paths(run), requester=run.request.requested_by)


def _paths(run: Run) -> tuple[str, ...]:
    """Return the paths of the design, of the tasks, of a patch that is asked about, and of the
    change so far.
    """
    state, read = run.state, run.workspace.read
    designs = (
        phase.writes
        for phase in run.pipeline.phases
        if isinstance(phase, AgentPhase) and phase.shows_risks and phase.writes in state.artifacts
    )
    tasks = (
        *(task.spec for task in state.tasks),
        *(task for record in state.artifacts.values() for task in record.planned),
    )
    patches = (file.name for file in (state.gate.files if state.gate else ()))
    paths = (
        *(file.path for name in designs for file in read_outline(read(name)).files),
        *(path for task in tasks for path in task.files),
        *(
            path
            for name in patches
            if name.endswith(".patch")
            for path in _PATCHED.findall(read(name))
        ),
        *changed(run.tree.path, state.base_commit),
    )
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(f"{SPECS}/")))
