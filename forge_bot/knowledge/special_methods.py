"""Special methods of Python's classes that a request speaks of without their names."""

import re
from collections.abc import Iterator, Sequence

_MEANT_BY_WORDS = {
    "boolean truthy falsy": ("__bool__", "__len__"),
    "compare comparison equal equality unequal": ("__eq__", "__ne__", "__lt__"),
    "contains containment membership": ("__contains__",),
    "copy copied copying deepcopy": ("__copy__", "__deepcopy__"),
    "descriptor": ("__get__", "__set__", "__set_name__"),
    "hash hashable hashing": ("__hash__", "__eq__"),
    "index indexed indexing slice sliced slicing subscript": ("__getitem__", "__setitem__"),
    "iterate iterated iterating iteration iterator iterable loop": (
        "__iter__",
        "__next__",
        "__aiter__",
        "__anext__",
    ),
    "manager": ("__enter__", "__exit__", "__aenter__", "__aexit__"),
    "pickle pickled pickling unpickle unpickled unpickling": (
        "__getstate__",
        "__setstate__",
        "__reduce__",
        "__reduce_ex__",
    ),
    "repr": ("__repr__",),
    "reversed": ("__reversed__",),
}
"""Words of requests, and the methods that Python calls for what they speak of.

Source: "Special method names" and "Coroutines" in Python's language reference
(https://docs.python.org/3/reference/datamodel.html), and "Pickling Class Instances" in its library.
"""

_MEANT_BY_SYNTAX = (
    (re.compile(r"^\s*(?:>>> )?async for \w", re.MULTILINE), ("__aiter__", "__anext__")),
    (re.compile(r"^\s*(?:>>> )?for \w[\w, ]* in \w", re.MULTILINE), ("__iter__", "__next__")),
    (re.compile(r"^\s*(?:>>> )?async with \w", re.MULTILINE), ("__aenter__", "__aexit__")),
    (re.compile(r"^\s*(?:>>> )?with \w", re.MULTILINE), ("__enter__", "__exit__")),
    (re.compile(r"[\w)]\[[^\]\n]*:[^\]\n]*\]"), ("__getitem__",)),
)


def special_methods(text: str, about: Sequence[str]) -> tuple[str, ...]:
    """Return the special methods that a text speaks of by its search words, or by code that makes
    Python call them.
    """
    return tuple(dict.fromkeys(_found(text, frozenset(about))))


def _found(text: str, about: frozenset[str]) -> Iterator[str]:
    for pattern, names in _MEANT_BY_SYNTAX:
        if pattern.search(text):
            yield from names
    for said, names in _MEANT_BY_WORDS.items():
        if not about.isdisjoint(said.split()):
            yield from names
