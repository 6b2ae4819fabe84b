"""YAML that is refused before it is read: aliases that multiply or hold themselves, and what is
nested too deep.
"""

from dataclasses import dataclass

import yaml

from forge_bot.sentences import say

_MOST_VALUES = 50_000
_DEEPEST = 50


class Unbounded(ValueError):
    """The text stands for more than anybody wrote; `line` is counted from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass
class _Open:
    """A list or mapping that is being read: what it stands for so far, with every alias written
    out.
    """

    anchor: str | None
    values: int = 1
    height: int = 1


Loader = type[yaml.SafeLoader] | type[yaml.CSafeLoader]


def check_bounds(text: str, kind: Loader) -> None:
    """Raise Unbounded for a text that would exhaust memory or the reader; yaml.YAMLError for what
    is no YAML.

    Works on the events of the parser, which are as many as the text is long, whatever they stand
    for.
    """
    known: dict[str, tuple[int, int]] = {}
    open_: list[_Open] = [_Open(None)]
    for event in yaml.parse(text, Loader=kind):
        line = event.start_mark.line + 1 if event.start_mark is not None else 1
        match event:
            case yaml.CollectionStartEvent():
                open_.append(_Open(event.anchor))
            case yaml.CollectionEndEvent():
                done = open_.pop()
                _grow(open_[-1], done.values, done.height + 1)
                if done.anchor is not None:
                    known[done.anchor] = (done.values, done.height)
            case yaml.AliasEvent():
                name = event.anchor or ""
                if any(each.anchor == name for each in open_):
                    raise Unbounded(line, f"*{name} holds itself")
                values, height = known.get(name, (1, 0))
                _grow(open_[-1], values, height + 1)
            case yaml.ScalarEvent():
                _grow(open_[-1], 1, 1)
            case _:
                pass
        if len(open_) + open_[-1].height > _DEEPEST:
            raise Unbounded(line, say("settings.yaml_bounds.too_deep", most=_DEEPEST))
        if sum(each.values for each in open_) > _MOST_VALUES:
            raise Unbounded(line, say("settings.yaml_bounds.too_many_values", most=_MOST_VALUES))


def _grow(around: _Open, values: int, height: int) -> None:
    around.values += values
    around.height = max(around.height, height)
