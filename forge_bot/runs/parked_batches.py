"""The batches that a run waits for, when it is ended: their providers are asked to stop."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from forge_bot.engine import Done
from forge_bot.errors import ForgeError
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.run import Run
from forge_bot.sentences import say
from forge_bot.store.run_folder import CARRIED
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model
    from forge_bot.agent.models.batch_api import BatchApi


def leaves_batches(run: Run) -> bool:
    """Return whether a run was abandoned while it waited for a batch."""
    abandoned = isinstance(run.action, Done) and run.action.outcome == "abandoned"
    return abandoned and (run.workspace.path / CARRIED).is_file()


def end_batches(
    run: Run, models: "Callable[[], Mapping[Tier, Model]]", environ: Mapping[str, str], tell: Notify
) -> None:
    """Cancel the batches of an abandoned run, but for those that other runs wait for as well."""
    import asyncio

    from forge_bot.agent.batched_questions import cancel_batches
    from forge_bot.agent.journal import Journal
    from forge_bot.agent.models.batch_api import BatchingModel

    carried = run.workspace.path / CARRIED
    waiting = Journal(run.places.journal, environ, carried).all_parked()
    own = Counter(each.ticket.id for each in waiting if each.ticket is not None)
    alone = [each for each in waiting if each.ticket and each.ticket.size <= own[each.ticket.id]]
    shared = sorted(own.keys() - {each.ticket.id for each in alone if each.ticket})
    try:
        by_name = {model.name: model for model in models().values()} if alone else {}

        def batches(name: str) -> "BatchApi | None":
            model = by_name.get(name)
            return model.batches if isinstance(model, BatchingModel) else None

        left = asyncio.run(cancel_batches(alone, batches))
    except ForgeError:
        left = tuple(sorted({each.ticket.id for each in alone if each.ticket}))
    for name in left:
        tell(warning(say("runs.parked_batches.not_cancelled", name=name)))
    for name in shared:
        tell(warning(say("runs.parked_batches.goes_on", name=name)))
    if any(each.ticket is None for each in waiting):
        tell(warning(say("runs.parked_batches.not_known")))
    carried.unlink(missing_ok=True)
    run.keep()
