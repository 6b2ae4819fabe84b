"""Open what a run asks with: its models, opened when the first of them is asked, and its prompts,
the repository's own before the shipped ones; and the batches of an abandoned run, which it cancels.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.agent.models.known_providers import missing_key
from forge_bot.engine import Done
from forge_bot.engine.pipeline import Pipeline
from forge_bot.errors import ForgeError, NoModelKey, WriteFailed
from forge_bot.git import Repository
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import run_paths
from forge_bot.settings.config import Config
from forge_bot.store.files import write_whole
from forge_bot.store.run_folder import CARRIED
from forge_bot.values import TaskId, Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import ChatMessage, Image, Model
    from forge_bot.prompts.environment import Environment
    from forge_bot.prompts.material import InputFile, Prompt


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


_ANOTHER_AGENT = (
    "So far the author of what follows looked around. You are another agent, who judges it; what"
    " is shown above need not be asked for again."
)


def opening(
    prompt: "Prompt",
    inputs: "Sequence[InputFile]" = (),
    tell: Notify = lambda _notice: None,
    task: TaskId | None = None,
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


def continued(
    before: "Sequence[ChatMessage]", fresh: "tuple[ChatMessage, ...]", most: int
) -> "tuple[ChatMessage, ...]":
    """Return the first messages of a conversation behind those of another agent who looked around,
    as far as a provider's cache may have them: what both prompts begin with stands there once. They
    stay as they are where they begin differently, or all would be more than `most` characters.
    """
    system, user = fresh
    if before[:1] != (system,) or sum(len(item.text) for item in (*before, user)) > most:
        return fresh
    known = before[1].text
    shared = max((end for end in user.seams if known[:end] == user.text[:end]), default=0)
    if not shared:
        return fresh
    text = f"{_ANOTHER_AGENT}\n\n{user.text[shared:].lstrip()}"
    return (*before, user.replace(text=text, images=(), seams=()))


def own_prompts(root: Path) -> dict[str, str]:
    """The repository's own prompt templates, by name."""
    folder = root / ".forge" / "prompts"
    if not folder.is_dir():
        return {}
    return {
        path.name: path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.glob("*.j2"))
    }


_FILE = "model"


def keep_model(repository: Repository, run: str, model: str | None) -> None:
    """Remember the model of a run beside its journal."""
    if model:
        with suppress(WriteFailed):
            write_whole(run_paths(repository, run).home / _FILE, f"{model}\n")


def kept_model(repository: Repository, run: str) -> str | None:
    """Return the model that was named for a run here; None where $FORGE_BOT_MODEL names one."""
    if os.environ.get("FORGE_BOT_MODEL", "").strip():
        return None
    with suppress(OSError, UnicodeDecodeError):
        return (run_paths(repository, run).home / _FILE).read_text(encoding="utf-8").strip() or None
    return None


class TierModels:
    """Opens the models once, when they are first called for. Who calls for them early learns early
    that a key is missing.
    """

    def __init__(
        self, config: Config, model: str | None = None, record: Path | None = None
    ) -> None:
        self._config = config
        self._record = record
        self._specs = {tier: model or config.model_for(tier) for tier in Tier}
        self._opened: dict[Tier, Model] = {}

    def missing_key(self) -> NoModelKey | None:
        """Return the error for a key that is not set. It takes nothing of what opens a model."""
        errors = (missing_key(spec) for spec in dict.fromkeys(self._specs.values()))
        return next(filter(None, errors), None)

    def __call__(self) -> "Mapping[Tier, Model]":
        """Return the models. Raises NoModelKey, and what opening one raises."""
        if (missing := self.missing_key()) is not None:
            raise missing
        from forge_bot.agent.models.open_model import open_tiers
        from forge_bot.agent.models.provider import ProviderSettings

        if not self._opened:
            settings = ProviderSettings(
                seconds=self._config.model_timeout_seconds,
                retries=self._config.model_retries,
                output=self._config.model_output,
            )
            self._opened.update(open_tiers(self._specs, settings, record=self._record))
        return self._opened


def leaves_batches(run: Run) -> bool:
    """Return whether a run was abandoned while it waited for a batch."""
    abandoned = isinstance(run.action, Done) and run.action.outcome == "abandoned"
    return abandoned and (run.workspace.path / CARRIED).is_file()


def end_batches(
    run: Run, models: "Callable[[], Mapping[Tier, Model]]", environ: Mapping[str, str], tell: Notify
) -> None:
    """Cancel the batches of an abandoned run."""
    from forge_bot.agent.ask_model import cancel_batches
    from forge_bot.agent.journal import Journal

    carried = run.workspace.path / CARRIED
    waiting = Journal(run.places.journal, environ, carried).all_parked()
    tickets = [(parked.model, parked.ticket) for parked in waiting if parked.ticket is not None]
    try:
        by_name = {model.name: model for model in models().values()} if tickets else {}
    except ForgeError:
        by_name = {}

    for name in cancel_batches(tickets, lambda name: getattr(by_name.get(name), "batches", None)):
        tell(warning(f"the batch {name} could not be cancelled, and may cost"))
    if len(tickets) < len(waiting):
        tell(warning("a batch that may have been handed in is not known, and may cost"))
    carried.unlink(missing_ok=True)
    run.keep()
