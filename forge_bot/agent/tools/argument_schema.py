"""The schema of a tool's arguments: checked before a call, and shown in short.

The schemas come from servers. Checking one fetches nothing and cannot hang on an expression. What
is shown of one is short, however large it is.
"""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from forge_bot.text_format import cut

_MOST_FAULTS = 5
_MOST_STEPS = 100_000

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
    for name in cast("dict[str, Any]", cast("JsonMap", root).get("properties") or {}):
        if not name.isprintable() or "`" in name:
            return f"the parameter {cut(name, 100)!a} has a name that cannot be shown"
    return ""


def faults_of(schema: str, arguments: str) -> tuple[str, ...]:
    """Return the faults of arguments (canonical JSON); empty for valid ones."""
    errors = islice(_validator(schema).iter_errors(json.loads(arguments)), _MOST_FAULTS)
    return tuple(
        ": ".join(filter(None, (".".join(map(str, error.instance_path)), error.message)))
        for error in errors
    )


def _validator(schema: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        json.loads(schema),
        offline=True,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_MOST_STEPS),
    )
