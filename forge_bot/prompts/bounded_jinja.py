"""A Jinja sandbox in which a template can neither access Python nor run without end.

Jinja's own sandbox blocks attributes that lead out of it, and bounds one `range`. It does not bound
nested loops, recursive macros, texts that double themselves, or `"x" * 10**9`. Here each of these
raises a SecurityError. Most filters and most methods of str are left out because they can make a
long text out of a short one.
"""

import json
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any, cast

from jinja2 import StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_CHARACTERS = 4_000_000
"""The maximum characters of a rendered template: four times the largest context windows."""

MAX_STEPS = 100_000
"""The maximum loop passes and calls in one rendering."""

MAX_RANGE = 1_000

_FILTERS = """
    abs count d default dictsort first float groupby int items last length list lower map max min
    reject rejectattr reverse round select selectattr sort string sum title trim truncate unique
    upper wordcount
"""
_METHODS = """
    capitalize casefold count endswith find get index isalnum isalpha isascii isdigit islower
    isspace isupper items keys lower lstrip partition removeprefix removesuffix rpartition rsplit
    rstrip split splitlines startswith strip title upper values
"""
_SAFE_METHODS = frozenset(_METHODS.split())

_STEPS: ContextVar[Iterator[int]] = ContextVar("steps")


@contextmanager
def counted_steps() -> Generator[None]:
    """Count the steps of one rendering, separately for each thread and task."""
    token = _STEPS.set(count())
    try:
        yield
    finally:
        _STEPS.reset(token)


def _step() -> None:
    if next(_STEPS.get(count())) >= MAX_STEPS:
        raise SecurityError(f"the template takes more than {MAX_STEPS:,} steps")


class _CountingGenerator(CodeGenerator):
    """Compiles loops so that each pass is counted, and `~` so that its result is measured."""

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802 - Jinja's name
        counted = nodes.EnvironmentAttribute(
            "counted", lineno=node.lineno, environment=self.environment
        )
        node.iter = nodes.Call(
            counted, [node.iter], [], None, None, lineno=node.lineno, environment=self.environment
        )
        super().visit_For(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja's name
        self.write("concat(map(str, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write(")))")


def joined(parts: Iterable[str]) -> str:
    """Join the parts to one text. Raises SecurityError above MAX_CHARACTERS."""
    kept: list[str] = []
    total = 0
    for part in parts:
        total += len(part)
        if total > MAX_CHARACTERS:
            raise SecurityError(f"the template makes more than {MAX_CHARACTERS:,} characters")
        kept.append(part)
    return "".join(kept)


def _join(values: Iterable[object], separator: str = "", attribute: str | None = None) -> str:
    def between() -> Iterator[str]:
        for position, value in enumerate(values):
            if position:
                yield separator
            # Data is JSON, so a field of an item is an entry of a dict.
            if attribute is not None and isinstance(value, dict):
                value = cast("dict[str, object]", value)[attribute]  # noqa: PLW2901
            yield str(value)

    return joined(between())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > MAX_RANGE:
        raise SecurityError(f"a range holds more than {MAX_RANGE:,} numbers")
    return numbers


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, strict about undefined names, with growth and loops bounded."""

    code_generator_class = _CountingGenerator
    concat = staticmethod(joined)
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            **options,
        )
        known: dict[str, Any] = {name: FILTERS[name] for name in _FILTERS.split()}
        self.filters = known | {"join": _join, "json": _json}
        self.globals = {"range": _range, "dict": dict, "namespace": self.globals["namespace"]}

    def counted(self, values: Iterable[object]) -> Iterator[object]:
        """Yield the values and count one step for each."""
        for value in values:
            _step()
            yield value

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        plain = isinstance(obj, str | bytes | int | float | list | tuple | dict)
        return super().is_safe_attribute(obj, attr, value) and (
            not plain or not callable(value) or attr in _SAFE_METHODS
        )

    def wrap_str_format(self, value: Any) -> None:
        """Refuse `str.format`: like any method that can grow a text, it is not safe."""

    def join_path(self, template: str, parent: str) -> str:
        """Return the name unchanged.

        Jinja calls this for each include and import, so they are counted.
        """
        _step()
        return super().join_path(template, parent)

    def call(self, context: Context, called: Any, /, *args: Any, **named: Any) -> Any:
        _step()
        return super().call(context, called, *args, **named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            if isinstance(left, str) and isinstance(right, str):
                return joined((left, right))
            return super().call_binop(context, operator, left, right)
        numbers = all(
            isinstance(side, int | float) and abs(side) < MAX_CHARACTERS for side in (left, right)
        )
        if operator == "**" or not numbers:
            raise SecurityError(
                f"the template may not compute {type(left).__name__} {operator}"
                f" {type(right).__name__}"
            )
        return super().call_binop(context, operator, left, right)
