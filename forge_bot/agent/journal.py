"""A journal of every model call and every lookup, written to disk before the result is used.

So nothing is paid or done twice. A line is one JSON object, written in one piece and synced.
`started` precedes a call, `finished` or `failed` follows it; `begun` precedes a request that runs
commands, `observed` follows every lookup, `tried` every run of commands on an
answer's edits. The file lies outside git: it holds whole prompts and
answers.
"""

import json
import os
import threading
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult
from forge_bot.agent.models.base import ChatMessage, FinishReason, ModelReply
from forge_bot.agent.redaction import redactor
from forge_bot.agent.tries import TryOutcome
from forge_bot.store import full, without_room
from forge_bot.values import Frozen, Usage


class Started(Frozen):
    """A question is sent. `messages` are those that no earlier line of this conversation has."""

    entry: Literal["started"] = "started"
    key: str
    prompt: str
    model: str
    reserved: Decimal
    messages: tuple[ChatMessage, ...] = ()


class Ended(Frozen):
    """The reply, as the model wrote it."""

    entry: Literal["finished"] = "finished"
    key: str
    prompt: str
    text: str
    finish: FinishReason
    usage: Usage


class Failed(Frozen):
    """The call failed. `paid` if the provider may have worked for it nevertheless."""

    entry: Literal["failed"] = "failed"
    key: str
    prompt: str
    why: str
    paid: bool


class Observed(Frozen):
    """A lookup ended. `key` combines those of the conversation and the request."""

    entry: Literal["observed"] = "observed"
    key: str
    observation: CapabilityResult


class Begun(Frozen):
    """A request that runs commands is about to start.

    Without a following `observed`, its process died meanwhile.
    """

    entry: Literal["begun"] = "begun"
    key: str
    capability: str
    params: str


class Tried(Frozen):
    """The project's commands ran on an answer's edits."""

    entry: Literal["tried"] = "tried"
    key: str
    outcome: TryOutcome


AnyEntry = Started | Ended | Failed | Begun | Observed | Tried
Entry = Annotated[AnyEntry, Field(discriminator="entry")]
_ENTRY: TypeAdapter[AnyEntry] = TypeAdapter(Entry)


class Journal:
    """One file with one writer. The secrets to redact come from `environ`.

    `damaged` counts unreadable lines; their questions are asked again.
    """

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self.path = path
        self.strike = redactor(environ)
        self.damaged = 0
        self._ends: dict[tuple[str, str], Ended] = {}
        self._observations: dict[str, CapabilityResult] = {}
        self._tries: dict[str, TryOutcome] = {}
        self._open: dict[tuple[str, str], list[Decimal]] = {}
        self._writing = threading.Lock()
        self._read()

    def answered(self, key: str, prompt: str) -> ModelReply | None:
        """Return the reply to exactly this question, if it is in the journal."""
        end = self._ends.get((key, prompt))
        return end and ModelReply(text=end.text, usage=end.usage, finish=end.finish)

    def has_reply(self, prefix: str) -> bool:
        """Return whether the journal has a reply of this conversation."""
        return any(key.startswith(prefix) for key, _ in self._ends)

    def observed(self, key: str) -> CapabilityResult | None:
        """Return the result under this key, if it is in the journal."""
        return self._observations.get(key)

    def tried(self, key: str) -> TryOutcome | None:
        """Return the outcome of a try under this key, if it is in the journal."""
        return self._tries.get(key)

    def take_lost(self, prefix: str) -> Decimal:
        """Return the reservations of earlier processes that were never settled, once.

        Those calls of this conversation may have been answered and charged after their process
        died, so their worst case counts as spent.
        """
        lost = [key for key in self._open if key[0].startswith(prefix)]
        return sum((amount for key in lost for amount in self._open.pop(key)), Decimal(0))

    def started(
        self, key: str, prompt: str, model: str, reserved: Decimal, messages: Sequence[ChatMessage]
    ) -> None:
        """Record that a question is about to be sent.

        Raises DiskFull if there might be no room for its answer, which would be paid in vain.
        """
        if without_room(self.path):
            raise full(
                (self.path.parent,), "The model was not asked, since its answer could not be kept."
            )
        shown = tuple(ChatMessage(role=item.role, text=self.strike(item.text)) for item in messages)
        self._append(
            Started(key=key, prompt=prompt, model=model, reserved=reserved, messages=shown)
        )

    def finished(self, key: str, prompt: str, reply: ModelReply) -> ModelReply:
        """Record a reply. Use the returned one: it is what a later process would read."""
        end = Ended(
            key=key,
            prompt=prompt,
            text=self.strike(reply.text),
            finish=reply.finish,
            usage=reply.usage,
        )
        self._append(end)
        self._ends[key, prompt] = end
        return ModelReply(text=end.text, usage=end.usage, finish=end.finish)

    def failed(self, key: str, prompt: str, why: str, *, paid: bool) -> None:
        """Record that a call had no reply."""
        self._append(Failed(key=key, prompt=prompt, why=self.strike(why), paid=paid))

    def begun(self, key: str, wanted: CapabilityRequest) -> None:
        """Record that a request is about to start that does more than read."""
        self._append(
            Begun(key=key, capability=wanted.capability, params=self.strike(wanted.params))
        )

    def looked(self, key: str, observation: CapabilityResult) -> CapabilityResult:
        """Record a result. As with `finished`, use the returned value."""
        kept = observation.model_copy(
            update={
                "content": self.strike(observation.content),
                "note": self.strike(observation.note),
            }
        )
        self._append(Observed(key=key, observation=kept))
        self._observations[key] = kept
        return kept

    def tried_now(self, key: str, outcome: TryOutcome) -> TryOutcome:
        """Record the outcome of a try. As with `finished`, use the returned value."""
        entry = Tried(key=key, outcome=outcome.redacted(self.strike))
        self._append(entry)
        self._remember(entry)
        return entry.outcome

    def _append(self, entry: AnyEntry) -> None:
        line = json.dumps(entry.model_dump(mode="json"), ensure_ascii=False) + "\n"
        with self._writing:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                remaining = line.encode("utf-8", "replace")
                end = os.lseek(descriptor, 0, os.SEEK_END)
                try:
                    while remaining:
                        remaining = remaining[os.write(descriptor, remaining) :]
                    os.fsync(descriptor)
                except OSError:
                    # Disk full: half a line would damage the next one.
                    os.ftruncate(descriptor, end)
                    raise
            finally:
                os.close(descriptor)

    def _read(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.path.exists():
            return
        whole, _, torn = self.path.read_bytes().rpartition(b"\n")
        if torn:
            # A process died while writing this line, so its event is treated as not happened.
            os.truncate(self.path, len(whole) + 1 if whole else 0)
        for line in whole.split(b"\n") if whole else ():
            try:
                self._remember(_ENTRY.validate_json(line))
            except ValidationError:
                self.damaged += 1

    def _remember(self, entry: AnyEntry) -> None:
        match entry:
            case Started():
                self._open.setdefault((entry.key, entry.prompt), []).append(entry.reserved)
            case Ended():
                self._ends[entry.key, entry.prompt] = entry
                self._close(entry.key, entry.prompt)
            case Failed():
                if not entry.paid:
                    self._close(entry.key, entry.prompt)
            case Begun():
                # Its commands leave no results behind, so they run again.
                pass
            case Observed():
                self._observations[entry.key] = entry.observation
            case Tried():
                self._tries[entry.key] = entry.outcome

    def _close(self, key: str, prompt: str) -> None:
        reserved = self._open.get((key, prompt))
        if reserved:
            reserved.pop()
