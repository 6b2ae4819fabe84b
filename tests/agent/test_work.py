"""A model at work, with everything that can go wrong around it."""

import asyncio
import errno
import json
import threading
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.agent.assignment import (
    AnswerRejected,
    CallLost,
    ModelAnswered,
    ModelAsked,
    RequestStarted,
    StopReason,
    WorkLimits,
)
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult
from forge_bot.agent.edits import plan_edits
from forge_bot.agent.journal import Journal
from forge_bot.agent.model_answers import AnswerKind, Document, Edit, Work
from forge_bot.agent.models.base import (
    ChatMessage,
    MessageRole,
    ModelCall,
    ModelReply,
    PossiblyCharged,
)
from forge_bot.errors import (
    ContextTooLong,
    DiskFull,
    KeyRefused,
    ModelUnavailable,
    QuestionRejected,
    RecordExhausted,
)
from forge_bot.values import Usage
from tests.agent.scene import Library, Room, Speaker, assignment, document, explore, priced, seen

LOOK = explore(("look", {"at": 1}), ("read_file", {"path": "a.py"}))


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "journal.jsonl")


def paid(text: str, cost: str) -> ModelReply:
    return ModelReply(text=text, usage=Usage(input_tokens=10, cost=Decimal(cost)))


async def test_a_model_looks_around_and_answers(room: Room) -> None:
    model = Speaker([LOOK, document("# Report\n")])
    done = await room.work(model)
    assert done.stop is StopReason.ANSWERED
    assert done.answer == Document(artifact_markdown="# Report\n")
    assert (done.turns, done.usage.calls, done.usage.input_tokens) == (2, 2, 200)
    assert 'seen {"path": "a.py"}' in model.calls[1].messages[-1].text
    assert [type(notice) for notice in room.notices] == [
        ModelAsked,
        ModelAnswered,
        RequestStarted,
        RequestStarted,
        ModelAsked,
        ModelAnswered,
    ]


async def test_the_keys_of_questions_name_task_round_turn_and_try(room: Room) -> None:
    model = Speaker([LOOK, "no json", document()])
    await room.work(model, assignment(task="T2", kind=AnswerKind.DOCUMENT))
    assert [str(call.key) for call in model.calls] == [
        "analyst phase-1 T2/1.1 document",
        "analyst phase-1 T2/1.2 document",
        "analyst phase-1 T2/1.2~2 document",
    ]


async def test_a_complaint_goes_back_to_the_model_and_is_shown(room: Room) -> None:
    model = Speaker([document("# Thin\n"), document("# Thick\n")])

    def check(answer: Work) -> Sequence[str]:
        return () if "Thick" in answer.artifact_markdown else ("It is thin.",)

    done = await room.work(model, check=check)
    assert done.answer == Document(artifact_markdown="# Thick\n")
    assert "- It is thin." in model.calls[1].messages[-1].text
    assert AnswerRejected(text="It is thin.") in room.notices


async def test_what_never_passes_its_check_is_kept_for_a_person(room: Room) -> None:
    done = await room.work(Speaker([document("# Thin\n")]), check=lambda _: ("It is thin.",))
    assert (done.stop, done.answer) == (StopReason.MODEL_MALFORMED, None)
    assert done.rejected == Document(artifact_markdown="# Thin\n")
    assert done.complaints == ("It is thin.",)
    assert "It is thin." in done.message


@pytest.mark.parametrize("data", ["a\n".encode("utf-16"), b"\x81\xfea\n", b"\x00a"])
async def test_a_file_that_cannot_be_edited_is_told_to_a_person_after_the_second_edit(
    room: Room, data: bytes
) -> None:
    model = Speaker([document("# One\n"), document("# Two\n"), document("# Three\n")])
    edit = Edit(path="a.txt", operation="replace", old="a", new="b")
    done = await room.work(model, check=lambda _: plan_edits(lambda _: data, [edit]).problems)
    assert (done.stop, len(model.calls)) == (StopReason.MODEL_MALFORMED, 2)
    assert "which cannot be edited. Leave the file to a person" in done.message
    assert done.rejected == Document(artifact_markdown="# Two\n")


async def test_one_capability_that_breaks_stops_neither_its_siblings_nor_the_work(
    room: Room,
) -> None:
    def look(wanted: CapabilityRequest) -> CapabilityResult:
        if wanted.capability == "look":
            raise ZeroDivisionError("boom")
        return seen(wanted, "fine")

    room.library = Library(look)
    model = Speaker([LOOK, document()])
    assert (await room.work(model)).stop is StopReason.ANSWERED
    told = model.calls[1].messages[-1].text
    assert "tool_error" in told
    assert "ZeroDivisionError: boom" in told
    assert "fine" in told


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), DiskFull("No space left on /tmp.")]
)
async def test_a_full_disk_is_no_answer_to_a_request(room: Room, error: Exception) -> None:
    def full(_: CapabilityRequest) -> CapabilityResult:
        raise error

    room.library = Library(full)
    with pytest.raises(type(error), match="No space left"):
        await room.work(Speaker([LOOK, document()]))
    room.library = Library()
    model = Speaker([document()])
    assert (await room.work(model)).stop is StopReason.ANSWERED
    told = model.calls[0].messages[-1].text
    assert "seen" in told
    assert "No space left" not in told


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelUnavailable("Rate limit."), StopReason.MODEL_UNAVAILABLE),
        (QuestionRejected("Bad schema."), StopReason.MODEL_UNAVAILABLE),
        (ContextTooLong("Too long."), StopReason.CONTEXT_WINDOW),
    ],
)
async def test_a_provider_that_fails_is_a_stop_reason_and_costs_nothing(
    room: Room, error: Exception, reason: StopReason
) -> None:
    room.ledger = priced("1.00", "0.30")
    done = await room.work(Speaker([paid(LOOK, "0.01"), error]))
    assert (done.stop, done.message) == (reason, str(error))
    assert done.usage.cost == room.ledger.budget.committed == Decimal("0.01")


async def test_a_question_whose_answer_was_lost_may_be_billed_and_is_not_spent(room: Room) -> None:
    room.ledger = priced("1.00", "0.30")
    done = await room.work(Speaker([PossiblyCharged("No answer.")]))
    assert done.stop is StopReason.MODEL_UNAVAILABLE
    assert (done.usage.unanswered, done.usage.may_be_billed) == (1, Decimal("0.30"))
    assert CallLost(usage=Usage(unanswered=1, may_be_billed=Decimal("0.30"))) in room.notices
    assert done.usage.cost == room.ledger.budget.spent == 0
    assert room.ledger.budget.committed == Decimal("0.30")
    assert Journal(room.path, {}).take_lost("a1@#") == (Decimal("0.30"),)


@pytest.mark.parametrize("error", [KeyRefused("No."), RecordExhausted("Nothing for it.")])
async def test_what_no_model_can_mend_is_raised_and_leaves_no_reservation(
    room: Room, error: Exception
) -> None:
    room.ledger = priced("1.00", "0.30")
    with pytest.raises(type(error)):
        await room.work(Speaker([error]))
    assert room.ledger.budget.committed == 0
    assert Journal(room.path, {}).take_lost("a1@#") == ()


async def test_a_model_that_does_not_answer_in_time_is_left(room: Room) -> None:
    class Silent(Speaker):
        async def ask(self, call: ModelCall) -> ModelReply:
            await asyncio.Event().wait()
            raise AssertionError

    room.ledger = priced("1.00", "0.30")
    done = await room.work(Silent([]), assignment(limits=WorkLimits(seconds=0.05)))
    assert done.stop is StopReason.DEADLINE
    assert (done.usage.cost, done.usage.may_be_billed) == (0, Decimal("0.30"))
    assert room.ledger.budget.reserved == ()


async def resumed(
    room: Room, lines: Sequence[bytes], says: Sequence[str]
) -> tuple[object, list[str], list[str]]:
    """The end of work that goes on from these journal lines, and what was asked and looked up
    again.
    """
    room.path.write_bytes(b"".join(lines))
    by_turn = {f"1.{turn}": text for turn, text in enumerate(says, 1)}

    class ByKey(Speaker):
        async def ask(self, call: ModelCall) -> ModelReply:
            self.calls.append(call)
            return ModelReply(
                text=by_turn[call.key.round], usage=Usage(input_tokens=100, output_tokens=10)
            )

    model, room.library = ByKey([]), Library()
    done = await room.work(model)
    said = (
        [message.text for message in model.calls[-1].messages if message.role is MessageRole.USER]
        if model.calls
        else []
    )
    assert len(said) == len(set(said))
    return (
        (done.stop, done.answer, done.usage),
        [call.key.round for call in model.calls],
        room.library.asked,
    )


async def test_work_killed_after_any_line_of_its_journal_ends_the_same_and_repeats_nothing(
    room: Room,
) -> None:
    says = [LOOK, explore(("look", {"at": 2})), explore(), document("# Report\n")]
    whole, asked, looked = await resumed(room, [], says)
    assert (asked, len(looked)) == (["1.1", "1.2", "1.3", "1.4"], 3)
    lines = room.path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4 * 2 + 3
    for count in range(len(lines) + 1):
        kept = [json.loads(line) for line in lines[:count]]
        answered = [
            line["key"].removeprefix("a1@#") for line in kept if line["entry"] == "finished"
        ]
        found = [line["observation"]["key"] for line in kept if line["entry"] == "observed"]
        end, asked_again, looked_again = await resumed(room, lines[:count], says)
        assert end == whole
        assert asked_again == [f"1.{turn}" for turn in range(len(answered) + 1, 5)]
        assert not set(looked_again) & set(found)
        assert len(looked_again) + len(found) == 3


async def test_work_that_begins_from_something_else_is_asked_anew_and_what_was_paid_counts(
    room: Room,
) -> None:
    await room.work(Speaker([LOOK, document("# Old\n")]))
    model, room.library = Speaker([LOOK, document("# New\n")]), Library()
    given = assignment().model_copy(update={"began": "an edited design"})
    done = await room.work(model, given)
    assert done.answer == Document(artifact_markdown="# New\n")
    assert (len(model.calls), len(room.library.asked)) == (2, 2)
    assert done.usage.calls == 4


async def test_a_conversation_goes_on_with_the_messages_that_were_sent_and_makes_no_prompt_again(
    room: Room,
) -> None:
    first = Speaker([LOOK, ModelUnavailable("down")])
    await room.work(first)

    async def another() -> tuple[ChatMessage, ...]:
        raise AssertionError("the transcript has the prompt")

    second = Speaker([document("# Report\n")])
    done = await room.work(second, first=another)
    assert done.answer == Document(artifact_markdown="# Report\n")
    assert [call.messages for call in second.calls] == [first.calls[1].messages]


async def test_a_question_without_an_answer_is_asked_again_in_the_words_of_now(room: Room) -> None:
    await room.work(Speaker([ModelUnavailable("down")]))

    async def another() -> tuple[ChatMessage, ...]:
        return (ChatMessage(role=MessageRole.USER, text="Analyse that."),)

    model = Speaker([document()])
    await room.work(model, first=another)
    assert model.calls[0].messages[0].text.startswith("Analyse that.")


async def test_tasks_side_by_side_share_one_cap_and_one_journal(room: Room) -> None:
    room.ledger = priced("1.00", "0.40")
    models = {
        f"T{number}": Speaker([paid(LOOK, "0.05"), paid(document(), "0.05")]) for number in range(4)
    }
    done = await asyncio.gather(
        *(room.work(model, assignment(task=task)) for task, model in models.items())
    )
    assert [item.stop for item in done] == [StopReason.ANSWERED] * 4
    assert (room.ledger.budget.spent, room.ledger.budget.reserved) == (Decimal("0.40"), ())


# -- deadlines, and what is journalled before it happens


RUN = explore(("look", {"at": 1}))


@pytest.mark.parametrize("running", [(), ("look",)], ids=["reading", "running"])
async def test_a_request_that_never_comes_back_ends_at_its_deadline(
    room: Room, running: tuple[str, ...]
) -> None:
    release = threading.Event()

    def look(wanted: CapabilityRequest) -> CapabilityResult:
        release.wait(60)
        return seen(wanted, "too late")

    room.library = Library(look)
    model = Speaker([RUN, document()])
    given = assignment(limits=WorkLimits(lookup_seconds=0.05, command_seconds=0.05)).model_copy(
        update={"running": running}
    )
    try:
        done = await room.work(model, given)
    finally:
        release.set()
    assert done.stop is StopReason.ANSWERED
    told = model.calls[1].messages[-1].text
    assert "timeout" in told
    assert "too late" not in told
    again = Speaker([document()])
    await room.work(again, given)
    assert again.calls == [], "the journal has both answers, and the deadline with them"


async def test_only_requests_that_read_are_answered_once(room: Room) -> None:
    given = assignment().model_copy(update={"running": ("look",)})
    both = explore(("look", {"at": 1}), ("read_file", {"path": "a.py"}))
    model = Speaker([both, both, document()])
    await room.work(model, given)
    assert [key.split("-")[0] for key in sorted(room.library.asked)] == ["1.1", "1.2", "2.1"]
    assert model.calls[2].messages[-1].text.count("skipped_duplicate") == 1
