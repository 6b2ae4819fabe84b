"""The code of forge-bot as Python's parser reads it, once for all tests of a process.

Files that use it belong to the group `own code`, so one worker reads it.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

PRODUCT = Path(__file__).parents[2] / "forge_bot"


@cache
def nodes_of_files() -> Mapping[Path, tuple[ast.AST, ...]]:
    """Each file of forge-bot with everything in it, from the outside in. Nobody may change it."""
    return {
        path: tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(PRODUCT.rglob("*.py"))
    }


def nodes() -> Iterator[ast.AST]:
    return chain.from_iterable(nodes_of_files().values())
