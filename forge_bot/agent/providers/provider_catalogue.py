"""The catalogue of capabilities: one entry each, rendered from its parameter model."""

from functools import cache
from typing import Any, cast

from pydantic import BaseModel, Field

from forge_bot.agent.capabilities import CapabilityType, Effect
from forge_bot.values import Frozen


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
    example: str = Field(default="", description="a request as JSON, for those of others")

    @property
    def line(self) -> str:
        """Return the entry in the menu."""
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
    schema: dict[str, Any] = params.model_json_schema()
    required = set(cast("list[str]", schema.get("required", [])))
    fields = cast("dict[str, dict[str, Any]]", schema.get("properties", {}))
    return CapabilitySpec(
        name=name,
        description=" ".join((params.__doc__ or "").split()),
        parameters=tuple(
            Parameter(
                name=field,
                kind=_kind(shape),
                description=str(shape.get("description", "")),
                required=field in required,
            )
            for field, shape in fields.items()
        ),
        effect=effect,
    )


def _kind(shape: dict[str, Any]) -> str:
    """Return the type in words. Null is omitted, since leaving the parameter out means the same."""
    kinds = [
        _kind(part)
        for part in cast("list[dict[str, Any]]", shape.get("anyOf", []))
        if part.get("type") != "null"
    ]
    if kinds:
        return " or ".join(kinds)
    if shape.get("type") == "array":
        return f"list of {_kind(cast('dict[str, Any]', shape.get('items', {})))}"
    return str(shape.get("type", "any"))
