"""The transcript of every conversation with a model, written to disk before a result is used.

So nothing is paid or done twice, and a conversation goes on where its process was killed. A line is
one JSON object, written in one piece and synced. Its key names the conversation (the action, its
task, and a digest of what it began from) and the turn.
`started` precedes a call and has its messages, `finished` or `failed` follows it; `observed`
follows every lookup, `tried` every run of commands on an answer's edits. A question for a batch is
`parked`, and again with the provider's ticket.
No commit has the file: it holds whole prompts and answers.
"""

import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from forge_bot.agent.assignment import TryOutcome
from forge_bot.agent.capabilities import CapabilityResult
from forge_bot.agent.models.base import (
    BatchTicket,
    ChatMessage,
    FinishReason,
    MessageRole,
    ModelReply,
)
from forge_bot.agent.redaction import redactor
from forge_bot.store.files import full, without_room, write_whole
from forge_bot.values import Frozen, PhaseId, Usage


class JournalEntry(Frozen):
    """One line. `key` combines those of the conversation and of the turn or the request."""

    key: str


class Started(JournalEntry):
    """A question is sent. `messages` are those that no earlier line of this conversation has."""

    entry: Literal["started"] = "started"
    model: str
    reserved: Decimal = Decimal(0)
    messages: tuple[ChatMessage, ...] = ()


class Parked(JournalEntry):
    """A question that waits for a batch, where `question` is its id. Without a ticket it is unknown
    whether it was taken in.
    """

    entry: Literal["parked"] = "parked"
    model: str
    question: str
    at: AwareDatetime
    messages: tuple[ChatMessage, ...] = ()
    ticket: BatchTicket | None = None


class Ended(JournalEntry):
    """The reply, as the model wrote it."""

    entry: Literal["finished"] = "finished"
    text: str
    finish: FinishReason
    usage: Usage

    @property
    def reply(self) -> ModelReply:
        return ModelReply(text=self.text, usage=self.usage, finish=self.finish)


class Failed(JournalEntry):
    """The call failed, or its question was taken out of a batch. `paid` if the provider may have
    worked for it nevertheless.
    """

    entry: Literal["failed"] = "failed"
    question: str = ""
    why: str
    paid: bool = False


class Observed(JournalEntry):
    """A lookup ended."""

    entry: Literal["observed"] = "observed"
    observation: CapabilityResult


class Tried(JournalEntry):
    """The project's commands ran on an answer's edits."""

    entry: Literal["tried"] = "tried"
    outcome: TryOutcome


AnyEntry = Started | Parked | Ended | Failed | Observed | Tried
_ENTRY: TypeAdapter[AnyEntry] = TypeAdapter(Annotated[AnyEntry, Field(discriminator="entry")])


class Journal:
    """One file with one writer. The secrets to redact come from `environ`.

    Unreadable lines are left out; their questions are asked again. `carried` is a second file that
    travels with the run, with the entries of conversations that other machines continue.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], carried: Path | None = None) -> None:
        self.path = path
        self.carried = carried
        self.strike = redactor(environ)
        self._ends: dict[str, Ended] = {}
        self._read = set[str]()
        self._messages: dict[str, tuple[ChatMessage, ...]] = {}
        self._models: dict[str, str] = {}
        self._observations: dict[str, CapabilityResult] = {}
        self._tries: dict[str, TryOutcome] = {}
        self._open: dict[str, list[Decimal]] = {}
        self._parked: dict[str, Parked] = {}
        self._travels: set[str] = set()
        self._writing = threading.Lock()
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = {""}
        for entry in self._entries(path):
            self._remember(entry)
            own.add(_question(entry))
        for entry in self._entries(carried) if carried is not None else ():
            # What this machine did itself it knows best; the file that travels may be older.
            if not (question := _question(entry)) or question not in own:
                self._remember(entry)

    def sent(self, key: str) -> tuple[ChatMessage, ...]:
        """Return the messages that this question had and none before it; empty for a question that
        is neither answered nor in a batch.
        """
        counts = key in self._ends or key in self._parked
        return self._messages.get(key, ()) if counts else ()

    def looked_around(self, phases: Collection[PhaseId], model: str) -> tuple[ChatMessage, ...]:
        """Return the messages of the newest conversation with a model in one of some phases, up to
        the results of its last look-up; empty if it looked up nothing.
        """
        firsts = [
            key
            for key, asked in self._models.items()
            if key.endswith("#1") and asked == model
            if key.partition("@")[0].rpartition(".")[0] in phases
        ]
        messages, turn = list[ChatMessage](), 0
        prefix = firsts[-1].removesuffix("1") if firsts else ""
        while firsts and f"{prefix}{turn}~2" not in self._models:
            turn += 1
            if f"{prefix}{turn}" not in self._models:
                break
            messages += self._messages[f"{prefix}{turn}"]
        looked = any(item.role is MessageRole.ASSISTANT for item in messages)
        return tuple(messages) if looked else ()

    def answered(self, key: str) -> ModelReply | None:
        end = self._ends.get(key)
        self._read.add(key)
        return end and end.reply

    def unread(self, place: str) -> Usage:
        """Return the cost of the replies at this place that nobody has read in this process."""
        ends = (end for key, end in self._ends.items() if key not in self._read)
        return sum((end.usage for end in ends if end.key.startswith(place)), Usage())

    def observed(self, key: str) -> CapabilityResult | None:
        """Return the result under this key, if it is in the journal. What models were asked for it
        is part of its cost.
        """
        if (result := self._observations.get(key)) is not None:
            self._read.update(other for other in self._ends if other.startswith(key))
        return result

    def tried(self, key: str) -> TryOutcome | None:
        return self._tries.get(key)

    def take_lost(self, prefix: str) -> tuple[Decimal, ...]:
        """Return the reservations of earlier processes that were never settled, once.

        Those calls of this conversation may have been answered and billed after their process died.
        """
        lost = [key for key in self._open if key.startswith(prefix)]
        return tuple(amount for key in lost for amount in self._open.pop(key))

    def started(
        self, key: str, model: str, reserved: Decimal, messages: Sequence[ChatMessage]
    ) -> None:
        """Record that a question is about to be sent.

        Raises DiskFull if there might be no room for its answer, which would be paid in vain.
        """
        if without_room(self.path):
            raise full(
                (self.path.parent,), "The model was not asked, since its answer could not be kept."
            )
        entry = Started(key=key, model=model, reserved=reserved, messages=self._struck(messages))
        self._append(entry)
        self._messages[key], self._models[key] = entry.messages, model

    def finished(self, key: str, reply: ModelReply) -> ModelReply:
        """Record a reply. Use the returned one: it is what a later process would read."""
        text = self.strike(reply.text)
        end = Ended(key=key, text=text, finish=reply.finish, usage=reply.usage)
        self._note(end)
        self._read.add(key)
        return end.reply

    def failed(self, key: str, why: str, *, paid: bool, question: str = "") -> None:
        """Record that a call had no reply, or that a question is in no batch now."""
        self._note(Failed(key=key, why=self.strike(why), paid=paid, question=question))

    def parked(self, key: str) -> Parked | None:
        """Return the known state of this question's batch, if the question waits for one."""
        return self._parked.get(key)

    def all_parked(self) -> tuple[Parked, ...]:
        """Return all questions that wait for a batch."""
        return tuple(self._parked.values())

    def park(self, parked: Parked) -> None:
        """Record that a question is about to be handed in with a batch, or that it was taken in."""
        self._note(parked.replace(messages=self._struck(parked.messages)))

    def _struck(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """Return messages without secrets; where one is struck out, the seams are not known."""
        return tuple(
            item
            if (text := self.strike(item.text)) == item.text
            else item.replace(text=text, seams=())
            for item in messages
        )

    def _note(self, entry: AnyEntry) -> None:
        self._append(entry)
        self._remember(entry)

    def carry(self, prefix: str) -> None:
        """Let entries under this prefix travel with the run, from now on."""
        self._travels.add(prefix)

    def leave(self, prefix: str) -> None:
        """Remove the entries under this prefix from the file that travels with the branch: their
        work is reported.
        """
        self._travels.discard(prefix)
        if self.carried is None or not self.carried.is_file():
            return
        with self._writing:
            lines = self.carried.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if not _key(line).startswith(prefix)]
            if kept:
                write_whole(self.carried, b"".join(kept))
            else:
                self.carried.unlink()

    def looked(self, key: str, observation: CapabilityResult) -> CapabilityResult:
        """Record a result. As with `finished`, use the returned value."""
        kept = observation.replace(
            content=self.strike(observation.content), note=self.strike(observation.note)
        )
        self._note(Observed(key=key, observation=kept))
        return kept

    def tried_now(self, key: str, outcome: TryOutcome) -> TryOutcome:
        """Record the outcome of a try. As with `finished`, use the returned value."""
        entry = Tried(key=key, outcome=outcome.redacted(self.strike))
        self._note(entry)
        return entry.outcome

    def _append(self, entry: AnyEntry) -> None:
        self._write_line(self.path, entry)
        travels = any(map(entry.key.startswith, self._travels))
        if self.carried is None or not travels:
            return
        # A call that was not answered is counted once, on the machine that made it; and another
        # machine goes on from a prompt of its own, so the branch does not need this one.
        if isinstance(entry, Parked):
            entry = entry.replace(messages=())
        if not isinstance(entry, Started):
            self._write_line(self.carried, entry)

    def _write_line(self, path: Path, entry: AnyEntry) -> None:
        line = json.dumps(entry.model_dump(mode="json"), ensure_ascii=False) + "\n"
        with self._writing:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
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

    def _entries(self, path: Path) -> Iterator[AnyEntry]:
        if not path.exists():
            return
        whole, _, torn = path.read_bytes().rpartition(b"\n")
        if torn:
            # A process died while writing this line, so its event is treated as not happened.
            os.truncate(path, len(whole) + 1 if whole else 0)
        for line in whole.split(b"\n") if whole else ():
            with suppress(ValidationError):
                yield _ENTRY.validate_json(line)

    def _remember(self, entry: AnyEntry) -> None:
        match entry:
            case Started():
                self._messages[entry.key] = entry.messages
                self._models[entry.key] = entry.model
                self._open.setdefault(entry.key, []).append(entry.reserved)
            case Parked():
                if entry.messages:
                    self._messages[entry.key] = entry.messages
                if entry.key not in self._ends:
                    self._parked[entry.key] = entry
            case Ended():
                self._ends[entry.key] = entry
                if self._parked.pop(entry.key, None) is None:
                    self._close(entry.key)
            case Failed(question="", paid=False):
                self._close(entry.key)
            case Failed():
                known = self._parked.get(entry.key)
                if known is not None and known.question == entry.question:
                    del self._parked[entry.key]
            case Observed():
                self._observations[entry.key] = entry.observation
            case Tried():
                self._tries[entry.key] = entry.outcome

    def _close(self, key: str) -> None:
        reserved = self._open.get(key)
        if reserved:
            reserved.pop()


def _question(entry: AnyEntry) -> str:
    """Return the id of a question in a batch; empty for all else."""
    return entry.question if isinstance(entry, Parked | Failed) else ""


def _key(line: bytes) -> str:
    with suppress(ValidationError):
        return _ENTRY.validate_json(line).key
    return ""
