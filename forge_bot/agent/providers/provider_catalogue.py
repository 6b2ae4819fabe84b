"""The catalogue of capabilities: one entry each, rendered from its parameter model."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, Field

from forge_bot.agent.capabilities import CapabilityType, Effect
from forge_bot.text_format import cut
from forge_bot.values import Frozen

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

    @property
    def line(self) -> str:
        given = ", ".join(
            item.name if item.required else f"{item.name}?" for item in self.parameters
        )
        details = "".join(
            f"\n  - {item.name} ({item.kind}): {item.description}" for item in self.parameters
        )
        return f"- {self.name}({given}): {self.description}{details}"


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
