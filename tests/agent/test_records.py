"""Scripts and records: models that answer from a file."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.agent.model_answers import AnswerKind
from forge_bot.agent.models.base import (
    ChatMessage,
    FinishReason,
    MessageRole,
    ModelCall,
    ModelReply,
    ReplayKey,
)
from forge_bot.agent.models.open_model import Recorder, Replayed, open_model, open_tiers
from forge_bot.errors import BadRecord, ModelUnavailable, RecordExhausted
from forge_bot.values import Tier, Usage
from tests.agent.scene import Speaker, document, explore


def call(
    round_text: str = "1.1",
    *,
    agent: str = "analyst",
    text: str = "Why?",
    kind: AnswerKind = AnswerKind.DOCUMENT,
) -> ModelCall:
    return ModelCall(
        key=ReplayKey(agent, "phase-1", round_text, kind.value),
        messages=(ChatMessage(role=MessageRole.USER, text=text),),
        kind=kind,
        output_tokens=100,
        tier=Tier.STANDARD,
    )


def scripted(path: Path) -> Replayed:
    return Replayed(f"scripted:{path}")


def script(tmp_path: Path, text: str, name: str = "demo.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


async def test_a_script_answers_by_key_and_may_write_answers_as_data(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        - {agent: analyst, phase: phase-1, round: "1.1", schema: document, answer: {requests: [], actions: []}}
        - agent: analyst
          round: "1.2"
          answer:
            artifact_markdown: |
              # Analyse ✓
        - answer: "for everybody else"
        """,
    )
    model = open_model(f"scripted:{path}")
    assert model.name == f"scripted:{path}"
    assert json.loads((await model.ask(call("1.1"))).text) == {"requests": [], "actions": []}
    assert json.loads((await model.ask(call("1.2"))).text) == {"artifact_markdown": "# Analyse ✓\n"}
    assert (await model.ask(call("1.2", agent="architect"))).text == "for everybody else"


async def test_the_exchange_that_names_most_of_the_key_answers_and_among_equals_the_last(
    tmp_path: Path,
) -> None:
    path = script(
        tmp_path,
        """
        - {agent: analyst, round: "1.1", answer: both}
        - {agent: analyst, answer: agent}
        - {round: "1.1", answer: round}
        - {agent: analyst, answer: later}
        """,
    )
    model = scripted(path)
    assert [(await model.ask(call(text))).text for text in ("1.1", "1.2")] == ["both", "later"]


async def test_a_script_can_refuse_be_cut_off_and_be_unavailable(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        - {round: "1.1", answer: no, finish: refusal}
        - {round: "1.2", answer: "half", finish: length}
        - {round: "1.3", unavailable: The provider is down.}
        """.replace("answer: no,", 'answer: "no",'),
    )
    model = scripted(path)
    assert (await model.ask(call("1.1"))).finish is FinishReason.REFUSAL
    assert (await model.ask(call("1.2"))).finish is FinishReason.LENGTH
    with pytest.raises(ModelUnavailable, match="The provider is down"):
        await model.ask(call("1.3"))


async def test_a_question_without_an_answer_names_its_key_and_what_there_is(tmp_path: Path) -> None:
    model = scripted(script(tmp_path, '- {agent: architect, round: "1.1", answer: x}'))
    with pytest.raises(
        RecordExhausted, match=r"no answer for analyst phase-1 1\.1 document"
    ) as caught:
        await model.ask(call())
    assert caught.value.details == ("It has 1 answers, such as:", "architect * 1.1 *")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "answer: x", "valid tuple"),
        ("a.yaml", "- [", "cannot be read"),
        ("a.yaml", "- {answer: x}\n- {anwser: x}", "entry 2: anwser: Extra inputs"),
        ("a.jsonl", '{"answer": "x"}\n{"answer": 7}\n', "entry 2: answer"),
        ("a.jsonl", '{"answer": "x"}\n{"answ', "cannot be read"),
    ],
)
def test_a_file_that_is_no_record_is_refused_with_the_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(BadRecord, match=said):
        scripted(script(tmp_path, text, name))


async def test_what_is_recorded_replays_for_nothing(tmp_path: Path) -> None:
    usage = Usage(calls=1, input_tokens=70, output_tokens=9, cost=Decimal("0.02"), model="m-1")
    said = [
        ModelReply(text=explore(), usage=usage),
        ModelReply(text=document("# ✓\n"), usage=usage, finish=FinishReason.LENGTH),
    ]
    recorder = Recorder(Speaker(said, name="a:b"), tmp_path / "deep" / "run.jsonl")
    assert recorder.name == "a:b"
    live = [await recorder.ask(call("1.1")), await recorder.ask(call("1.2"))]
    assert live == said
    replayer = Replayed(f"replay:{tmp_path}/deep/run.jsonl")
    again = [await replayer.ask(call("1.1")), await replayer.ask(call("1.2"))]
    free = usage.model_copy(update={"cost": Decimal(0)})
    assert again == [reply.model_copy(update={"usage": free}) for reply in said]


async def test_a_call_that_failed_is_not_recorded(tmp_path: Path) -> None:
    recorder = Recorder(
        Speaker([ModelUnavailable("down"), document()], name="a:b"), tmp_path / "run.jsonl"
    )
    with pytest.raises(ModelUnavailable):
        await recorder.ask(call())
    await recorder.ask(call())
    assert len((tmp_path / "run.jsonl").read_text().splitlines()) == 1


def test_tiers_with_one_name_share_one_model(tmp_path: Path) -> None:
    one = f"scripted:{script(tmp_path, '- {answer: x}')}"
    two = f"scripted:{script(tmp_path, '- {answer: y}', 'other.yaml')}"
    models = open_tiers({Tier.FAST: one, Tier.STANDARD: two, Tier.STRONG: two})
    assert models[Tier.STANDARD] is models[Tier.STRONG]
    assert models[Tier.FAST].name == one
