"""The types of JMESPath expressions, read from the JSON Schemas of what they are applied to."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

Schema = Mapping[str, Any]
"""A JSON Schema; an empty one says nothing."""

ANY: Schema = {}

_FUNCTIONS = {
    "abs": "number", "avg": "number", "ceil": "number", "contains": "boolean",
    "ends_with": "boolean", "floor": "number", "join": "string", "keys": "array",
    "length": "integer", "sort": "array", "starts_with": "boolean", "sum": "number",
    "to_array": "array", "to_number": "number", "to_string": "string", "type": "string",
    "values": "array",
}  # fmt: skip
"""Functions whose result has one type."""


class UnknownPath(ValueError):
    """An expression that cannot be parsed, or that names a missing field."""


def names_in(expression: str) -> tuple[str, ...]:
    """Return the names that an expression takes from its whole input. Raises UnknownPath."""
    return tuple(dict.fromkeys(_first_names(_parsed(expression))))


def type_at(schema: Schema, expression: str) -> Schema:
    """Return the schema of an expression's result. Raises UnknownPath."""
    definitions: Schema = schema.get("$defs", {})
    return _Types(definitions).of(_parsed(expression), schema)


def fits(there: Schema, wanted: Schema) -> bool:
    """Return whether a value of one schema can be given where another is wanted, by its type."""
    here, needed = _types(there, there), _types(wanted, wanted)
    if not here or not needed:
        return True
    if "number" in needed:
        needed = needed | {"integer"}
    return bool(here & needed)


def words_of(schema: Schema) -> str:
    """Return a schema's type in words."""
    found = sorted(_types(schema, schema) - {"null"})
    return " or ".join(found) or "any value"


def _parsed(expression: str) -> dict[str, Any]:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        return cast("dict[str, Any]", jmespath.compile(expression).parsed)
    except (JMESPathError, ValueError) as problem:
        said = str(problem).splitlines()
        raise UnknownPath(f"it is no JMESPath expression: {said[0] if said else ''}") from problem


def _first_names(node: dict[str, Any]) -> Iterator[str]:
    match node["type"]:
        case "field":
            yield node["value"]
        case "literal" | "current" | "identity" | "expref":
            return
        case "function_expression" | "multi_select_list" | "comparator" | "key_val_pair":
            for child in node["children"]:
                yield from _first_names(child)
        case "multi_select_dict" | "and_expression" | "or_expression" | "not_expression":
            for child in node["children"]:
                yield from _first_names(child)
        case _:
            yield from _first_names(node["children"][0])


class _Types:
    def __init__(self, definitions: Schema) -> None:
        self._definitions = definitions

    def of(self, node: dict[str, Any], schema: Schema) -> Schema:
        children: list[dict[str, Any]] = node["children"]
        match node["type"]:
            case "field":
                return self._field(schema, node["value"])
            case "subexpression" | "index_expression" | "pipe" | "current" | "identity":
                for child in children:
                    schema = self.of(child, schema)
                return schema
            case "index":
                return self._item(schema)
            case "flatten":
                return self.of(children[0], schema)
            case "projection" | "filter_projection":
                item = self._item(self.of(children[0], schema))
                return {"type": "array", "items": self.of(children[1], item)}
            case "literal":
                return _literal(node["value"])
            case "function_expression":
                return self._function(node, schema)
            case "multi_select_dict":
                properties = {
                    pair["value"]: self.of(pair["children"][0], schema) for pair in children
                }
                return {"type": "object", "properties": properties}
            case _:
                for child in children:
                    self.of(child, schema)
                return ANY

    def _function(self, node: dict[str, Any], schema: Schema) -> Schema:
        from jmespath.functions import Functions

        if node["value"] not in Functions.FUNCTION_TABLE:
            raise UnknownPath(f"there is no function {node['value']}()")
        for child in node["children"]:
            if child["type"] != "expref":
                self.of(child, schema)
        known = _FUNCTIONS.get(node["value"])
        return {"type": known} if known is not None else ANY

    def _field(self, schema: Schema, name: str) -> Schema:
        schema = self._resolved(schema)
        if not _types(schema, schema):
            return ANY
        properties: Schema = schema.get("properties", {})
        if name in properties:
            return self._inherited(schema, properties[name])
        more = schema.get("additionalProperties")
        if "object" in _types(schema, schema) and (more is True or isinstance(more, Mapping)):
            return ANY if more is True else cast("Schema", more)
        there = f"; there is {', '.join(properties)}" if properties else ""
        raise UnknownPath(f"nothing gives {name!r}{there}")

    def _item(self, schema: Schema) -> Schema:
        schema = self._resolved(schema)
        kinds = _types(schema, schema)
        if not kinds:
            return ANY
        if "array" not in kinds:
            raise UnknownPath(f"{words_of(schema)} has no elements")
        return self._inherited(schema, schema.get("items", ANY))

    def _inherited(self, outer: Schema, inner: Schema) -> Schema:
        """Return a part of a schema with the definitions of the whole."""
        definitions = outer.get("$defs")
        return {**inner, "$defs": definitions} if definitions and inner else inner

    def _resolved(self, schema: Schema) -> Schema:
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        definitions: Schema = schema.get("$defs", self._definitions)
        return {**definitions[name], "$defs": definitions} if name in definitions else schema


def _literal(value: object) -> Schema:
    kinds: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
    if isinstance(value, list):
        return {"type": "array"}
    if isinstance(value, dict):
        return ANY
    return {"type": kinds[type(value)]} if type(value) in kinds else ANY


def _types(schema: Schema, whole: Schema) -> frozenset[str]:
    """Return the types that a schema allows; none if it says nothing of them."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        definitions: Schema = whole.get("$defs", {})
        return _types(definitions[name], whole) if name in definitions else frozenset()
    if "anyOf" in schema:
        each = [_types(part, whole) for part in schema["anyOf"]]
        return frozenset[str]().union(*each) if all(each) else frozenset()
    kind = schema.get("type")
    if isinstance(kind, list):
        return frozenset(cast("list[str]", kind))
    return frozenset({str(kind)}) if kind else frozenset()
