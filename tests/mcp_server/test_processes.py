"""How many processes each tool starts, git's and those of the project's commands."""

from typing import Any

from tests.fakes.processes import counted
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, hosting, tools_of_ours

MOST = {
    "pipeline_init": 1,
    "pipeline_init_with_context": 1,
    "pipeline_next_action": 14,
    "pipeline_report_result": 4,
    "validate_artifact": 0,
    "forge_orient": 1,
    "state_resume_info": 0,
    "run_list": 0,
    "history_search": 0,
    "analytics": 1,
    "forge_graph": 2,
    "preferences": 2,
    "run_control": 2,
}
"""Each at its dearest in the run below: of a server that has answered nothing yet, or of a step that
makes commits. The setup commands of the sample run within the first `pipeline_next_action`."""

_READER = "'cat-file', '--batch'"
"""Git's kept reader: a process starts it once, and anew after two other repositories were read. So
it is nobody's in particular and not counted."""

ASKED_AGAIN = ("forge_orient", "state_resume_info", "run_list", "history_search")
"""What starts none at all when nothing has happened since."""

TASK = "Nobody is on call before the start"


class _Counting(Host):
    """A client that notes how many processes each call of a tool starts."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.client, host.path)
        self.started: dict[str, list[list[str]]] = {}

    async def call(self, tool: str, **arguments: Any) -> Json:
        # The folder of the sample, with its work trees and its state.
        with counted(self.path.parent) as found:
            body = await super().call(tool, **arguments)
        own = [words for words in found if _READER not in words]
        self.started.setdefault(tool, []).append(own)
        return body


async def test_each_tool_starts_few_processes_and_the_same_question_again_fewer(
    sample: Sample,
) -> None:
    async with hosting(sample) as plain:
        host = _Counting(plain)
        await host.call("preferences", set={"effort": "S"})
        await host.begin(TASK, "M")
        action = await host.next()
        host.perform(action)
        await host.call("validate_artifact", workspace=host.workspace, artifact="analysis.md")
        await host.call(
            "pipeline_report_result",
            workspace=host.workspace,
            phase=action["phase"],
            action_id=action["action_id"],
        )
        await host.drive(await host.next(), "architect")
        for _ in range(2):
            await host.call("forge_orient")
            await host.call("state_resume_info", workspace=host.workspace)
            await host.call("run_list")
            await host.call("history_search", query=TASK)
        await host.call("analytics", kind="summary", workspace=host.workspace)
        await host.call("forge_graph", operation="map")
        await host.call("run_control", workspace=host.workspace, operation="abandon")

    assert set(host.started) == set(MOST) == set(await tools_of_ours())
    dearest = {name: max(found, key=len) for name, found in host.started.items()}
    assert {name: found for name, found in dearest.items() if len(found) > MOST[name]} == {}
    assert {name: found for name in ASKED_AGAIN if (found := host.started[name][-1])} == {}
