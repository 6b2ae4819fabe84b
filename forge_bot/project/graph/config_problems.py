"""Problems of files that define how imports are resolved: package.json, tsconfig.json,
pyproject.toml.

A file with a problem is ignored, and its node reports the problem.
"""

import json
import tomllib
from posixpath import basename

from forge_bot.project.file_list import Listing
from forge_bot.project.graph.stacks.tsconfig import extended, plain_json

_TOO_DEEP = "is nested too deep"
_TYPESCRIPT = frozenset({"tsconfig.json", "jsconfig.json"})


def config_problem(listing: Listing, path: str) -> str:
    """Return why a file is not heeded, or not all of it; empty if nothing is wrong."""
    text, name = listing.text(path), basename(path)
    if name.endswith(".toml"):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            return f"is no TOML: {error}"
        except RecursionError:
            return _TOO_DEEP
    elif name.endswith(".json"):
        try:
            json.loads(plain_json(text) if name in _TYPESCRIPT else text)
        except json.JSONDecodeError as error:
            return f"is no JSON: line {error.lineno}: {error.msg}"
        except RecursionError:
            return _TOO_DEEP
        return _extends(listing, path) if name in _TYPESCRIPT else ""
    return ""


def _extends(listing: Listing, path: str) -> str:
    """Return what a tsconfig extends in vain: a file that is not there, or itself in a circle."""
    waiting, seen = [path], {path}
    for file in waiting:
        for name, other in extended(listing, file):
            if other is None:
                return f"extends {name}, which is not there"
            if other == path:
                return f"extends itself by way of {file}"
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return ""
