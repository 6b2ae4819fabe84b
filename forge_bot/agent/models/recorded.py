"""Record a model's answers, replay them later, and answer from a script."""

import json
import os
from decimal import Decimal
from pathlib import Path

from forge_bot.agent.models.base import Model, ModelCall, ModelReply, ReplayKey, prompt_digest
from forge_bot.agent.models.exchange_files import Exchange, Exchanges
from forge_bot.errors import BadOption, ModelUnavailable, RecordExhausted


class Recorder:
    """A model whose exchanges are appended to a file. Earlier content of the file stays.

    Raises BadOption for a file that cannot be written, before an answer is paid for.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self.name = model.name
        self._model = model
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(self._opened())
        except OSError as error:
            why = error.strerror or error
            raise BadOption(f"--record {path}: the file cannot be written: {why}.") from error

    def _opened(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the model's own reply. Failures are not recorded, since they are no answers."""
        reply = await self._model.ask(call)
        exchange = Exchange(
            agent=call.key.agent,
            phase=call.key.phase,
            round=call.key.round,
            schema=call.key.schema,
            prompt_sha256=prompt_digest(call),
            answer=reply.text,
            finish=reply.finish,
            usage=reply.usage,
        )
        # Each line is one write: recorders of parallel tasks share the file.
        line = (
            json.dumps(exchange.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
            + "\n"
        )
        descriptor = self._opened()
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
        return reply


class Replayer:
    """Answers from a record, by the whole key of the question. It costs nothing.

    A question whose text differs from the recorded one is answered nevertheless, and listed in
    `drifted`: the answer may no longer fit.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"replay:{path}"
        self._exchanges = Exchanges.read(path)
        self._answers = {exchange.key: exchange for exchange in self._exchanges}
        self._drifted: dict[ReplayKey, None] = {}

    @property
    def drifted(self) -> tuple[ReplayKey, ...]:
        """The questions so far whose text differs from the record."""
        return tuple(self._drifted)

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the recorded reply. Raises RecordExhausted with the key and the recorded keys."""
        found = self._answers.get(call.key)
        if found is None:
            raise _exhausted(self.name, call, self._exchanges)
        if found.prompt_sha256 != prompt_digest(call):
            self._drifted[call.key] = None
        return _reply(found)


class Scripted:
    """Answers each question with the exchange that fits its key best, for demonstrations, dry runs
    and tests. It costs nothing.

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
            raise _exhausted(self.name, call, self._exchanges)
        return _reply(found)


def _exhausted(name: str, call: ModelCall, exchanges: Exchanges) -> RecordExhausted:
    said = f"{name} has no answer for {call.key}."
    return RecordExhausted(said, details=("It has answers for:", *exchanges.listed()))


def _reply(found: Exchange) -> ModelReply:
    """Return an answer that costs nothing, as there was one."""
    if found.unavailable:
        raise ModelUnavailable(found.unavailable)
    return ModelReply(
        text=found.text,
        usage=found.usage.replace(cost=Decimal(0)),
        finish=found.finish,
    )
