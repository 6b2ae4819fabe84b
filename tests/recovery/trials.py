"""One kill at one boundary, the way back, and what must be true afterwards."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.recovery.boundaries import SHIM, FileEvents, kill, kill_with_all
from tests.recovery.world import CODES, MODEL, SCRIPT, Standing, World

Kind = Literal["git-before", "git-after", "file", "power", "model-before", "model-after", "line"]
KINDS: tuple[Kind, ...] = ("git-before", "git-after", "file", "power", "model-before", "model-after", "line")


@dataclass(frozen=True)
class Boundary:
    """The `number`-th event of a kind in one invocation of the script."""

    part: int
    kind: Kind
    number: int


@dataclass(frozen=True)
class Undisturbed:
    """What a part of the script brings about when nobody is killed, and how many boundaries of each kind it has."""

    standing: Standing
    asked: Counter[str]
    counts: dict[Kind, int]


def play_through(world: World) -> list[Undisturbed]:
    """Perform the whole script once, keeping the world before each part."""
    parts: list[Undisturbed] = []
    for part in range(len(SCRIPT)):
        world.save(f"part-{part}")
        world.play.fresh()
        killed = _performed(world, Boundary(part, "file", 0))
        assert killed.code == CODES[part], world.out.read_text()
        counts = killed.counts
        world.back(f"part-{part}")
        world.play.fresh()
        killed = _performed(world, Boundary(part, "git-before", 0))
        assert killed.code == CODES[part], world.out.read_text()
        counts |= {"git-before": killed.counts["git-before"], "git-after": killed.counts["git-after"]}
        parts.append(Undisturbed(world.standing(), Counter(world.play.asked), counts))
    return parts


@dataclass
class _Killed:
    code: int
    counts: dict[Kind, int]
    reached: bool


def _performed(world: World, at: Boundary) -> _Killed:
    """Perform one part, and kill it at the boundary (never at number 0)."""
    reached: list[bool] = []
    process: list[int] = []

    def end(how: Callable[[int], None]) -> Callable[[], None]:
        def now() -> None:
            reached.append(True)
            while not process:
                time.sleep(0.001)
            how(process[0])

        return now

    play = world.play
    if at.kind in {"model-before", "model-after"}:
        play.at, play.then = (at.kind.removeprefix("model-"), at.number), end(kill)
    file_at = at.number if at.kind in {"file", "power"} else 0
    roots = (world.path / ".git", world.state)
    if at.kind not in {"file", "power"}:
        code, calls = _with_shim(world, at, process)
        return _Killed(code, {"git-before": calls, "git-after": calls}, code == -9)
    with FileEvents(roots, file_at, end(kill if at.kind == "file" else kill_with_all)) as events:
        process.append(world.start(SCRIPT[at.part]))
        code = world.nursery.wait(process[0])
    counts: dict[Kind, int] = {"file": events.count, "power": events.count, "model-before": play.taken, "model-after": play.given}
    return _Killed(code, {**counts, "line": 0}, bool(reached))


def _with_shim(world: World, at: Boundary, process: list[int]) -> tuple[int, int]:
    folder = world.root / "shim"
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(SHIM)
    (folder / "git").chmod(0o755)
    count = folder / "count"
    count.unlink(missing_ok=True)
    more = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "FORGE_TEST_PID": "",
        "FORGE_TEST_GIT": str(shutil.which("git")),
        "FORGE_TEST_COUNT": str(count),
        "FORGE_TEST_WHEN": at.kind.removeprefix("git-") if at.kind.startswith("git") else "",
        "FORGE_TEST_AT": str(at.number),
    }
    process.append(world.start(SCRIPT[at.part], more))
    code = world.nursery.wait(process[0])
    return code, len(count.read_bytes().splitlines()) if count.exists() else 0


def survives(world: World, at: Boundary, whole: Undisturbed) -> bool:
    """Kill the part at the boundary, go on, and compare; whether the boundary was reached."""
    world.back(f"part-{at.part}")
    world.play.fresh()
    world.out.unlink(missing_ok=True)
    if not _performed(world, at).reached:
        return False
    lost = world.open_calls()
    world.play.at = ("", 0)
    again = _gone_on(world, at.part)
    said = world.out.read_text()
    assert again == CODES[at.part], said
    now = world.standing()
    if not at.part and "-2" in world.branch:
        # Killed before anything of the run was on disk: it was begun anew under another name.
        assert now.code == whole.standing.code
        return True
    asked = Counter(world.play.asked)
    assert set(asked) == set(whole.asked), said
    assert asked.total() - whole.asked.total() <= lost, said
    assert now.code == whole.standing.code
    assert now.artifacts == whole.standing.artifacts
    assert now.reports == whole.standing.reports
    assert now.commits == whole.standing.commits
    assert now.uncommitted == whole.standing.uncommitted
    assert world.leftovers() == []
    return True


def _gone_on(world: World, part: int) -> int:
    """Do what a person would: resume; where the run stands where it stood before, say again what was said."""
    code, said = world.forge("resume", *MODEL)
    if part == 0 and "REQUEST-004" in said:
        return world.forge(*SCRIPT[0])[0]
    if part > 0 and world.decisions < part:
        return world.forge(*SCRIPT[part])[0]
    if part == len(SCRIPT) - 1 and "RUN-002" in said:
        return CODES[part]
    return code


def sampled(counts: dict[Kind, int], part: int, kind: Kind, most: int) -> list[Boundary]:
    """At most so many boundaries of a kind in one part, evenly spread."""
    total = counts.get(kind, 0)
    step = max(1.0, total / most) if most else 1.0
    numbers = dict.fromkeys(1 + int(index * step) for index in range(min(most, total)))
    return [Boundary(part, kind, number) for number in numbers if number <= total]


def made(root: Path) -> Path:
    """A new folder below `root`."""
    root.mkdir(parents=True, exist_ok=True)
    return root
