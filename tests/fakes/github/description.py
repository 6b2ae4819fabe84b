"""Every exchange against GitHub's own OpenAPI description: bodies, statuses, and the parameters of
the address.
"""

import gzip
import json
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.fakes.github.calls import Route
from tests.fakes.github.exchanges import Exchange
from tests.fakes.github.replies import Thing, mapping, sequence

FILE = Path(__file__).parent / "description.json.gz"

# Statuses that any operation may end with, whether or not the description lists them.
_ALWAYS = frozenset({301, 304, 307, 400, 401, 403, 404, 410, 422, 429, 500, 502, 503})
_PROSE = frozenset({"example", "examples", "description", "nullable", "discriminator"})
_VERBATIM = frozenset({"enum", "const", "default", "required"})


def as_json_schema(node: Any, *, names: bool = False) -> Any:
    """OpenAPI 3.0 in the words of JSON Schema: `nullable` becomes the type null. `names` marks a
    mapping whose keys are names.
    """
    if isinstance(node, list):
        return [as_json_schema(each) for each in sequence(node)]
    if not isinstance(node, dict):
        return node
    given = mapping(node)
    if names:
        return {key: as_json_schema(value) for key, value in given.items()}
    if isinstance(given.get("$ref"), str):
        return {"$ref": given["$ref"].replace("#/components/schemas/", "#/$defs/")}
    # Alternatives in the description overlap (every error is a basic-error), so that "exactly one"
    # cannot be meant.
    out = {
        {"oneOf": "anyOf"}.get(key, key): (
            value
            if key in _VERBATIM
            else as_json_schema(value, names=key in {"properties", "patternProperties"})
        )
        for key, value in given.items()
        if key not in _PROSE
    }
    return _with_null(out) if given.get("nullable") else out


def _with_null(schema: Thing) -> Thing:
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    return {"anyOf": [schema, {"type": "null"}]} if schema.keys() & {"allOf", "anyOf"} else schema


class Description:
    """The reduced copy of GitHub's description, and the validators made from it as they are
    needed.
    """

    def __init__(self, whole: Thing) -> None:
        self.whole = whole
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    @cached_property
    def _schemas(self) -> Thing:
        return {
            name: as_json_schema(schema)
            for name, schema in self.whole["components"]["schemas"].items()
        }

    def _operation(self, route: Route) -> Thing | None:
        return self.whole["paths"].get(route.template, {}).get(route.method.lower())

    def _followed(self, node: Thing) -> Thing:
        while "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            node = self.whole["components"][kind][name]
        return node

    def _complaints(self, key: str, schema: Thing, value: Any) -> list[str]:
        if key not in self._validators:
            used = {**as_json_schema(schema), "$defs": self._needed(schema)}
            self._validators[key] = jsonschema_rs.Draft202012Validator(used, validate_formats=True)
        found = self._validators[key].iter_errors(value)
        return [
            f"{key} {'.'.join(map(str, error.instance_path))}: {error.message[-300:]}"
            for error in found
        ]

    def _needed(self, schema: Thing) -> Thing:
        """The schemas that one schema leads to: compiling all of them for each would take
        seconds.
        """
        found: Thing = {}
        waiting = _references(schema)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self._schemas[name]
                waiting |= _references(self.whole["components"]["schemas"][name])
        return found

    def check(self, route: Route, exchange: Exchange) -> list[str]:
        """What does not fit: the answer always, the request where GitHub took it."""
        operation, where = self._operation(route), f"{route.method} {route.template}"
        if operation is None:
            return [f"{where}: no such operation in the description"]
        found = self._check_answer(where, operation, exchange)
        return found + (
            self._check_request(where, operation, exchange) if exchange.status < 400 else []
        )

    def _check_answer(self, where: str, operation: Thing, exchange: Exchange) -> list[str]:
        status = str(exchange.status)
        if status not in operation["responses"]:
            if exchange.status not in _ALWAYS:
                return [f"{where}: {status} is not among {sorted(operation['responses'])}"]
            basic = {"$ref": "#/components/schemas/basic-error"}
            return (
                []
                if exchange.answer is None
                else self._complaints("any error", basic, exchange.answer)
            )
        content = self._followed(operation["responses"][status]).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if exchange.answer is None:
            return []
        if schema is None:
            return [f"{where} {status}: a body, where none is described"]
        return self._complaints(f"{where} {status}", schema, exchange.answer)

    def _check_request(self, where: str, operation: Thing, exchange: Exchange) -> list[str]:
        parameters = [self._followed(each) for each in operation.get("parameters", [])]
        known = {each["name"]: each["schema"] for each in parameters if each["in"] == "query"}
        found: list[str] = []
        for name, text in exchange.query.items():
            if name not in known:
                found.append(f"{where}: no parameter is called {name!r}")
            else:
                found += self._complaints(
                    f"{where} ?{name}", known[name], _value(known[name], text)
                )
        body = operation.get("requestBody")
        schema = (
            self._followed(body)["content"].get("application/json", {}).get("schema")
            if body
            else None
        )
        if exchange.body is not None and schema is None:
            found.append(f"{where}: a body was sent, none is described")
        elif schema is not None and (
            exchange.body is not None or self._followed(body or {}).get("required")
        ):
            found += self._complaints(f"{where} request", schema, exchange.body)
        return found

    def check_payload(self, event: str, payload: Thing) -> list[str]:
        """What does not fit in a webhook's payload; events are named as in x-webhooks,
        `issue-comment-created`.
        """
        hook = self.whole["x-webhooks"].get(event)
        if hook is None:
            return [f"{event}: no such event in the description"]
        return self._complaints(
            event, hook["post"]["requestBody"]["content"]["application/json"]["schema"], payload
        )


def _references(node: Any) -> set[str]:
    given = mapping(node)
    here = given.get("$ref")
    own = (
        {here.rpartition("/")[2]}
        if isinstance(here, str) and here.startswith("#/components/schemas/")
        else set[str]()
    )
    return own | {
        name for value in (*given.values(), *sequence(node)) for name in _references(value)
    }


def _value(schema: Thing, text: str) -> Any:
    """A parameter's text as the value that its schema speaks of."""
    if schema.get("type") == "integer" and text.lstrip("-").isdigit():
        return int(text)
    return (
        {"true": True, "false": False}.get(text, text) if schema.get("type") == "boolean" else text
    )


@cache
def description() -> Description:
    """The committed copy, read once in a process."""
    return Description(json.loads(gzip.decompress(FILE.read_bytes())))
