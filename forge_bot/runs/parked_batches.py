"""The batches that a run waits for, when it is ended: their providers are asked to stop."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from forge_bot.engine import Done
from forge_bot.errors import ForgeError
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.run import Run
from forge_bot.store.run_folder import CARRIED
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model
    from forge_bot.agent.models.provider_batches import ProviderBatches


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

    def batches(name: str) -> "ProviderBatches | None":
        return getattr(by_name.get(name), "batches", None)

    for name in cancel_batches(tickets, batches):
        tell(warning(f"the batch {name} could not be cancelled, and may cost"))
    if len(tickets) < len(waiting):
        tell(warning("a batch that may have been handed in is not known, and may cost"))
    carried.unlink(missing_ok=True)
    run.keep()
