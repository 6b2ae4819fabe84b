"""The schema of a tool's arguments: shown as parameters, checked before a call, and an example.

The schemas come from servers. Checking one fetches nothing and cannot hang on an expression. What
is shown of one is short, however large it is and whatever its parts refer to.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from forge_bot.agent.providers.provider_catalogue import Parameter
from forge_bot.text_format import cut

_MOST_FAULTS = 5
_MOST_STEPS = 100_000
_MOST_PARAMETERS = 40
_MOST_NAME = 100
_MOST_SHOWN = 400
"""Characters of a kind or of a sample value in a prompt."""
_MOST_DEEP = 8
"""Levels of a shape that its kind tells: each may be a list, or a choice, of the next."""
_MOST_OPTIONS = 20
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
    root: object = json.loads(schema)
    if not isinstance(root, dict) or cast("JsonMap", root).get("type") != "object":
        return "it does not say `type: object`"
    return _fault_of_names(cast("JsonMap", root))


def _fault_of_names(root: JsonMap) -> str:
    """Return why a prompt cannot name the parameters; a name cannot be shortened, or a call would
    not have it.
    """
    needed = cast("list[str]", root.get("required") or [])
    if len(needed) > _MOST_PARAMETERS:
        return f"it needs {len(needed)} parameters, and at most {_MOST_PARAMETERS} are shown"
    for name in (*needed, *cast("dict[str, Any]", root.get("properties") or {})):
        if len(name) > _MOST_NAME or not name.isprintable() or "`" in name:
            return f"the parameter {cut(name, _MOST_NAME)!a} has a name that cannot be shown"
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
    kinds = _Kinds(root)
    return tuple(
        Parameter(
            name=name,
            kind=kinds.kind(_followed(fields[name], root)),
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


class _Kinds:
    """The kinds of the shapes of one schema, in words. Each shape is looked at once for a level, so
    that shapes which refer to each other, or to themselves, are no more work than others.
    """

    def __init__(self, root: JsonMap) -> None:
        self._root = root
        self._known: dict[tuple[int, int, bool], str] = {}

    def kind(self, shape: JsonMap, *, deep: int = _MOST_DEEP, nested: bool = True) -> str:
        """Return the kind of a shape; `nested` tells the fields of an object too."""
        if not deep:
            return "any"
        place = (id(shape), deep, nested)
        if place not in self._known:
            self._known[place] = cut(self._told(shape, deep - 1, nested=nested), _MOST_SHOWN)
        return self._known[place]

    def _told(self, shape: JsonMap, deep: int, *, nested: bool) -> str:
        if "const" in shape or shape.get("enum"):
            values = shape.get("enum") or [shape["const"]]
            said = (json.dumps(each, ensure_ascii=False) for each in values[:_MOST_OPTIONS])
            return f"one of {', '.join(said)}"
        if options := shape.get("anyOf") or shape.get("oneOf"):
            kinds = [self._below(each, deep, nested=nested) for each in options[:_MOST_OPTIONS]]
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null")) or "any"
        kind = shape.get("type", "any")
        if isinstance(kind, list):
            kind = " or ".join(str(each) for each in cast("list[object]", kind) if each != "null")
        if kind == "array":
            return f"list of {self._below(shape.get('items'), deep, nested=nested)}"
        fields = cast("dict[str, Any]", shape.get("properties") or {})
        if kind == "object" and fields and nested:
            inner = (
                f"{name}: {self._below(each, deep, nested=False)}"
                for name, each in list(fields.items())[:10]
            )
            return f"object with {', '.join(inner)}"
        return str(kind)

    def _below(self, shape: object, deep: int, *, nested: bool) -> str:
        return self.kind(_followed(shape, self._root), deep=deep, nested=nested)


def _words(shape: JsonMap) -> str:
    said = " ".join(str(shape.get("description") or "").split())[:200]
    if "default" in shape:
        default = cut(json.dumps(shape["default"], ensure_ascii=False), _MOST_SHOWN)
        said = f"{said} (default {default})".strip()
    return said


def _sample(shape: JsonMap) -> object:
    lists = (shape.get(key) for key in ("examples", "enum"))
    values = [cast("list[object]", each)[0] for each in lists if isinstance(each, list) and each]
    values += [shape[key] for key in ("const", "default") if key in shape]
    for value in values:
        if len(json.dumps(value, ensure_ascii=False)) <= _MOST_SHOWN:
            return value
    kind = shape.get("type")
    if isinstance(kind, list):
        kind = next((each for each in cast("list[object]", kind) if each != "null"), "string")
    return _SAMPLES.get(str(kind), "…")
