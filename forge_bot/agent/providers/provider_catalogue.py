"""The catalogue of capabilities: one entry each, rendered from its parameter model; and the result
of one, or the error for a declined request.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, Field

from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    CapabilityType,
    Effect,
    ResultStatus,
)
from forge_bot.text_format import cut
from forge_bot.values import Frozen


class ProviderResult(Frozen):
    """Text for the model. `note` says in its heading which part of the whole it is."""

    content: str
    note: str = ""
    truncated: bool = False
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
    return ProviderResult(
        content=text[:cut], note=f"{note}; {left}" if note else left, truncated=True
    )


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
    return ProviderResult(
        content=kept, note=f"cut: {left:,} characters from the middle", truncated=True
    )


def result_of(
    wanted: CapabilityRequest,
    status: ResultStatus,
    content: str,
    shown: ProviderResult | None = None,
) -> CapabilityResult:
    return CapabilityResult(
        key=wanted.key,
        capability=wanted.capability,
        params=wanted.params,
        status=status,
        content=content,
        truncated=shown.truncated if shown else False,
        note=shown.note if shown else "",
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
        name=name,
        kind=cut(kind, MOST_SHOWN),
        description=cut(words, MOST_SHOWN),
        required=required,
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
