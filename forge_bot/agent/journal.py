"""Every call to a model and everything looked up for it, on disk before it is used; so nothing is paid or done twice.

A line is one JSON object, written in one piece and synced. `started` stands before a call goes out, `finished` or `failed`
after it; `begun` stands before a request that runs commands, `observed` after whatever was looked up. The file lies
outside git: it holds whole prompts and answers.
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
from forge_bot.agent.models.base import ChatMessage, Finish, ModelReply
from forge_bot.agent.redaction import striking
from forge_bot.store import full, without_room
from forge_bot.values import Frozen, Usage


class Started(Frozen):
    """A question goes out. `messages` are those that no earlier line of this conversation has."""

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
    finish: Finish
    usage: Usage


class Failed(Frozen):
    """The call came to nothing. `paid` if the provider may have worked for it all the same."""

    entry: Literal["failed"] = "failed"
    key: str
    prompt: str
    why: str
    paid: bool


class Observed(Frozen):
    """Something was looked up. `key` is that of the conversation and the request together."""

    entry: Literal["observed"] = "observed"
    key: str
    observation: CapabilityResult


class Begun(Frozen):
    """A request that runs commands is about to be fulfilled. Without an `observed` after it, its process died meanwhile."""

    entry: Literal["begun"] = "begun"
    key: str
    capability: str
    params: str


AnyEntry = Started | Ended | Failed | Begun | Observed
Entry = Annotated[AnyEntry, Field(discriminator="entry")]
_ENTRY: TypeAdapter[AnyEntry] = TypeAdapter(Entry)


class Journal:
    """One file, one writer. `environ` is where the secrets to be struck out are found.

    `damaged` counts lines that could not be read; what they said is asked again.
    """

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self.path = path
        self.strike = striking(environ)
        self.damaged = 0
        self._ends: dict[tuple[str, str], Ended] = {}
        self._observations: dict[str, CapabilityResult] = {}
        self._open: dict[tuple[str, str], list[Decimal]] = {}
        self._writing = threading.Lock()
        self._read()

    def answered(self, key: str, prompt: str) -> ModelReply | None:
        """The reply to exactly this question, if it came before."""
        end = self._ends.get((key, prompt))
        return end and ModelReply(text=end.text, usage=end.usage, finish=end.finish)

    def observed(self, key: str) -> CapabilityResult | None:
        """What was found under this key before."""
        return self._observations.get(key)

    def take_lost(self, prefix: str) -> Decimal:
        """What earlier processes reserved for calls of this conversation and never settled. Given out once.

        Those calls may have been answered and charged after their process died, so their worst case counts as spent.
        """
        lost = [key for key in self._open if key[0].startswith(prefix)]
        return sum((amount for key in lost for amount in self._open.pop(key)), Decimal(0))

    def started(self, key: str, prompt: str, model: str, reserved: Decimal, messages: Sequence[ChatMessage]) -> None:
        """A question is about to go out. Raises DiskFull if there might be no room for its answer, which would be paid in vain."""
        if without_room(self.path):
            raise full((self.path.parent,), "The model was not asked, since its answer could not be kept.")
        shown = tuple(ChatMessage(role=item.role, text=self.strike(item.text)) for item in messages)
        self._append(Started(key=key, prompt=prompt, model=model, reserved=reserved, messages=shown))

    def finished(self, key: str, prompt: str, reply: ModelReply) -> ModelReply:
        """Keep a reply; the one that is returned is what a later process would read, and is to be used instead."""
        end = Ended(key=key, prompt=prompt, text=self.strike(reply.text), finish=reply.finish, usage=reply.usage)
        self._append(end)
        self._ends[key, prompt] = end
        return ModelReply(text=end.text, usage=end.usage, finish=end.finish)

    def failed(self, key: str, prompt: str, why: str, *, paid: bool) -> None:
        """A call brought no reply."""
        self._append(Failed(key=key, prompt=prompt, why=self.strike(why), paid=paid))

    def begun(self, key: str, wanted: CapabilityRequest) -> None:
        """Note that a request is about to be fulfilled that does more than read."""
        self._append(Begun(key=key, capability=wanted.capability, params=self.strike(wanted.params)))

    def looked(self, key: str, observation: CapabilityResult) -> CapabilityResult:
        """Keep what was found; as with `finished`, the returned value is to be used."""
        kept = observation.model_copy(update={"content": self.strike(observation.content), "note": self.strike(observation.note)})
        self._append(Observed(key=key, observation=kept))
        self._observations[key] = kept
        return kept

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
                    # Disk full: half a line would take the next one with it.
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
            # A process died in the middle of this line, so what it was about did not happen as far as anyone knows.
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
                # Its commands leave nothing behind, so they are run again.
                pass
            case Observed():
                self._observations[entry.key] = entry.observation

    def _close(self, key: str, prompt: str) -> None:
        reserved = self._open.get((key, prompt))
        if reserved:
            reserved.pop()
