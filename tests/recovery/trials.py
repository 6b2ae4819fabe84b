"""Kills at boundaries, the way back, and what must be true afterwards."""

import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.recovery.boundaries import FileEvents, GitCalls, kill, kill_with_all
from tests.recovery.scripts import MODEL, Part
from tests.recovery.world import Standing, World

Kind = Literal["git before", "git after", "file", "power", "model before", "model after"]
GIT: tuple[Kind, ...] = ("git before", "git after")
FILE: tuple[Kind, ...] = ("file", "power")
MODEL_CALL: tuple[Kind, ...] = ("model before", "model after")
KINDS: tuple[Kind, ...] = (*GIT, *FILE, *MODEL_CALL)
KILLED = -9
REFUSED = 5


@dataclass(frozen=True)
class Boundary:
    """The `number`-th event of a kind in one process: a call of git, a change of a file, a question
    to the model. With the name of a file, only its changes are counted.

    `power` is a change of a file too, and what the process had started dies with it.
    """

    kind: Kind
    number: int
    name: str = ""


@dataclass(frozen=True)
class Undisturbed:
    """A part of a script as it goes when nobody is killed, and how many boundaries of each kind it
    has.
    """

    number: int
    part: Part
    standing: Standing
    asked: Counter[str]
    counts: dict[Kind, int]


def undisturbed(world: World, script: Sequence[Part]) -> list[Undisturbed]:
    """Perform the script once; the world before each part is kept under its number."""
    parts: list[Undisturbed] = []
    for number, part in enumerate(script):
        world.save(str(number))
        parts.append(performed(world, number, part))
    world.save("end")
    return parts


def performed(world: World, number: int, part: Part) -> Undisturbed:
    """Perform one part from where the world stands."""
    world.play.fresh()
    code, counts = _counted(world, part.words)
    assert code == part.code, world.printed
    return Undisturbed(number, part, world.standing(), Counter(world.play.asked), counts)


def survives(world: World, whole: Undisturbed, boundaries: Sequence[Boundary]) -> int:
    """Kill the part at the first boundary, each process that goes on with it at the next one, then
    let it end, and compare.

    How many of the boundaries were reached.
    """
    world.back(str(whole.number))
    world.play.fresh()
    words, reached, code = whole.part.words, 0, KILLED
    for boundary in (*boundaries, None):
        code = killed_at(world, words, boundary)
        if code != KILLED:
            break
        reached += 1
        words = _next_words(world, whole)
    over = code == REFUSED and "RUN-002" in world.printed
    assert over or code == whole.part.code, world.printed
    compare(world, whole)
    return reached


def _next_words(world: World, whole: Undisturbed) -> tuple[str, ...]:
    """What a person types after a kill: the same again if nothing of it was recorded, else
    `resume`.
    """
    recorded = world.decisions >= whole.number if whole.number else world.workspace is not None
    return ("resume", *MODEL) if recorded else whole.part.words


def compare(world: World, whole: Undisturbed) -> None:
    """Hold what a run has brought about against the same without a disturbance."""
    now, then = world.standing(), whole.standing
    assert now.code == then.code
    # Killed before anything of the run was on disk, it was begun anew under the same name.
    assert now.name == then.name
    assert now.branches == then.branches
    asked = Counter(world.play.asked)
    assert set(asked) == set(whole.asked), world.printed
    # Only questions that were under way at a kill may have been asked again.
    assert asked.total() - whole.asked.total() <= world.open_calls(), world.printed
    assert now.artifacts == then.artifacts
    assert now.reports == then.reports
    assert now.commits == then.commits
    assert now.uncommitted == then.uncommitted
    assert now.work_trees == then.work_trees
    assert now.kept == then.kept
    assert world.contradictions() == []
    assert world.leftovers() == []


def _counted(world: World, words: Sequence[str]) -> tuple[int, dict[Kind, int]]:
    """Perform an invocation: its exit code, and how many boundaries of each kind it came to."""
    world.play.count("", 0, lambda: None)
    calls = GitCalls(world.root / "shim", "never", 0)
    with FileEvents(_folders(world), 0, lambda: None) as files:
        code = world.nursery.wait(world.start(words, calls.environment))
    seen = {
        "git": calls.count,
        "file": files.count,
        "power": files.count,
        "model": world.play.taken,
    }
    return code, {kind: seen[kind.split()[0]] for kind in KINDS}


def between(world: World, whole: Undisturbed, first: int) -> list[Boundary]:
    """Return the boundaries of a part between its question number `first` and the next one."""
    found = dict[str, range]()
    for kind in ("git", "file"):
        ends = [
            _counted_until(world, whole, question)[kind] if question else 0
            for question in (first, first + 1)
        ]
        found[kind] = range(ends[0] + 1, ends[1] + 1)
    kinds: tuple[tuple[Kind, str], ...] = (
        ("git before", "git"),
        ("git after", "git"),
        ("file", "file"),
        ("power", "file"),
    )
    return [Boundary(kind, number) for kind, counted in kinds for number in found[counted]]


def _counted_until(world: World, whole: Undisturbed, question: int) -> dict[str, int]:
    """Perform a part: how many boundaries there were when a question came."""
    world.back(str(whole.number))
    world.play.fresh()
    calls, seen = GitCalls(world.root / "shim", "never", 0), dict[str, int]()
    with FileEvents(_folders(world), 0, lambda: None) as files:
        world.play.count("before", question, lambda: seen.update(git=calls.count, file=files.count))
        world.nursery.wait(world.start(whole.part.words, calls.environment))
    return seen


def killed_at(world: World, words: Sequence[str], at: Boundary | None) -> int:
    """Perform an invocation and kill it at the boundary; its exit code."""
    process, started = list[int](), threading.Event()

    def end() -> None:
        started.wait()
        (kill_with_all if at is not None and at.kind == "power" else kill)(process[0])

    world.play.count("", 0, lambda: None)
    more: dict[str, str] = {}
    with ExitStack() as watched:
        if at is not None and at.kind in MODEL_CALL:
            world.play.count(at.kind.removeprefix("model "), at.number, end)
        elif at is not None and at.kind in GIT:
            more = GitCalls(
                world.root / "shim", at.kind.removeprefix("git "), at.number
            ).environment
        elif at is not None:
            watched.enter_context(FileEvents(_folders(world), at.number, end, at.name))
        process.append(world.start(words, more))
        started.set()
        return world.nursery.wait(process[0])


def _folders(world: World) -> tuple[Path, ...]:
    """Where everything is written that outlives a process."""
    return (world.path / ".git", world.state)


def spread(whole: Undisturbed, kinds: Sequence[Kind], most: int) -> list[Boundary]:
    """At most so many boundaries of each kind, evenly spread over the part."""
    found: list[Boundary] = []
    for kind in kinds:
        total = whole.counts[kind]
        numbers = (
            range(1, total + 1)
            if total <= most
            else [1 + round(step * (total - 1) / max(most - 1, 1)) for step in range(most)]
        )
        found += [Boundary(kind, number) for number in numbers]
    return found
