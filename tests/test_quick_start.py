"""What the beginning of a process changes of Python: the time of imports, and nothing that a class
does.
"""

import subprocess
import sys

import pytest

_QUICKLY = "from forge_bot.quick_start import start_quickly; start_quickly()"

_COUNTED = """
import sys
from dataclasses import dataclass


class Ten:
    "A class with a field."

    field: int


compiled = []
sys.addaudithook(lambda event, words: compiled.append(words) if event == "compile" else None)
for _ in range(10):
    dataclass(frozen=True)(type("Each", (Ten,), dict(vars(Ten))))
print(len(compiled))
"""

_USED = """
import copy, pickle, sys
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Far(Point):
    z: "Far | None" = None


@dataclass(order=True)
class Open:
    all: list["Open"]


@dataclass(unsafe_hash=True)
class Named:
    name: str = field(compare=False)
    size: int = 1


ring = Open([])
ring.all.append(ring)
print(Point(1), Far(1, 2), ring, Named("a"))
print(Point(1) == Point(1), Point(1) == Point(1, 2), Point(1) == Far(1), Point(1) != 1)
print(Open([]) < Open([Open([])]), Named("a") == Named("b"), Named("a") == Named("a", 2))
print(len({Point(1), Point(1), Far(1), Far(1)}), hash(Named("a")) == hash(Named("b")))
print(replace(Far(1), y=3), copy.deepcopy(Far(1)) == Far(1), Open.__hash__)
print(pickle.loads(pickle.dumps(Point(5, 6))).y, Point.__repr__.__qualname__, Point.__doc__)
for act in (
    lambda: setattr(Point(1), "x", 2),
    lambda: setattr(Far(1), "new", 2),
    lambda: delattr(Point(1), "x"),
    lambda: delattr(Far(1), "z"),
    lambda: hash(Open([])),
    lambda: Open([]) < 1,
):
    try:
        act()
    except Exception as error:
        print(type(error).__name__, error)
"""


def _printed(*parts: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(parts)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_dataclasses_do_the_same_after_a_quick_start() -> None:
    assert _printed(_QUICKLY, _USED) == _printed(_USED)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="compiles a class's methods together")
def test_a_quick_start_compiles_of_a_dataclass_only_what_makes_objects() -> None:
    assert int(_printed(_QUICKLY, _COUNTED)) == 10
    assert int(_printed(_COUNTED)) > 10
