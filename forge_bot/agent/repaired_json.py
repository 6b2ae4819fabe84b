"""Read JSON with a slip that can mean one thing only, such as a comma too many."""

import json
import re
from itertools import zip_longest
from typing import Any, cast

JsonObject = dict[str, Any]

_TOKEN = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)', re.DOTALL
)
_NUMBERED = re.compile(r'"(\d+)"')


def repaired_json(text: str) -> JsonObject | None:
    """Return the JSON object of a text after prose, repaired; None if there is any doubt about it.

    What was repaired has to have every string, number and bracket of the text, in its order. Only
    commas may differ, and `}` may be missing at the end: a list that is not closed may have lost
    members, and a string that is not closed may have lost its end.
    """
    import json_repair

    tokens = _tokens(text[text.find("{") :].strip().removesuffix("```") if "{" in text else "")
    strings = [token for token in tokens if token[0] == '"']
    numbers = iter(range(len(strings)))
    # Strings stay out of the repair, which would strip them.
    given = [f'"{next(numbers)}"' if token[0] == '"' else token for token in tokens]
    try:
        made = json.dumps(json_repair.loads("".join(given), skip_json_loads=True))
        pairs = zip_longest(_without_commas(given), _without_commas(_tokens(made)))
        if not all(one == other or (one is None and other == "}") for one, other in pairs):
            return None
        whole = json.loads(_NUMBERED.sub(lambda named: strings[int(named[1])], made), strict=False)
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", whole) if isinstance(whole, dict) else None


def _tokens(text: str) -> list[str]:
    """Return the tokens of a JSON text; empty if anything else stands in it."""
    tokens: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None:
            return []
        tokens.append(token[1])
        at = token.end()
    return tokens


def _without_commas(tokens: list[str]) -> list[str]:
    return [part for part in tokens if part != ","]
