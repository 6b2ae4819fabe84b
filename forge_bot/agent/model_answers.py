"""Parse a model's answer: requests to look around, or the finished work.

Models write answers in several forms; only this module knows them.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

JsonObject = dict[str, Any]


class AnswerKind(StrEnum):
    """The kind of finished work that a phase wants."""

    DOCUMENT = "document"
    CHANGE = "change"


class ProviderAnswer(BaseModel):
    """A part of an answer. Docstrings and descriptions of these classes are read by the model.

    No defaults, no dicts, no discriminators: each of them makes a provider drop its strict mode
    without a word.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class ContextRequest(ProviderAnswer):
    """Ask to be shown something of the repository."""

    provider: str = Field(description="name of a capability from the list")
    params_json: str = Field(
        description=(
            'its parameters as the text of one JSON object, for example {"path": "src/app.py"}'
        )
    )
    reasoning: str = Field(description="what you want to learn from it, in a few words")


class ActionRequest(ProviderAnswer):
    """Ask for a tool or a skill to be run for you."""

    capability: str = Field(description="name of a capability from the list")
    capability_type: Literal["provider", "mcp_tool", "skill"]
    params_json: str = Field(description="its parameters as the text of one JSON object")
    reasoning: str = Field(description="what you want to learn from it, in a few words")


class Explore(ProviderAnswer):
    """Look around before you answer: the results come with the next message. Two empty lists mean:
    ready to answer.
    """

    requests: tuple[ContextRequest, ...] = Field(description="may be empty")
    actions: tuple[ActionRequest, ...] = Field(description="may be empty")


class Document(ProviderAnswer):
    """The finished document."""

    artifact_markdown: str = Field(
        description="the whole document in Markdown, from its first heading to its last line"
    )


class Edit(ProviderAnswer):
    """One edit of one file."""

    path: str = Field(description="path from the root of the repository, with forward slashes")
    operation: Literal["replace", "insert_before", "insert_after", "write", "delete"] = Field(
        description=(
            "replace one passage of an existing file; insert lines before or after lines that stay,"
            " which need not be repeated; write a whole file, a new one or one that you have seen"
            " in full; delete a file"
        )
    )
    old: str = Field(
        description=(
            "replace, insert: the passage letter by letter as it stands in the file now,"
            " indentation included and line numbers left out, just long enough to occur only once,"
            " and only of a file whose present text you have seen; otherwise empty"
        )
    )
    new: str = Field(
        description=(
            "replace: what stands there instead; insert: the new lines alone, with the blank lines"
            " around them; write: the whole file; delete: empty"
        )
    )


class Change(ProviderAnswer):
    """The finished change: edits, applied in order, and the report about them."""

    artifact_markdown: str = Field(description="the report in Markdown")
    edits: tuple[Edit, ...] = Field(description="empty only if nothing has to change")


Work = Document | Change
Answer = Explore | Document | Change


class _Looking(ProviderAnswer):
    kind: Literal["Explore"]
    data: Explore


class _Written(ProviderAnswer):
    kind: Literal["Document"]
    data: Document


class _Changed(ProviderAnswer):
    kind: Literal["Change"]
    data: Change


class _Turn(ProviderAnswer):
    result: _Looking | _Written | _Changed


class Malformed(Exception):
    """The text is not an answer. The message tells the model what to do instead."""


def answer_schema() -> JsonObject:
    """Return the JSON schema of one answer, in the form that providers can enforce.

    It is the same for all agents, since a provider counts it as the beginning of each prompt.
    """
    return _Turn.model_json_schema()


ANSWER_FORMS = """\
Answer with one JSON object of one of these forms, and nothing around it:

{"result": {"kind": "Explore", "data": {"requests": [{"provider": "search_code", "params_json": \
"{\\"pattern\\": \\"save_upload\\"}", "reasoning": "Who calls it?"}], "actions": []}}}
{"result": {"kind": "Document", "data": {"artifact_markdown": "# Title\\n\\n…"}}}
{"result": {"kind": "Change", "data": {"artifact_markdown": "# Title\\n\\n…", "edits": [{"path": \
"app/errors.py", "operation": "insert_after", "old": "    Timeout: 504,\\n", "new": "    \
BodyTooLarge: 413,\\n"}]}}}

`params_json` is a JSON object, written as a string. An action has `capability`, \
`capability_type`, `params_json` and `reasoning`. An edit's `operation` is `replace`: `old`, \
copied letter by letter and just long enough to stand once in the file, becomes `new`; \
`insert_before` or `insert_after`: `new` holds the new lines alone, and the lines of `old` stay; \
`write`: `new` is the whole file, `old` is empty; or `delete`: both are empty. Edits apply in \
their order."""
"""The forms of an answer in words, for models that are not shown the schema."""


def parse_answer(text: str, kind: AnswerKind) -> Answer:
    """Parse the answer in `text`.

    The forms are `{"result": {"kind": …, "data": …}}` or the bare object, alone, fenced, or between
    prose. Documents are returned without control characters, edits unchanged. Raises Malformed with
    a sentence for the model.
    """
    name, body = _named(_only_object(text))
    final = Change if kind is AnswerKind.CHANGE else Document
    wanted: dict[str, type[Answer]] = {"Explore": Explore, final.__name__: final}
    if name not in wanted:
        raise Malformed(
            f"An answer here is either Explore or {final.__name__}, but this is {name}."
        )
    try:
        return wanted[name].model_validate(_repaired(body))
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part) for part in item['loc']) or name}: {item['msg']}"
            for item in error.errors()[:5]
        ]
        raise Malformed(f"This {name} does not fit its schema: {'; '.join(faults)}.") from error


_FENCED = re.compile(r"\A```[a-zA-Z]*[ \t]*\r?\n(.*)\n[ \t]*```\Z", re.DOTALL)
_MARKS = frozenset({"result", "requests", "actions", "artifact_markdown", "kind"})
_BRACES_TRIED = 200
_BRACES_MISSING = 3
_QUOTED = 60
# Terminal control has no meaning in a document: whole escape sequences (ECMA-48 CSI and OSC), and
# other control characters.
_UNPRINTED = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"
)


def _only_object(text: str) -> JsonObject:
    stripped = text.strip().removeprefix("\ufeff")
    fenced = _FENCED.match(stripped)
    for candidate in (stripped, fenced.group(1) if fenced else ""):
        try:
            whole = _DECODER.decode(candidate)
            if isinstance(whole, str):  # encoded twice
                whole = _DECODER.decode(whole)
        except (ValueError, RecursionError):
            continue
        if isinstance(whole, dict):
            return _storable(cast("JsonObject", whole))
        raise Malformed("The answer is JSON, but not one object with named fields.")
    amid = [*_objects_amid(stripped)] or [*_closed(stripped)]
    if len(amid) == 1:
        return _storable(amid[0])
    contents = f"{len(amid)} JSON objects" if amid else "no readable JSON object"
    reason = "" if amid else _unreadable(text)
    raise Malformed(
        f"The answer contains {contents}{reason}. Answer with exactly one JSON object and nothing"
        " around it."
    )


def _unreadable(text: str) -> str:
    """Return the place where an answer stops being JSON, and the reason; empty for an answer
    without an object.
    """
    start = text.find("{")
    if start < 0:
        return ""
    try:
        _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        reason = f"{error.msg[:1].lower()}{error.msg[1:]}"
        where = f"line {error.lineno}, column {error.colno}: {reason}"
        before = text[max(0, error.pos - _QUOTED) : error.pos]
        rest = text[error.pos :].rstrip("` \r\n")
        ended = "; the answer ends there" if not rest or "Unterminated" in error.msg else ""
        return f": {where}, after `{' '.join(before.split())}`{ended}"
    except RecursionError:
        return ": it is nested too deeply"
    return ": it has none of the fields of an answer"


# Line breaks inside strings are allowed: small models write them raw, and no other meaning is
# possible.
_DECODER = json.JSONDecoder(strict=False)


def _objects_amid(text: str) -> Iterator[JsonObject]:
    """Yield answers between prose. Objects without any field of an answer are examples."""
    start = text.find("{")
    for _ in range(_BRACES_TRIED):
        if start < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict) and _MARKS & cast("JsonObject", value).keys():
                yield cast("JsonObject", value)
        start = text.find("{", end)


def _closed(text: str) -> Iterator[JsonObject]:
    """Yield the answer whose last braces are missing: it has lost nothing by that."""
    rest = text[max(text.find("{"), 0) :].removesuffix("```").rstrip()
    for missing in range(1, _BRACES_MISSING + 1):
        with suppress(ValueError, RecursionError):
            value = _DECODER.decode(rest + "}" * missing)
            if isinstance(value, dict):
                yield cast("JsonObject", value)


def _storable(data: JsonObject) -> JsonObject:
    """Return the data if every string can be written to a file.

    JSON can contain lone surrogates, which UTF-8 cannot encode.
    """
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Malformed(
            "A string of the answer holds half of a surrogate pair; write the character itself."
        ) from error
    return data


def _named(data: JsonObject) -> tuple[str, JsonObject]:
    inner = data.get("result")
    if len(data) == 1 and isinstance(inner, dict):
        data = cast("JsonObject", inner)
    body = data.get("data")
    if data.keys() == {"kind", "data"} and isinstance(body, dict):
        return str(data["kind"]), cast("JsonObject", body)
    if "artifact_markdown" in data:
        return ("Change" if "edits" in data else "Document"), data
    if "requests" in data or "actions" in data:
        return "Explore", data
    raise Malformed(f"The JSON object has the fields {sorted(data)}, which are those of no answer.")


def _repaired(body: JsonObject) -> JsonObject:
    """Repair an answer if only one meaning is possible: missing lists become empty, parameters
    given as an object become JSON text.
    """
    if isinstance(text := body.get("artifact_markdown"), str):
        body = {**body, "artifact_markdown": _UNPRINTED.sub("", text)}
    if "artifact_markdown" in body:
        return (
            {**body, "edits": [_full_edit(item) for item in _list(body["edits"])]}
            if "edits" in body
            else body
        )
    whole: JsonObject = {"requests": [], "actions": [], **body}
    return {
        **whole,
        **{
            name: [_full_request(item) for item in _list(whole[name])]
            for name in ("requests", "actions")
        },
    }


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _full_edit(item: object) -> object:
    return {"old": "", "new": "", **cast("JsonObject", item)} if isinstance(item, dict) else item


def _full_request(item: object) -> object:
    if not isinstance(item, dict):
        return item
    given: JsonObject = {"reasoning": "", **cast("JsonObject", item)}
    params = given.pop("params", None) if "params_json" not in given else given["params_json"]
    return {**given, "params_json": params if isinstance(params, str) else json.dumps(params or {})}
