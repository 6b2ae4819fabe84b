"""Answers are read in one form, whatever stands around it, and sent back with a reason in others."""

import json
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.agent.model_answers import (
    AnswerKind,
    Change,
    Document,
    Explore,
    Malformed,
    answer_schema,
    parse_answer,
)

DOC = {"artifact_markdown": "# Done\n"}
CHANGE = {
    "artifact_markdown": "# Done\n",
    "edits": [{"path": "a.py", "operation": "write", "old": "", "new": "x = 1\n"}],
}
LOOK = {
    "requests": [{"provider": "read_file", "params_json": '{"path": "a.py"}', "reasoning": "see"}],
    "actions": [],
}


def native(kind: str, data: object) -> str:
    return json.dumps({"result": {"kind": kind, "data": data}})


@pytest.mark.parametrize(
    "text",
    [
        native("Document", DOC),
        json.dumps(DOC),
        json.dumps({"kind": "Document", "data": DOC}),
        f"```json\n{json.dumps(DOC, indent=2)}\n```",
        f"\n  ```\r\n{json.dumps(DOC)}\n```  \n",
        f"Here it is, as asked:\n\n{json.dumps(DOC)}\n\nI hope it helps.",
        f"Here it is:\n```json\n{json.dumps(DOC)}\n```\nDone.",
        '{"artifact_markdown": "# Done\n"}',
        json.dumps(json.dumps(DOC)),
        f"Here:\n{json.dumps(DOC)[:-1]},\n}}",
        f"\n{json.dumps(native('Document', DOC))}\n",
    ],
    ids=[
        "native",
        "bare",
        "half wrapped",
        "fenced",
        "fenced with CRLF",
        "in prose",
        "fenced in prose",
        "raw line break",
        "string of JSON",
        "trailing comma",
        "string of JSON between line breaks",
    ],
)
def test_a_document_is_read_in_every_form_models_write_it(text: str) -> None:
    assert parse_answer(text, AnswerKind.DOCUMENT) == Document(artifact_markdown="# Done\n")


def test_a_comma_after_the_last_member_is_left_out_and_none_of_a_string() -> None:
    new = json.dumps('f(a, ]) # ",}')
    text = json.dumps(CHANGE).replace(json.dumps("x = 1\n"), new).replace("]}", ",],}")
    answer = parse_answer(text, AnswerKind.CHANGE)
    assert isinstance(answer, Change)
    assert answer.edits[0].new == json.loads(new)


@pytest.mark.parametrize(
    "text", [native("Explore", LOOK), json.dumps(LOOK), json.dumps({"requests": LOOK["requests"]})]
)
@pytest.mark.parametrize("kind", list(AnswerKind))
def test_an_explore_is_an_answer_in_every_phase_and_may_leave_a_list_out(
    text: str, kind: AnswerKind
) -> None:
    answer = parse_answer(text, kind)
    assert isinstance(answer, Explore)
    assert [item.provider for item in answer.requests] == ["read_file"]
    assert answer.actions == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I cannot see the file.", "no readable JSON object"),
        ("", "no readable JSON object"),
        ('["a"]', "there is none"),
        (f"{json.dumps(DOC)}\n{json.dumps(DOC)}", "Extra data: line 2 column 1"),
        (native("Change", CHANGE), "An answer here is Explore or Document, but this is Change"),
        (native("Shrug", DOC), "but this is Shrug"),
        ('{"answer": "yes"}', "the fields ['answer']"),
        (
            native("Document", {"artifact_markdown": 7}),
            "artifact_markdown: Input should be a valid string",
        ),
        (native("Document", {**DOC, "mood": "good"}), "mood: Extra inputs are not permitted"),
        (native("Explore", {"requests": ["read_file"], "actions": []}), "requests.0"),
        ('{"artifact_markdown": "half \\ud83d"}', "surrogate"),
        (native("Document", DOC)[:-8], "no readable JSON object"),
        ("[" * 100_000, "no readable JSON object"),
        ('{"a":' * 50_000, "no readable JSON object"),
    ],
)
def test_what_is_no_answer_goes_back_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(Malformed, match=said.replace("[", r"\[")):
        parse_answer(text, AnswerKind.DOCUMENT)


def test_an_answer_cut_off_in_its_edits_is_not_taken_for_a_smaller_one() -> None:
    whole = native("Change", {**CHANGE, "edits": CHANGE["edits"] * 3})
    for length in range(len(whole)):
        with pytest.raises(Malformed):
            parse_answer(whole[:length], AnswerKind.CHANGE)


@given(st.text(max_size=200))
def test_any_text_is_an_answer_or_malformed_and_nothing_else(text: str) -> None:
    for kind in AnswerKind:
        with suppress(Malformed):
            assert isinstance(parse_answer(text, kind), Explore | Document | Change)


def test_the_schema_has_nothing_that_makes_a_provider_drop_its_strict_mode() -> None:
    schema = answer_schema()
    assert schema["type"] == "object"

    def walk(node: object) -> None:
        if isinstance(node, dict):
            fields = cast("dict[str, Any]", node)
            assert not fields.keys() & {"default", "oneOf", "discriminator", "patternProperties"}
            if fields.get("type") == "object":
                assert fields["additionalProperties"] is False
                assert sorted(fields["required"]) == sorted(fields["properties"])
            for value in fields.values():
                walk(value)
        elif isinstance(node, list):
            for value in cast("list[object]", node):
                walk(value)

    walk(schema)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(CHANGE)[:-1] + ":}", "line 1 column"),
        (f"It is:\n{json.dumps(CHANGE)[:-1]}:}}", "line 2 column"),
        (json.dumps(CHANGE)[:-2], "Expecting ',' delimiter: line 1 column"),
        (json.dumps({"artifact_markdown": '"' * 100_000})[:-2], "Unterminated string"),
        ('{"artifact_markdown": "# Do', "Unterminated string starting at: line 1 column 23"),
        (json.dumps(CHANGE, indent=1).replace('"edits"', "edits"), "line 3 column 2"),
        ('{"artifact_markdown": "a "quoted" word"}', "Expecting ',' delimiter: line 1 column 27"),
        ("{'artifact_markdown': 'x'}", "Expecting property name"),
    ],
)
def test_an_answer_that_is_no_json_goes_back_with_the_place_and_the_reason(
    text: str, said: str
) -> None:
    with pytest.raises(Malformed, match="no readable JSON object") as caught:
        parse_answer(text, AnswerKind.CHANGE)
    assert said in str(caught.value)
