"""A model that answers from a script: for demonstrations, dry runs and tests. It costs nothing."""

from decimal import Decimal
from pathlib import Path

from forge_bot.agent.models.base import ModelCall, ModelReply
from forge_bot.agent.models.exchange_files import Exchanges
from forge_bot.errors import ModelUnavailable, RecordExhausted


class Scripted:
    """Answers each question with the exchange that fits its key best.

    The same question always gets the same answer. Answers are not used up, so a run that was
    interrupted continues with the same script.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"scripted:{path}"
        self._exchanges = Exchanges.read(path)

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the scripted reply. Raises RecordExhausted if none fits."""
        found = self._exchanges.best(call.key)
        if found is None:
            said = f"{self.name} has no answer for {call.key}."
            raise RecordExhausted(said, details=("It has answers for:", *self._exchanges.listed()))
        if found.unavailable:
            raise ModelUnavailable(found.unavailable)
        return ModelReply(
            text=found.text,
            usage=found.usage.model_copy(update={"cost": Decimal(0)}),
            finish=found.finish,
        )
