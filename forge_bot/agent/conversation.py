"""The conversation with a model as a value. No I/O, no clock, no randomness.

It receives events and returns the next effect.

begin ──► AskModel ──► replied ─┬─► Fetch ──► fetched ──► AskModel …
                                ├─► Judge ──► judged ─┬─► Try ──► tried ─┬─► Stop(answered)
                                │                     │                  └─► AskModel, with
                                │                     │                      what is newly red
                                │                     ├─► Stop(answered)
                                │                     └─► AskModel, with the complaints
                                ├─► AskModel, with what was wrong
                                └─► Stop

Messages are only appended, so a provider's cache finds the beginning of each question again.
"""

from pydantic import Field

from forge_bot.agent import model_feedback
from forge_bot.agent.assignment import Assignment, StopReason
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus, place
from forge_bot.agent.capability_requests import sort_requests
from forge_bot.agent.limits import WorkLimits
from forge_bot.agent.model_answers import AnswerKind, Change, Explore, Malformed, Work, parse_answer
from forge_bot.agent.models.base import (
    ChatMessage,
    FinishReason,
    MessageRole,
    ModelReply,
    prompt_tokens,
)
from forge_bot.agent.providers.provider_result import result_of
from forge_bot.agent.text_files import UNEDITABLE
from forge_bot.agent.tries import TryOutcome
from forge_bot.remedies import ModelTrouble
from forge_bot.text_format import cut
from forge_bot.values import Frozen, Usage

# Turns in a row without new information: after the first the model is warned, after the second it
# is asked one last time.
_IDLE_TURNS = 2


class AskModel(Frozen):
    """Send these messages to the model.

    `step` is `<turn>`, from the second try of a turn on `<turn>~<try>`.
    """

    step: str
    turn: int
    messages: tuple[ChatMessage, ...]


class Fetch(Frozen):
    """Look these requests up, in parallel; report with `fetched`."""

    wanted: tuple[CapabilityRequest, ...]


class Judge(Frozen):
    """Check whether this finished work can be accepted; report with `judged`."""

    answer: Work


class Try(Frozen):
    """Run the project's commands on the edits of this answer; report with `tried`.

    `step` is that of the question that it answers. With `last`, failures do not go back to the
    model.
    """

    step: str
    answer: Change
    seconds: float
    last: bool


class Stop(Frozen):
    """End the conversation."""

    reason: StopReason
    answer: Work | None = None
    message: str = ""
    trouble: ModelTrouble | None = None
    calls: tuple[CapabilityRequest, ...] = ()


class Failure(Frozen):
    """The model could not be asked, or may not be asked any more."""

    reason: StopReason
    message: str
    trouble: ModelTrouble | None = None


Effect = AskModel | Fetch | Judge | Try | Stop


class Conversation(Frozen):
    """The state of one conversation."""

    kind: AnswerKind
    providers: tuple[str, ...]
    running: tuple[str, ...] = ()
    limits: WorkLimits
    messages: tuple[ChatMessage, ...]
    observations: tuple[CapabilityResult, ...] = ()
    usage: Usage = Usage()
    elsewhere: Usage = Field(
        default=Usage(), description="of models that its requests asked: no tokens of its own"
    )
    turn: int = 1
    attempt: int = 1
    idle: int = 0
    last: StopReason | None = Field(
        default=None, description="why the outstanding question is the last, if it is"
    )
    wanted: tuple[CapabilityRequest, ...] = ()
    known: tuple[CapabilityResult, ...] = Field(
        default=(), description="results of this turn that need no looking up"
    )
    notes: tuple[str, ...] = ()
    candidate: Work | None = None
    to_try: Change | None = Field(default=None, description="passed its check, was not tried yet")
    tries: tuple[TryOutcome, ...] = ()
    rejected: Work | None = None
    complaints: tuple[str, ...] = ()
    stop: Stop | None = None


def begin(assignment: Assignment, opening: tuple[ChatMessage, ...]) -> Conversation:
    """Return the conversation before its first question. The last message of the opening asks."""
    limits, question = assignment.limits, opening[-1]
    empty = Conversation(
        kind=assignment.kind,
        providers=assignment.providers,
        running=assignment.running,
        limits=limits,
        messages=opening[:-1],
    )
    last = StopReason.ROUND_LIMIT if limits.turns == 1 else None
    return _ask(empty, question.text, last=last, seams=question.seams)


def next_effect(x: Conversation, elapsed: float = 0.0) -> Effect:
    """Return the next effect. `elapsed` is seconds since the work began in this process."""
    if x.stop is not None:
        return x.stop
    if x.candidate is not None:
        return Judge(answer=x.candidate)
    if x.to_try is not None:
        left = x.limits.try_seconds - sum(outcome.seconds for outcome in x.tries)
        last = _sent_back_red(x) >= x.limits.tries
        return Try(step=_step(x), answer=x.to_try, seconds=left, last=last)
    if elapsed >= x.limits.seconds:
        return Stop(
            reason=StopReason.DEADLINE,
            message=f"The {x.limits.seconds:,.0f} seconds for this work are over.",
        )
    if x.wanted:
        return Fetch(wanted=x.wanted)
    if x.usage.input_tokens + prompt_tokens(x.messages) > x.limits.total_input_tokens:
        return Stop(reason=StopReason.TOKEN_BUDGET, message="The tokens for this work are used up.")
    return AskModel(step=_step(x), turn=x.turn, messages=x.messages)


def replied(x: Conversation, reply: ModelReply | Failure) -> Conversation:
    """Return the conversation after a reply or failure of the model."""
    if isinstance(reply, Failure):
        return _stopped(x, reply.reason, reply.message, reply.trouble)
    # Providers refuse an empty message, and an unread one need not be carried along whole.
    text = reply.text.strip() or "(no answer)"
    if reply.finish is FinishReason.REFUSAL:
        x = _heard(x, text, reply.usage)
        return _stopped(
            x,
            StopReason.MODEL_REFUSED,
            f"The model declined: {model_feedback.printable(text, 300)}",
        )
    try:
        answer = parse_answer(reply.text, x.kind)
    except Malformed as error:
        x = _heard(x, cut(text, x.limits.result_chars), reply.usage)
        if reply.finish is FinishReason.LENGTH:
            return _sent_back(
                x,
                StopReason.MODEL_TRUNCATED,
                (model_feedback.cut_off(x.kind, x.limits.output_tokens),),
            )
        return _sent_back(x, StopReason.MODEL_MALFORMED, (str(error),))
    x = _heard(x, text, reply.usage)
    return _explored(x, answer) if isinstance(answer, Explore) else x.replace(candidate=answer)


def fetched(x: Conversation, observations: tuple[CapabilityResult, ...]) -> Conversation:
    """Return the conversation after a Fetch.

    A missing result counts as failed; a result that is too long is cut.
    """
    results = {item.key: item for item in observations}
    looked = tuple(_kept(results.get(item.key) or _missing(item), x.limits) for item in x.wanted)
    cost = sum((item.usage for item in looked), x.elsewhere)
    x = x.replace(elsewhere=cost)
    standing = {item.key for item in looked if item.status is ResultStatus.STANDS}
    if standing:
        calls = tuple(item for item in x.wanted if item.key in standing)
        stop = Stop(reason=StopReason.CALLS_STAND, calls=calls)
        seen = (*x.observations, *looked)
        return x.replace(stop=stop, wanted=(), known=(), observations=seen)
    return _turn_over(x, looked)


def judged(x: Conversation, complaints: tuple[str, ...]) -> Conversation:
    """Return the conversation after a Judge. Without complaints the work is done. A second edit of
    a file that cannot be edited ends it, so that a person is told.
    """
    answer = x.candidate
    x = x.replace(candidate=None)
    if complaints:
        # An answer that passed before and was only red is better than this one.
        kept = x.rejected if x.tries else answer
        hopeless = [complaint for complaint in complaints if complaint.endswith(UNEDITABLE)]
        if hopeless and any(complaint.endswith(UNEDITABLE) for complaint in x.complaints):
            message = model_feedback.printable(hopeless[0], 300)
            return _stopped(x.replace(rejected=kept), StopReason.MODEL_MALFORMED, message)
        return _sent_back(x.replace(rejected=kept), StopReason.MODEL_MALFORMED, complaints)
    if isinstance(answer, Change) and _is_tried(x, answer):
        return x.replace(to_try=answer)
    return _answered(x, answer)


def tried(x: Conversation, outcome: TryOutcome) -> Conversation:
    """Return the conversation after a Try. What is newly red goes back a few times at most."""
    answer, sent = x.to_try, _sent_back_red(x)
    x = x.replace(to_try=None, tries=(*x.tries, outcome))
    if not outcome.red or sent >= x.limits.tries:
        return _answered(x, answer)
    feedback = model_feedback.newly_red(outcome.words, x.kind)
    x = x.replace(rejected=answer, complaints=(), attempt=x.attempt + 1)
    return _ask(x, feedback, last=x.last)


def _is_tried(x: Conversation, answer: Change) -> bool:
    """Return whether commands run on the edits. The same edits again are not run again."""
    before = x.rejected if x.tries else None
    again = isinstance(before, Change) and before.edits == answer.edits
    left = sum(outcome.seconds for outcome in x.tries) < x.limits.try_seconds
    return x.limits.tries > 0 and bool(answer.edits) and left and not again


def _sent_back_red(x: Conversation) -> int:
    return sum(bool(outcome.red) for outcome in x.tries)


def _answered(x: Conversation, answer: Work | None) -> Conversation:
    return x.replace(stop=Stop(reason=StopReason.ANSWERED, answer=answer))


def _step(x: Conversation) -> str:
    return str(x.turn) if x.attempt == 1 else f"{x.turn}~{x.attempt}"


def _explored(x: Conversation, answer: Explore) -> Conversation:
    if x.last is not None:
        return _stopped(x, x.last, _WHY_LAST[x.last])
    requests = sort_requests(
        answer, x.turn, x.observations, x.providers, x.limits.requests_per_turn, x.running
    )
    x = x.replace(wanted=requests.wanted, known=requests.known, notes=requests.notes)
    return x if x.wanted else _turn_over(x, ())


_WHY_LAST = {
    StopReason.ROUND_LIMIT: "The model still wanted to look around in its last turn.",
    StopReason.NO_PROGRESS: "The model kept asking for what it had been shown, and did not answer.",
    StopReason.TOKEN_BUDGET: (
        "The tokens for this work were nearly used up, and the model did not answer."
    ),
}


def _turn_over(x: Conversation, looked: tuple[CapabilityResult, ...]) -> Conversation:
    """Return the next question, with all results of this turn."""
    shown = sorted((*looked, *x.known), key=lambda item: place(item.key))
    new = any(item.status is not ResultStatus.SKIPPED_DUPLICATE for item in shown)
    idle = 0 if new else x.idle + 1
    results = model_feedback.results(shown, (*x.notes, *_idle_note(shown, idle)))
    settled = {
        "observations": (*x.observations, *shown),
        "wanted": (),
        "known": (),
        "notes": (),
        "complaints": (),
    }
    x = x.replace(**settled, idle=idle, turn=x.turn + 1, attempt=1)
    limit = StopReason.ROUND_LIMIT if x.turn >= x.limits.turns else None
    return _ask(x, results, last=StopReason.NO_PROGRESS if idle >= _IDLE_TURNS else limit)


def _idle_note(shown: list[CapabilityResult], idle: int) -> tuple[str, ...]:
    if not idle:
        return ()
    if not shown:
        return ("You asked for nothing more. Give your answer now.",)
    return (
        "You asked only for what you have been shown already. Ask for something else, or answer.",
    )


def _sent_back(x: Conversation, reason: StopReason, complaints: tuple[str, ...]) -> Conversation:
    x = x.replace(complaints=complaints)
    # Answers that were only red are no corrections.
    if x.attempt - _sent_back_red(x) > x.limits.corrections:
        return _stopped(
            x, reason, f"After {x.attempt} tries: {model_feedback.printable(complaints[0], 300)}"
        )
    words = (
        complaints[0]
        if reason is StopReason.MODEL_TRUNCATED
        else model_feedback.complaint(complaints, x.kind)
    )
    return _ask(x.replace(attempt=x.attempt + 1), words, last=x.last)


def _ask(
    x: Conversation, words: str, *, last: StopReason | None, seams: tuple[int, ...] = ()
) -> Conversation:
    """Return `x` with one more message to the model.

    A question that leaves no tokens for another is the last.
    """
    spent = x.usage.input_tokens
    cost = prompt_tokens((*x.messages, ChatMessage(role=MessageRole.USER, text=words)))
    if last is None and spent + 2 * cost > x.limits.total_input_tokens:
        last = StopReason.TOKEN_BUDGET
    left = x.limits.total_input_tokens - spent
    line = model_feedback.progress_line(x.turn, x.limits.turns, left, x.kind, last=last is not None)
    text = f"{words}\n\n{line}".strip()
    message = ChatMessage(role=MessageRole.USER, text=text, seams=seams)
    return x.replace(messages=(*x.messages, message), last=last)


def _heard(x: Conversation, text: str, usage: Usage) -> Conversation:
    message = ChatMessage(role=MessageRole.ASSISTANT, text=text)
    return x.replace(messages=(*x.messages, message), usage=x.usage + usage)


def _stopped(
    x: Conversation, reason: StopReason, message: str, trouble: ModelTrouble | None = None
) -> Conversation:
    return x.replace(
        stop=Stop(reason=reason, message=message, trouble=trouble),
        wanted=(),
        known=(),
        candidate=None,
        to_try=None,
    )


def _missing(item: CapabilityRequest) -> CapabilityResult:
    return result_of(item, ResultStatus.TOOL_ERROR, "This was not looked up.")


def _kept(item: CapabilityResult, limits: WorkLimits) -> CapabilityResult:
    """Return the result, cut to the maximum size, whatever the provider returned."""
    most = max(limits.result_chars, limits.file_chars)
    if len(item.content) <= most:
        return item
    note = f"cut at {most:,} of {len(item.content):,} characters"
    return item.replace(content=item.content[:most], truncated=True, note=item.note or note)
