"""Open a model by its name: `provider:model`, `scripted:FILE` or `replay:FILE`;
record a model's answers, replay them later, and answer from a script.

A record is JSON lines (`.jsonl`), a script may also be YAML: a list of the same mappings.
docs/models.md describes them.
"""

import json
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from forge_bot.agent.models.base import FinishReason, Model, ModelCall, ModelReply, ReplayKey
from forge_bot.agent.models.provider import ProviderModel, ProviderSettings, open_provider
from forge_bot.errors import BadOption, BadRecord, ModelUnavailable, RecordExhausted
from forge_bot.values import Frozen, Tier, Usage

ANY = "*"
_MOST_LISTED = 12


class Exchange(Frozen):
    """One answer, and the key of its question.

    A part of the key that is `*` or left out matches every question.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    agent: str = ANY
    phase: str = ANY
    round: str = ANY
    kind: str = Field(default=ANY, alias="schema")
    answer: str | dict[str, Any] = Field(
        default="", description="the raw text of the reply, or the answer as data"
    )
    finish: FinishReason = FinishReason.STOP
    usage: Usage = Usage()
    unavailable: str = Field(
        default="", description="instead of answering, fail with this sentence"
    )

    @property
    def key(self) -> ReplayKey:
        return ReplayKey(self.agent, self.phase, self.round, self.kind)

    def fits(self, key: ReplayKey) -> int | None:
        """Return how many parts of the key are named and equal, or None if a named one differs."""
        pairs = list(zip(self.key, key, strict=True))
        if any(named not in {ANY, asked} for named, asked in pairs):
            return None
        return sum(named != ANY for named, _ in pairs)

    def reply(self) -> ModelReply:
        """Return the answer as a model would have written it. It costs nothing, as there was one.

        Raises ModelUnavailable.
        """
        if self.unavailable:
            raise ModelUnavailable(self.unavailable)
        text = self.answer
        return ModelReply(
            text=text if isinstance(text, str) else json.dumps(text, ensure_ascii=False),
            usage=self.usage.replace(cost=Decimal(0)),
            finish=self.finish,
        )


_EXCHANGES: TypeAdapter[tuple[Exchange, ...]] = TypeAdapter(tuple[Exchange, ...])


def read_exchanges(path: Path) -> tuple[Exchange, ...]:
    """Return the exchanges of a file. Raises BadRecord with the place of the first error."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = [line for line in text.split("\n") if line.strip()]
        is_record = path.suffix == ".jsonl"
        items = [json.loads(line) for line in lines] if is_record else yaml.safe_load(text)
        return _EXCHANGES.validate_python(items)
    except ValidationError as error:
        first = error.errors()[0]
        number, *field = first["loc"] or (0,)
        place = ".".join(map(str, field))
        raise BadRecord(f"{path}, entry {int(number) + 1}: {place}: {first['msg']}.") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadRecord(f"{path} cannot be read: {error}.") from error


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
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as error:
            why = error.strerror or error
            raise BadOption(f"--record {path}: the file cannot be written: {why}.") from error

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the model's own reply. Failures are not recorded, since they are no answers."""
        reply = await self._model.ask(call)
        given = {"answer": reply.text, "finish": reply.finish, "usage": reply.usage}
        exchange = Exchange.model_validate({**call.key._asdict(), **given})
        data = exchange.model_dump(mode="json", exclude_defaults=True)
        line = json.dumps(data, ensure_ascii=False) + "\n"
        # Each line is one write: recorders of parallel tasks share the file.
        with self._path.open("ab", buffering=0) as file:
            file.write(line.encode("utf-8", "replace"))
        return reply


class Replayed:
    """Answers each question with the exchange of a script or a record that fits its key best. It
    costs nothing.

    The exchange that names the most parts of the key fits best; among equals the last one, so a
    record can be corrected by adding to it. Answers are not used up, so a run that was interrupted
    continues with the same file.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._exchanges = read_exchanges(Path(name.partition(":")[2]))

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises RecordExhausted with the recorded keys if none fits."""
        fitting = [
            (fit, place)
            for place, exchange in enumerate(self._exchanges)
            if (fit := exchange.fits(call.key)) is not None
        ]
        if fitting:
            return self._exchanges[max(fitting)[1]].reply()
        keys = [str(exchange.key) for exchange in self._exchanges]
        raise RecordExhausted(
            f"{self.name} has no answer for {call.key}.",
            details=(f"It has {len(keys)} answers, such as:", *keys[:_MOST_LISTED]),
        )


def open_model(
    spec: str, settings: ProviderSettings | None = None, *, record: Path | None = None
) -> Model:
    """Return the model with that name. With `record`, its exchanges are appended to that file.

    Raises UnknownModel, NoModelKey or BadRecord, before anything is sent.
    """
    scheme, _, rest = spec.strip().partition(":")
    match scheme:
        case "scripted" | "replay":
            model: Model = Replayed(f"{scheme}:{rest}")
        case _:
            model = open_provider(spec.strip(), settings or ProviderSettings())
    return Recorder(model, record) if record else model


def open_tiers(
    specs: Mapping[Tier, str],
    settings: ProviderSettings | None = None,
    *,
    record: Path | None = None,
) -> dict[Tier, Model]:
    """Return a model for every named tier. Tiers with the same name share one model."""
    opened: dict[str, Model] = {}
    for spec in specs.values():
        if spec not in opened:
            opened[spec] = open_model(spec, settings, record=record)
    return {tier: opened[spec] for tier, spec in specs.items()}


async def check_keys(models: Mapping[Tier, Model]) -> None:
    """Ask each provider once, before anything is installed, whether its key is accepted.

    Raises KeyRefused.
    """
    for model in {model for model in models.values() if isinstance(model, ProviderModel)}:
        await model.check_key()
