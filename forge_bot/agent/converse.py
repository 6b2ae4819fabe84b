"""One conversation with a model: of an agent, of a skill, or about a person's question.

ask ─┬─ it wants to see more ──► look it up ──► ask again
     ├─ no readable answer, or one with faults ──► ask again, with the complaints
     └─ an answer ──► try its edits ─┬─ newly red ──► ask again, with what is red
                                     └─ done

Messages are only appended, so a provider's cache finds the beginning of each question again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forge_bot.agent import model_answers
from forge_bot.agent.ask_model import AskModel, BatchLane, Stopped
from forge_bot.agent.assignment import (
    AnswerRejected,
    Assignment,
    Notice,
    Opening,
    StopReason,
    TryOutcome,
    WorkResult,
)
from forge_bot.agent.capabilities import CapabilityResult, ResultStatus, without_known_lines
from forge_bot.agent.fulfil_requests import ContextPort, Fulfilment, requests_of
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.model_answers import Answer, Change, Explore, Malformed, Work, parse_answer
from forge_bot.agent.models.base import ChatMessage, FinishReason, MessageRole, Model, prompt_tokens
from forge_bot.agent.text_files import UNEDITABLE
from forge_bot.text_format import cut
from forge_bot.values import Usage


class Try(NamedTuple):
    """Edits to run the project's commands on. With `last`, failures do not go back to the model."""

    answer: Change
    seconds: float
    last: bool


Check = Callable[[Work], Sequence[str]]
RunCommands = Callable[[Try], TryOutcome]


def is_written(answer: Work) -> Sequence[str]:
    """Complain about an answer without a word."""
    empty = "The answer is empty; write it into artifact_markdown."
    return () if answer.artifact_markdown.strip() else (empty,)


async def converse(
    assignment: Assignment,
    opening: Opening,
    *,
    model: Model,
    context: ContextPort,
    journal: Journal,
    ledger: Ledger,
    notice: Callable[[Notice], None],
    check: Check = is_written,
    run_commands: RunCommands | None = None,
    now: Callable[[], float] = time.monotonic,
    leave_actions: bool = False,
    lane: BatchLane | None = None,
    images: Mapping[str, bytes] | None = None,
) -> WorkResult:
    """Ask, look up and ask again until `check` accepts an answer or a limit is reached. What the
    journal has is neither asked nor looked up again. `images` has their bytes by digest.

    `check` returns complaints that the model can act on, `run_commands` the results of the
    project's commands on edits. Set-up errors and an exhausted record are raised; every other
    failure of a model is a stop reason. With `leave_actions` ActionsWanted is raised until tools
    and skills that were asked for have results in the journal. With `lane` questions go into
    batches, and BatchUnderWay is raised until they are answered.
    """
    talk = _Conversation(
        assignment,
        AskModel(assignment, model, journal, ledger, notice, now, lane, images or {}),
        Fulfilment(assignment, context, journal, ledger, notice, now, leave_actions),
        check,
        run_commands,
    )
    talk.begin(journal.sent(f"{assignment.prefix}1") or await opening())
    answer, stop = None, Stopped(StopReason.ANSWERED)
    try:
        while answer is None:
            answer = await talk.turn()
    except Stopped as stopped:
        stop = stopped
    return talk.result(answer, stop)


@dataclass
class _Conversation:
    """A conversation: its messages so far, and its counts."""

    assignment: Assignment
    model: AskModel
    requests: Fulfilment
    check: Check
    run_commands: RunCommands | None
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])
    observations: tuple[CapabilityResult, ...] = ()
    usage: Usage = field(default_factory=Usage)
    turns: int = 1
    attempt: int = 1
    last: StopReason | None = None
    rejected: Work | None = None
    unfit: Work | None = None
    """The last answer, where only some of its edits could not be made: the `misfits`."""
    misfits: tuple[int, ...] = ()
    complaints: tuple[str, ...] = ()
    tries: tuple[TryOutcome, ...] = ()

    def __post_init__(self) -> None:
        self.limits, self.journal = self.assignment.limits, self.model.journal

    def begin(self, opening: Sequence[ChatMessage]) -> None:
        """Begin with messages of which the last one asks."""
        self.messages = list(opening[:-1])
        last = StopReason.ROUND_LIMIT if self.limits.turns == 1 else None
        self._tell(opening[-1], last=last)

    async def turn(self) -> Work | None:
        """Ask once, and do what is wanted; return an answer that can be taken. Raises Stopped."""
        answer = await self._answer()
        if isinstance(answer, Explore):
            await self._look(answer)
        elif answer is not None:
            whole = await asyncio.to_thread(self._whole, answer)
            return whole if await self._passes(whole) else None
        return None

    def result(self, answer: Work | None, stop: Stopped) -> WorkResult:
        """Return how the conversation ended. What was paid at its place before and belongs to no
        conversation any more counts with it.
        """
        elsewhere = sum((item.usage for item in self.observations), Usage()).replace(model="")
        paid = self.journal.unread(self.assignment.place)
        return WorkResult(
            stop=stop.reason,
            calls=stop.calls,
            observations=self.observations,
            answer=answer,
            rejected=None if answer else self.rejected,
            usage=self.usage + elsewhere + self.model.unanswered + paid,
            turns=self.turns,
            complaints=self.complaints,
            tries=self.tries,
            message=stop.message,
            trouble=stop.trouble,
        )

    # -- answers

    async def _answer(self) -> Answer | None:
        """Return the model's next answer; None if it was sent back."""
        self._check_time()
        if self._used + prompt_tokens(self.messages) > self.limits.input_tokens:
            raise Stopped(StopReason.TOKEN_BUDGET, "The tokens for this work are used up.")
        reply = await self.model.reply(self._step, self.turns, self.messages)
        self.usage += reply.usage
        kind = self.assignment.kind
        # Providers refuse an empty message, and an unread one need not be carried along whole.
        text = reply.text.strip() or "(no answer)"
        if reply.finish is FinishReason.REFUSAL:
            words = model_answers.printable(text, 300)
            raise Stopped(StopReason.MODEL_REFUSED, f"The model declined: {words}")
        try:
            answer = parse_answer(reply.text, kind)
        except Malformed as error:
            self._hear(cut(text, self.limits.result_chars))
            if reply.finish is FinishReason.LENGTH:
                words = model_answers.cut_off(kind, self.limits.output_tokens)
                self._send_back(StopReason.MODEL_TRUNCATED, (words,))
            else:
                self._send_back(StopReason.MODEL_MALFORMED, (str(error),))
            return None
        self._hear(text)
        return answer

    def _whole(self, answer: Work) -> Work:
        """Return a change behind the edits before it that were red, unless it repeats any of them
        or only it alone fits. Its empty document stands for the one before.
        """
        if not isinstance(answer, Change):
            return answer
        if isinstance(self.unfit, Change):
            answer = model_answers.put_right(self.unfit, answer, self.misfits)
        before = self.rejected if self.tries else None
        if not isinstance(before, Change):
            return answer
        if not answer.artifact_markdown.strip():
            answer = answer.model_copy(update={"artifact_markdown": before.artifact_markdown})
        if any(edit in before.edits for edit in answer.edits):
            return answer
        whole = answer.model_copy(update={"edits": (*before.edits, *answer.edits)})
        return answer if self.check(whole) and not self.check(answer) else whole

    async def _passes(self, answer: Work) -> bool:
        """Return whether an answer can be taken; else ask again. A second edit of a file that
        cannot be edited ends the conversation, so that a person is told.
        """
        complaints = tuple(await asyncio.to_thread(self.check, answer))
        self.misfits = model_answers.unfit_edits(complaints)
        self.unfit = answer if self.misfits else None
        if not complaints:
            return not self._is_tried(answer) or await self._runs(answer)
        if not self.tries:
            # An answer that passed before and was only red is better than a later one.
            self.rejected = answer
        hopeless = [complaint for complaint in complaints if complaint.endswith(UNEDITABLE)]
        if hopeless and any(complaint.endswith(UNEDITABLE) for complaint in self.complaints):
            words = model_answers.printable(hopeless[0], 300)
            raise Stopped(StopReason.MODEL_MALFORMED, words)
        self._send_back(StopReason.MODEL_MALFORMED, complaints)
        return False

    def _send_back(self, reason: StopReason, complaints: tuple[str, ...]) -> None:
        self.complaints = complaints
        self.model.notice(AnswerRejected(text=complaints[0]))
        # Answers that were only red are no corrections.
        if self.attempt - self._sent_back_red > self.limits.corrections:
            words = model_answers.printable(complaints[0], 300)
            raise Stopped(reason, f"After {self.attempt} tries: {words}")
        truncated = reason is StopReason.MODEL_TRUNCATED
        kind = self.assignment.kind
        self.attempt += 1
        self._tell(
            complaints[0] if truncated else model_answers.complaint(complaints, kind),
            last=self.last,
        )

    # -- edits

    def _is_tried(self, answer: Work) -> bool:
        """Return whether commands run on the edits. The same edits again are not run again."""
        if not isinstance(answer, Change) or not answer.edits or not self.limits.tries:
            return False
        before = self.rejected if self.tries else None
        again = isinstance(before, Change) and before.edits == answer.edits
        return self._try_seconds > 0 and not again

    async def _runs(self, answer: Work) -> bool:
        """Return whether the edits can be taken after the project's commands ran on them. What is
        newly red goes back a few times at most.
        """
        assert isinstance(answer, Change)  # noqa: S101 - no other answer has edits
        last = self._sent_back_red >= self.limits.tries
        outcome = await self._outcome(Try(answer, self._try_seconds, last))
        self.tries = (*self.tries, outcome)
        if not outcome.red or last:
            return True
        self.rejected, self.complaints = answer, ()
        self.attempt += 1
        self._tell(model_answers.newly_red(outcome.words), last=self.last)
        return False

    async def _outcome(self, edits: Try) -> TryOutcome:
        key = f"{self.assignment.prefix}{self._step}/tried"
        if (known := self.journal.tried(key)) is not None:
            return known
        if self.run_commands is None:
            return TryOutcome()
        return self.journal.tried_now(key, await asyncio.to_thread(self.run_commands, edits))

    @property
    def _try_seconds(self) -> float:
        return self.limits.try_seconds - sum(outcome.seconds for outcome in self.tries)

    @property
    def _sent_back_red(self) -> int:
        return sum(bool(outcome.red) for outcome in self.tries)

    # -- requests

    async def _look(self, answer: Explore) -> None:
        """Look up what the model wants to see, and ask again with all results."""
        if self.last is not None:
            raise Stopped(self.last, _WHY_LAST[self.last])
        self._check_time()
        most, asked = self.limits.requests_per_turn, len(answer.requests) + len(answer.actions)
        wanted = requests_of(answer, self.turns, most)
        shown = await self.requests.fulfil(wanted, self.observations)
        self.observations = (*self.observations, *shown)
        if stands := {item.key for item in shown if item.status is ResultStatus.STANDS}:
            calls = tuple(item for item in wanted if item.key in stands)
            raise Stopped(StopReason.CALLS_STAND, calls=calls)
        known = "\n".join(one.text for one in self.messages if one.role is MessageRole.USER)
        new = any(item.status is not ResultStatus.SKIPPED_DUPLICATE for item in shown)
        notes = [model_answers.left_out(asked, most)] if asked > most else []
        notes += [] if new else ["You asked for nothing new. Give your answer now."]
        self.complaints = ()
        self.turns, self.attempt = self.turns + 1, 1
        over = not new or self.turns >= self.limits.turns
        self._tell(
            model_answers.results([without_known_lines(item, known) for item in shown], notes),
            last=StopReason.ROUND_LIMIT if over else None,
        )

    # -- messages and limits

    @property
    def _step(self) -> str:
        return str(self.turns) if self.attempt == 1 else f"{self.turns}~{self.attempt}"

    @property
    def _used(self) -> int:
        return self.usage.input_tokens

    def _check_time(self) -> None:
        if self.model.seconds_left <= 0:
            seconds = f"{self.limits.seconds:,.0f}"
            raise Stopped(StopReason.DEADLINE, f"The {seconds} seconds for this work are over.")

    def _tell(self, words: str | ChatMessage, *, last: StopReason | None) -> None:
        """Add a message to the model. One that leaves no tokens for another is the last."""
        limits = self.limits
        is_ours = isinstance(words, str)
        message = ChatMessage(role=MessageRole.USER, text=words) if is_ours else words
        whole = (*self.messages, message)
        if last is None and self._used + 2 * prompt_tokens(whole) > limits.input_tokens:
            last = StopReason.TOKEN_BUDGET
        self.last = last
        line = model_answers.progress_line(
            self.turns,
            limits.turns,
            limits.input_tokens - self._used,
            self.assignment.kind,
            last=last is not None,
        )
        self.messages.append(message.replace(text=f"{message.text}\n\n{line}".strip()))

    def _hear(self, text: str) -> None:
        self.messages.append(ChatMessage(role=MessageRole.ASSISTANT, text=text))


_WHY_LAST = {
    StopReason.ROUND_LIMIT: "The model still wanted to look around in its last turn.",
    StopReason.TOKEN_BUDGET: (
        "The tokens for this work were nearly used up, and the model did not answer."
    ),
}
