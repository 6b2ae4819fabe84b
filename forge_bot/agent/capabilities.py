"""The capabilities that a model may ask for: the entry of a capability in the catalogue, rendered
from the model of its parameters; the request for it, and its result, the same types for every
capability.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, Field

from forge_bot.text_format import cut
from forge_bot.values import Frozen, Usage

READ_FILE = "read_file"
_LEAST_KNOWN = 8
"""Lines of a file that are left out where a message before has them."""


class CapabilityType(StrEnum):
    """The kind of a capability."""

    PROVIDER = "provider"
    MCP_TOOL = "mcp_tool"
    SKILL = "skill"


class ResultStatus(StrEnum):
    """The status of a result."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    TIMEOUT = "timeout"
    INVALID_PARAMS = "invalid_params"
    UNKNOWN_CAPABILITY = "unknown_capability"
    DENIED = "denied"
    SKIPPED_DUPLICATE = "skipped_duplicate"
    STANDS = "stands"
    """It may change something: it is done outside of the conversation, if at all."""


class Effect(StrEnum):
    """The effect of a request besides its result."""

    READS = "reads"
    """Nothing: within one conversation the same request is fulfilled once."""
    RUNS = "runs"
    """It runs commands: each request counts, and it is journalled before it begins."""
    ACTS = "acts"
    """It may change something outside: never within a conversation, and at most once in a run."""


class CapabilityRequest(Frozen):
    """One request of the model, with the key of its result.

    `params` is canonical JSON, so two spellings of the same request are equal. It is the model's
    own text if that is no JSON object.
    """

    key: str
    capability: str
    params: str
    reasoning: str = ""


class CapabilityResult(Frozen):
    """The result of one request. `note` is for its heading: line ranges, and what was left out."""

    key: str
    capability: str
    params: str
    status: ResultStatus
    content: str
    note: str = ""
    usage: Usage = Field(default=Usage(), description="of models that were asked for it")
    seconds: float = 0.0


def without_known_lines(item: CapabilityResult, known: str) -> CapabilityResult:
    """Return a part of a file without the longer runs of lines that `known` has, the messages
    before: a mark with their numbers stands for each.
    """
    if item.capability != READ_FILE or item.status is not ResultStatus.OK:
        return item
    first = int(json.loads(item.params).get("start") or 1)
    lines, shown, at = item.content.split("\n"), list[str](), 0

    def stands(end: int) -> bool:
        return "\n".join(("", *lines[at:end], "")) in known

    while at < len(lines):
        end = at + _LEAST_KNOWN
        if end > len(lines) or not stands(end):
            shown.append(lines[at])
            at += 1
            continue
        while end < len(lines) and stands(end + 1):
            end += 1
        shown.append(f"[… lines {first + at}-{first + end - 1} stand above …]")
        at = end
    return item.replace(content="\n".join(shown))


def canonical(params_json: str) -> str | None:
    """Return the parameters in one spelling, without nulls; None if the text is no JSON object."""
    try:
        value: object = json.loads(params_json or "{}", strict=False)
        # JSON can contain lone surrogates, which are no valid text.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    given = {
        name: item for name, item in cast("dict[str, object]", value).items() if item is not None
    }
    return json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(", ", ": "))


def effect_key(turn: int, index: int, capability: str, params: str) -> str:
    """Return `<turn>.<index>-<hash>`.

    The same request at the same place has the same key in every process.
    """
    digest = hashlib.sha256(f"{capability}\n{params}".encode("utf-8", "replace")).hexdigest()[:10]
    return f"{turn}.{index}-{digest}"


class ProviderResult(Frozen):
    """Text for the model. `note` says in its heading which part of the whole it is."""

    content: str
    note: str = ""
    status: ResultStatus = ResultStatus.OK


class Declined(Exception):
    """Nothing can be shown. The sentence tells the model why.

    `sent` if a call was on its way, so that it may have been made.
    """

    sent = False

    def __init__(self, status: ResultStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def head(text: str, limit: int, note: str = "") -> ProviderResult:
    """Return the beginning of a text, in whole lines if a line fits, and how much is left out."""
    if len(text) <= limit:
        return ProviderResult(content=text, note=note)
    cut = text.rfind("\n", 0, limit) + 1 or limit
    lines = text.count("\n", cut) + (not text.endswith("\n"))
    left = (
        f"cut: {lines:,} more lines"
        if cut < limit or text[cut - 1] == "\n"
        else f"cut at {limit:,} of {len(text):,} characters"
    )
    return ProviderResult(content=text[:cut], note=f"{note}; {left}" if note else left)


def ends(text: str, limit: int) -> ProviderResult:
    """Return the beginning and, three times as long, the end of a text.

    The last lines of a command's output matter most.
    """
    if len(text) <= limit:
        return ProviderResult(content=text)
    first = limit // 4
    left = len(text) - limit
    kept = (
        f"{text[:first]}\n[… {left:,} characters left out …]\n{text[len(text) - (limit - first) :]}"
    )
    return ProviderResult(content=kept, note=f"cut: {left:,} characters from the middle")


def result_of(
    wanted: CapabilityRequest, status: ResultStatus, content: str, note: str = ""
) -> CapabilityResult:
    return CapabilityResult(
        key=wanted.key,
        capability=wanted.capability,
        params=wanted.params,
        status=status,
        content=content,
        note=note,
    )


MOST_PARAMETERS = 40
MOST_SHOWN = 400
"""Characters of a parameter's schema, of its description or of a sample value in a prompt."""

JsonMap = Mapping[str, Any]


class Parameter(Frozen):
    """One parameter, as the model sees it."""

    name: str
    kind: str
    description: str
    required: bool


class CapabilitySpec(Frozen):
    """One capability: a provider, a tool of an MCP server, or a skill."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    effect: Effect = Effect.READS
    kind: CapabilityType = CapabilityType.PROVIDER
    source: str = Field(default="", description="the server or the folder that it comes from")


@cache
def spec(name: str, params: type[BaseModel], effect: Effect = Effect.READS) -> CapabilitySpec:
    """Return the entry for a capability with the parameters `params`.

    The docstring of `params` is the description.
    """
    return CapabilitySpec(
        name=name,
        description=" ".join((params.__doc__ or "").split()),
        parameters=parameters_of(params.model_json_schema()),
        effect=effect,
    )


def parameters_of(schema: JsonMap) -> tuple[Parameter, ...]:
    """Return the parameters, those that are needed first, each with its own schema in short."""
    needed = set(cast("list[str]", schema.get("required") or []))
    fields = cast("dict[str, Any]", schema.get("properties") or {})
    ordered = sorted(fields, key=lambda name: name not in needed)[:MOST_PARAMETERS]
    return tuple(
        _parameter(name, followed(fields[name], schema), required=name in needed)
        for name in ordered
    )


def _parameter(name: str, shape: JsonMap, *, required: bool) -> Parameter:
    words = " ".join(str(shape.get("description") or "").split())
    # Leaving a parameter out means the same as null.
    options = [option for option in shape.get("anyOf") or () if option != {"type": "null"}]
    if len(options) == 1 and isinstance(options[0], dict):
        shape = cast("JsonMap", options[0])
    rest = {key: shape[key] for key in shape if key not in {"title", "description"}}
    plain = rest.get("type") if rest.keys() <= {"type"} else None
    kind = plain if isinstance(plain, str) else json.dumps(rest, ensure_ascii=False)
    return Parameter(
        name=name, kind=cut(kind, MOST_SHOWN), description=cut(words, MOST_SHOWN), required=required
    )


def followed(shape: object, root: JsonMap) -> JsonMap:
    """Return a schema, or the one of this document that it refers to."""
    given: JsonMap = cast("JsonMap", shape) if isinstance(shape, dict) else {}
    target = given.get("$ref")
    if not isinstance(target, str) or not target.startswith("#/"):
        return given
    place: object = root
    for part in target[2:].split("/"):
        place = cast("JsonMap", place).get(part) if isinstance(place, dict) else None
    return cast("JsonMap", place) if isinstance(place, dict) else {}
