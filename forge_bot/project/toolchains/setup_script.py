"""Read the literal arguments of a setup.py from its syntax. The script is never run."""

import ast
import warnings
from collections.abc import Mapping

_Literals = Mapping[str, tuple[str, ...]]


def arguments(text: str) -> Mapping[str, _Literals]:
    """Return `install_requires` under the empty name and `extras_require` by its names.

    Only values that are literals in the script are returned.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, _Literals] = {}
    for call in ast.walk(tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg in {"install_requires", "tests_require"}:
                found[keyword.arg] = {"": _strings(keyword.value)}
            elif keyword.arg == "extras_require" and isinstance(keyword.value, ast.Dict):
                pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
                found[keyword.arg] = {
                    name: _strings(value) for key, value in pairs if key and (name := _string(key))
                }
    return found


def _strings(node: ast.expr) -> tuple[str, ...]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    return tuple(text for element in elements if (text := _string(element)))


def _string(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
