"""The schema of a tool's arguments: shown as parameters, checked before a call, and an example.

The schemas come from servers. Checking one fetches nothing and cannot hang on an expression.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from forge_bot.agent.providers.provider_catalogue import Parameter

_MOST_FAULTS = 5
_MOST_STEPS = 100_000
_MOST_PARAMETERS = 40
_SAMPLES: dict[str, object] = {
    "string": "…",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}

JsonMap = Mapping[str, Any]


def schema_fault(schema: str) -> str:
    """Return why a schema cannot be used; empty if it can."""
    try:
        _validator(schema)
    # The library has several errors for schemas, and all of them mean this.
    except Exception as error:  # noqa: BLE001 - see above
        return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


def faults_of(schema: str, arguments: str) -> tuple[str, ...]:
    """Return the faults of arguments (canonical JSON); empty for valid ones."""
    found: list[str] = []
    for error in _validator(schema).iter_errors(json.loads(arguments)):
        place = ".".join(str(part) for part in error.instance_path)
        found.append(f"{place}: {error.message}" if place else error.message)
        if len(found) == _MOST_FAULTS:
            break
    return tuple(found)


def _validator(schema: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        json.loads(schema),
        offline=True,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_MOST_STEPS),
    )


def parameters_of(schema: str) -> tuple[Parameter, ...]:
    """Return the parameters, those that are needed first, with the fields of objects in words."""
    root = cast("JsonMap", json.loads(schema))
    needed = set(cast("list[str]", root.get("required") or []))
    fields = cast("dict[str, Any]", root.get("properties") or {})
    ordered = sorted(fields, key=lambda name: name not in needed)[:_MOST_PARAMETERS]
    return tuple(
        Parameter(
            name=name,
            kind=_kind(_followed(fields[name], root), root),
            description=_words(_followed(fields[name], root)),
            required=name in needed,
        )
        for name in ordered
    )


def example_of(schema: str) -> str:
    """Return arguments that could be sent, with every needed parameter, as JSON."""
    root = cast("JsonMap", json.loads(schema))
    fields = cast("dict[str, Any]", root.get("properties") or {})
    needed = cast("list[str]", root.get("required") or [])
    sample = {name: _sample(_followed(fields.get(name), root)) for name in needed}
    return json.dumps(sample, ensure_ascii=False)


def _followed(shape: object, root: JsonMap) -> JsonMap:
    """Return a schema, or the one of this document that it refers to."""
    given: JsonMap = cast("JsonMap", shape) if isinstance(shape, dict) else {}
    target = given.get("$ref")
    if not isinstance(target, str) or not target.startswith("#/"):
        return given
    found: object = root
    for part in target[2:].split("/"):
        found = cast("JsonMap", found).get(part) if isinstance(found, dict) else None
    return cast("JsonMap", found) if isinstance(found, dict) else {}


def _kind(shape: JsonMap, root: JsonMap, *, nested: bool = True) -> str:
    if "const" in shape or shape.get("enum"):
        values = shape.get("enum") or [shape["const"]]
        return "one of " + ", ".join(json.dumps(each, ensure_ascii=False) for each in values[:20])
    if options := shape.get("anyOf") or shape.get("oneOf"):
        kinds = [_kind(_followed(each, root), root, nested=nested) for each in options]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null")) or "any"
    kind = shape.get("type", "any")
    if isinstance(kind, list):
        kind = " or ".join(str(each) for each in cast("list[object]", kind) if each != "null")
    if kind == "array":
        return f"list of {_kind(_followed(shape.get('items'), root), root, nested=nested)}"
    fields = cast("dict[str, Any]", shape.get("properties") or {})
    if kind == "object" and fields and nested:
        inner = (
            f"{name}: {_kind(_followed(each, root), root, nested=False)}"
            for name, each in list(fields.items())[:10]
        )
        return f"object with {', '.join(inner)}"
    return str(kind)


def _words(shape: JsonMap) -> str:
    said = " ".join(str(shape.get("description") or "").split())[:200]
    if "default" in shape:
        said = f"{said} (default {json.dumps(shape['default'], ensure_ascii=False)})".strip()
    return said


def _sample(shape: JsonMap) -> object:
    for key in ("examples", "enum"):
        values = shape.get(key)
        if isinstance(values, list) and values:
            return cast("list[object]", values)[0]
    for key in ("const", "default"):
        if key in shape:
            return shape[key]
    kind = shape.get("type")
    if isinstance(kind, list):
        kind = next((each for each in cast("list[object]", kind) if each != "null"), "string")
    return _SAMPLES.get(str(kind), "…")
