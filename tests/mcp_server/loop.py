"""A client whose agents are our own loop: each prompt it gets goes to a model as it stands, and the
answer into its work tree.
"""

from pathlib import Path

from forge_bot.agent.assignment import Assignment, WorkLimits, WorkResult
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult
from forge_bot.agent.converse import converse
from forge_bot.agent.edits import Folder, plan_edits
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.model_answers import AnswerKind, Change, Document
from forge_bot.agent.models.base import ChatMessage, MessageRole
from forge_bot.agent.models.open_model import open_model
from forge_bot.engine.budget import Budget
from forge_bot.values import PhaseId
from tests.mcp_server.host import Host, Json


class _Nothing:
    """A context for a model that asks for nothing."""

    def fetch(self, wanted: CapabilityRequest, limits: WorkLimits) -> CapabilityResult:
        raise AssertionError(f"{wanted} within {limits}")


class Loop:
    """Drives a host's run with a model."""

    def __init__(self, host: Host, model: str, folder: Path) -> None:
        self.host = host
        self.model = open_model(model)
        self.journal = Journal(folder / "journal.jsonl", {})

    async def drive(self, action: Json) -> Json:
        """Do one action after the other until a person is asked, something is to be published, or
        nothing is left.
        """
        while action["type"] in {"spawn_agent", "write_file"}:
            reply = await self._perform(action)
            action = await self.host.next(
                previous_action_complete=True, action_id=action["action_id"], **reply
            )
        return action

    async def _perform(self, action: Json) -> Json:
        if action["type"] == "write_file":
            self.host.perform(action)
            return {}
        tokens, model = 0, ""
        for task in action["parallel_task_ids"] or [""]:
            finished = await self._work(action, task)
            self._land(action, task, finished)
            tokens += finished.usage.input_tokens + finished.usage.output_tokens
            model = finished.usage.model
        return {"previous_tokens": tokens, "previous_model": model}

    async def _work(self, action: Json, task: str) -> WorkResult:
        assignment = Assignment(
            action_id=action["action_id"] + (f"/{task}" if task else ""),
            agent=action["agent"],
            phase=PhaseId(action["phase"]),
            kind=AnswerKind.CHANGE if action["agent"] == "implementer" else AnswerKind.DOCUMENT,
        )
        text = action["prompt"] + (f"\n\nYours is task {task}.\n" if task else "")

        async def opening() -> tuple[ChatMessage, ...]:
            return (ChatMessage(role=MessageRole.USER, text=text),)

        return await converse(
            assignment,
            opening,
            model=self.model,
            context=_Nothing(),
            journal=self.journal,
            ledger=Ledger(Budget()),
            check=lambda _answer: (),
            notice=lambda _notice: None,
            now=lambda: 0.0,
        )

    def _land(self, action: Json, task: str, finished: WorkResult) -> None:
        answer = finished.answer
        assert isinstance(answer, Document | Change), finished.message
        if isinstance(answer, Change):
            planned = plan_edits(Folder(self.host.path).read, answer.edits)
            assert not planned.problems
            for path, data in planned.files:
                assert data is not None
                (self.host.path / path).write_bytes(data)
        self.host.write(action["output_file"].replace("{task}", task), answer.artifact_markdown)
