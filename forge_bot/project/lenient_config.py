"""Read configuration leniently: values with an unexpected type count as absent."""

import configparser
import json
import tomllib
from collections.abc import Mapping
from typing import cast


def toml(text: str) -> Mapping[str, object]:
    """Return the table in a TOML text; empty when it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def json_object(text: str) -> Mapping[str, object]:
    """Return the object in a JSON text; empty when it is none."""
    try:
        return table(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def ini(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of an INI text; empty when it is none."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {
        name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()
    }


def table(value: object, *path: str) -> Mapping[str, object]:
    """Return the table at the end of a path of keys; empty when something on the way is none."""
    for key in path:
        value = table(value).get(key)
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def items(value: object) -> tuple[object, ...]:
    """Return the elements of a list; none when it is no list."""
    return tuple(cast("list[object]", value)) if isinstance(value, list) else ()


def strings(value: object) -> tuple[str, ...]:
    """Return the strings in a list; a single string counts as a list of one."""
    return (
        (value,)
        if isinstance(value, str)
        else tuple(item for item in items(value) if isinstance(item, str))
    )


def string(value: object) -> str:
    """Return the value when it is a string, else an empty string."""
    return value if isinstance(value, str) else ""
