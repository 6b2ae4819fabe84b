"""The prompts of a run: the shipped templates, and the repository's own before them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.engine.pipeline import Pipeline

if TYPE_CHECKING:
    from forge_bot.agent.models.base import ChatMessage, Image
    from forge_bot.prompts.environment import Environment
    from forge_bot.prompts.material import InputFile, Prompt
    from forge_bot.runs.notifications import Notify
    from forge_bot.values import TaskId

INQUIRY = "inquiry"
"""Name of the template that answers a person's question. No pipeline has this agent."""

PERFORMER = "skill"
"""Name of the template, in records and scripts too. No pipeline has this agent."""


def prompts_for(root: Path, pipeline: Pipeline) -> "Environment":
    """The prompts of a repository. Raises BadTemplate if one is missing or broken, before any model
    is asked.
    """
    from forge_bot.prompts.environment import Environment

    known = (*pipeline.agents, INQUIRY, PERFORMER)
    files = {f"{agent}.md.j2" for agent in known}
    overrides = {
        name: text
        for name, text in own_prompts(root).items()
        # Agents of the other pipelines have templates too.
        if pipeline.steps is None or name in files or name.startswith("_")
    }
    environment = Environment(overrides=overrides)
    environment.check(known)
    return environment


def opening(
    prompt: "Prompt",
    inputs: "Sequence[InputFile]" = (),
    tell: "Notify" = lambda _notice: None,
    task: "TaskId | None" = None,
    images: "Sequence[Image]" = (),
) -> "tuple[ChatMessage, ...]":
    """Return a prompt as the first messages of a conversation, and tell what it shows."""
    from forge_bot.agent.models.base import ChatMessage, MessageRole
    from forge_bot.runs.notifications import PromptSent

    tell(
        PromptSent(
            inputs=tuple(entry.name for entry in inputs),
            tokens=prompt.tokens,
            task=task,
            dropped=prompt.dropped,
            removed=prompt.removed,
        )
    )
    return (
        ChatMessage(role=MessageRole.SYSTEM, text=prompt.system),
        ChatMessage(
            role=MessageRole.USER, text=prompt.user, images=tuple(images), seams=prompt.seams
        ),
    )


def own_prompts(root: Path) -> dict[str, str]:
    """The repository's own prompt templates, by name."""
    folder = root / ".forge" / "prompts"
    if not folder.is_dir():
        return {}
    return {
        path.name: path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.glob("*.j2"))
    }
