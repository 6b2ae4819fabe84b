"""Regular expressions that are compiled when they are first used.

A run imports 450 of them and uses a third. To compile the others took 60 ms of each command.
"""

import re
from typing import AnyStr, Generic, cast

_METHODS = (
    "search",
    "match",
    "fullmatch",
    "split",
    "findall",
    "finditer",
    "sub",
    "subn",
    "flags",
    "groups",
    "groupindex",
)


class _LazyPattern(Generic[AnyStr]):
    """Has the methods of the compiled pattern from its first use on."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """Return a method, of which there is none before the first use. Raises re.error."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({each: getattr(compiled, each) for each in _METHODS})
        return getattr(compiled, name)


def lazy_regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what is used like `re.compile(text, flags)`, and is compiled by its first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))
