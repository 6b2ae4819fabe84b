"""YAML into a model, with every problem named by its line."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from forge_bot.errors import SetupError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")
Place = tuple[int | str, ...]

_MOST_CHARACTERS = 500_000
_MOST_VALUES = 50_000
_DEEPEST = 50
_LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml reads ten times as fast; not every machine has it."""


class YamlContents(NamedTuple):
    """A YAML text as read: its value, the line of each place, and the keys that stand twice."""

    value: object
    lines: dict[Place, int]
    twice: list[tuple[str, int]]


def read_yaml(
    text: str, name: str, adapter: TypeAdapter[T], error: type[SetupError], keys: Sequence[str] = ()
) -> T:
    """Return the value of a YAML text; raise `error` with all problems, each as `name:line: what`.

    `keys` are the known keys, with dots between levels; the nearest one is suggested for an unknown
    key.
    """
    return read_with_lines(text, name, adapter, error, keys)[0]


def read_with_lines(
    text: str, name: str, adapter: TypeAdapter[T], error: type[SetupError], keys: Sequence[str] = ()
) -> tuple[T, dict[Place, int]]:
    """Return the value of a YAML text as `read_yaml` does, and the line of each place in it."""
    if len(text) > _MOST_CHARACTERS:
        raise error(f"{name} has {len(text):,} characters; {_MOST_CHARACTERS:,} are the most.")
    try:
        value, lines, twice = read_contents(text)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        line = mark.line + 1 if mark is not None else 1
        what = str(problem.problem)
        if mark is not None and what.endswith("cannot start any token"):
            what += (
                f": write what begins with {text.splitlines()[mark.line][mark.column]} in quotes"
            )
        raise error(f"{name} is not YAML.", details=(f"{name}:{line}: {what}",)) from problem
    except (yaml.YAMLError, ValueError) as problem:
        raise error(f"{name} is not YAML.", details=(f"{name}: {problem}",)) from problem
    details = [f"{name}:{line}: the key {key!r} stands twice" for key, line in twice]
    try:
        parsed = adapter.validate_python({} if value is None else value)
    except ValidationError as problem:
        details += [
            _describe_problem(name, lines, entry["loc"], _plainly(entry, keys))
            for entry in problem.errors()
        ]
        raise _invalid(name, details, error) from problem
    if details:
        raise _invalid(name, details, error)
    return parsed, lines


def raise_problems(
    wrong: Sequence[tuple[Place, str]], name: str, lines: dict[Place, int], error: type[SetupError]
) -> None:
    """Raise `error` if anything is wrong with a value of the right form."""
    if wrong:
        details = [_describe_problem(name, lines, place, message) for place, message in wrong]
        raise _invalid(name, details, error)


def _plainly(entry: "ErrorDetails", keys: Sequence[str]) -> str:
    """Pydantic's message, or a better one where it speaks of Python."""
    if entry["type"] == "extra_forbidden":
        near = get_close_matches(".".join(str(step) for step in entry["loc"]), keys, n=1)
        if near:
            return f"there is no such key; did you mean {near[0]}?"
        return "there is no such key"
    if entry["type"] == "value_error":
        return str(entry.get("ctx", {}).get("error", entry["msg"]))
    return entry["msg"].replace("tuple", "list").replace("dictionary", "mapping")


def read_contents(text: str) -> YamlContents:
    """Read a text. Raise yaml.YAMLError, or ValueError for a value that there is not and for a text
    with more values, aliases written out, than anybody would write.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        _check_depth(depth)
    loader = _LOADER(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return YamlContents(None, {}, [])
        # Before the value is made: that writes out what `<<` merges.
        twice: list[tuple[str, int]] = []
        places = list(islice(_lines(root, (), twice), _MOST_VALUES + 1))
        if len(places) > _MOST_VALUES:
            raise ValueError(
                f"more than {_MOST_VALUES:,} values, with every alias (*name) written out"
            )
        # The stubs lack a type there.
        value: object = loader.construct_document(root)  # pyright: ignore[reportUnknownMemberType]
        return YamlContents(value, dict(places), twice)
    finally:
        loader.dispose()


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} deep")


def _invalid(name: str, details: list[str], error: type[SetupError]) -> SetupError:
    message = (
        f"{name} has one problem." if len(details) == 1 else f"{name} has {len(details)} problems."
    )
    return error(message, details=tuple(details))


def _describe_problem(name: str, lines: dict[Place, int], loc: Place, message: str) -> str:
    # pydantic names the union member it tried, and marks an error of a key; such steps are not in
    # the file.
    known: Place = ()
    if loc[-1:] == ("[key]",) and loc not in lines:
        loc = loc[:-1]
    steps: list[str] = []
    for number, step in enumerate(loc, 1):
        if (*known, step) in lines:
            known = (*known, step)
        elif lines and number < len(loc):
            continue
        steps.append(str(step))
    key = ".".join(steps)
    return f"{name}:{lines.get(known, 1)}: {key or 'file'}: {message}"


def _lines(
    node: yaml.Node, place: Place, twice: list[tuple[str, int]]
) -> Iterator[tuple[Place, int]]:
    """Yield each place with its line; add the keys that stand twice."""
    _check_depth(len(place))
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in seen:
                twice.append((name, line))
            seen.add(name)
            yield from _lines(value, (*place, name), twice)
            yield (*place, name), line
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _lines(value, (*place, number), twice)
