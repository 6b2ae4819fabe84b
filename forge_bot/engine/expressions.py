"""Parses the JMESPath expressions of steps."""

from collections.abc import Iterator
from typing import Any, cast


class UnknownPath(ValueError):
    """An expression that cannot be parsed."""


def names_in(expression: str) -> tuple[str, ...]:
    """Return the names that an expression takes from its whole input. Raises UnknownPath."""
    return tuple(dict.fromkeys(_first_names(_parsed(expression))))


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
