"""Random histories of one run: whatever happens to it, nothing that was recorded, paid or committed
is lost, and the run goes on or says in one error why not.

Which refs a run has does not matter here. `FORGE_HISTORIES=17:18` leads number 17 alone.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from subprocess import CalledProcessError

import pytest

from forge_bot.engine import REPORT, fold
from forge_bot.engine.reports import RunStarted
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, STATE, state_file
from tests.fakes.model_server import Question, Says, busy
from tests.recovery.kills import Boundary, killed_at
from tests.recovery.play import Play
from tests.recovery.scripts import MODEL, SHORT
from tests.recovery.world import WAITING, World

pytestmark = pytest.mark.slow

_FIRST, _, _END = os.environ.get("FORGE_HISTORIES", "20").rpartition(":")
SEEDS = range(int(_FIRST or 0), int(_END))
EVENTS, ROUNDS = 5, 8
APPROVE, RESUME = ("approve", *MODEL), ("resume", *MODEL)
ERROR = re.compile(r"^.*\b[A-Z]+-\d{3}\b", re.MULTILINE)
BOUNDARIES = (
    *(Boundary("file", name) for name in (REPORTS, STATE, "journal.jsonl", "request.md")),
    *(Boundary("git before", word) for word in ("commit-tree", "update-ref", "worktree")),
    *(Boundary("git after", word) for word in ("commit-tree", "update-ref", "worktree")),
    *(Boundary("git full", word) for word in ("commit-tree", "update-ref", "worktree")),
    *(Boundary("model before", ""), Boundary("model after", "")),
)
FAULTS = (busy(), Says("busy", status=503), Says("wrong key", status=401), Says(raw="{ cut"))


@dataclass
class FaultyPlay(Play):
    """A provider that first fails with these replies, for which nobody pays."""

    faults: list[Says] = field(default_factory=list[Says])

    def take(self, question: Question) -> Says:
        with self._one:
            if self.faults:
                return self.faults.pop()
        return super().take(question)


@dataclass
class History:
    """One run, what happened to it so far, and what must not be lost."""

    world: World
    play: FaultyPlay
    random: Random
    events: list[str] = field(default_factory=list[str])
    recorded: list[str] = field(default_factory=list[str])
    """The reports after the last event."""
    files: list[str] = field(default_factory=list[str])
    """The files that a person committed, each by a commit of its own."""

    def happen(self) -> None:
        """Let one thing happen, and look whether reports are lost."""
        commands = (self.is_undisturbed, self.is_disturbed, self.meets_faults, self.has_two)
        person = (
            self.commits,
            self.leaves_a_file,
            self.rewinds,
            self.rebases,
            self.checks_out,
            self.removes_the_tree,
            self.collects_garbage,
            self.moves_the_clone,
        )
        self.random.choice((*commands, *commands, self.is_disturbed, *person))()
        now = self.reports()
        assert now[: len(self.recorded)] == self.recorded, self.events
        self.recorded = now

    # -- Commands

    def is_undisturbed(self) -> None:
        self.forge(self.words())

    def is_disturbed(self) -> None:
        chosen, words = self.random.choice(BOUNDARIES), self.words()
        boundary = Boundary(chosen.kind, chosen.name, self.random.randint(1, 4))
        code = killed_at(self.world, words, boundary)
        self.play.count("", 0, lambda: None)
        self.events.append(f"{words[0]} {boundary}: {code}")

    def meets_faults(self) -> None:
        self.play.faults = self.random.choices(FAULTS, k=self.random.randint(1, 3))
        self.events.append(f"faults {[fault.status for fault in self.play.faults]}")
        self.forge(self.words())
        self.play.faults = []

    def has_two(self) -> None:
        words = self.words()
        other = self.random.choice((APPROVE, RESUME, ("status",), ("list",)))
        codes = [self.world.wait(pid) for pid in [self.world.start(words), self.world.start(other)]]
        self.events.append(f"{words[0]} beside {other[0]}: {codes}")

    def words(self) -> tuple[str, ...]:
        """Return what a person types next."""
        return self.random.choice((APPROVE, RESUME)) if self.name else SHORT[0].words

    def forge(self, words: tuple[str, ...]) -> tuple[int, str]:
        code, output = self.world.forge(*words)
        assert "Traceback" not in output, (self.events, output)
        self.events.append(f"{words[0]}: {code}")
        return code, output

    # -- A person

    def commits(self) -> None:
        folder = self.random.choice((self.world.path, self.tree))
        name = f"mine-{len(self.events)}.txt"
        (folder / name).write_text("mine\n")
        if self.git(folder, "add", name) and self.git(folder, "commit", "-qm", name, "--", name):
            self.files.append(name)

    def leaves_a_file(self) -> None:
        (self.tree / "left.txt").write_text("not committed\n")
        self.events.append("left.txt")

    def rewinds(self) -> None:
        if self.tree != self.world.path:
            self.git(self.tree, "reset", "-q", "--hard", "HEAD~1")
            self.forget()

    def rebases(self) -> None:
        self.commits()
        if not self.git(self.tree, "rebase", "-q", "main"):
            self.git(self.tree, "rebase", "--abort")
        self.forget()

    def checks_out(self) -> None:
        aside = self.random.choice((("-b", f"aside-{len(self.events)}"), ("--detach",)))
        self.git(self.tree, "checkout", "-q", *aside)

    def removes_the_tree(self) -> None:
        if self.tree != self.world.path:
            self.recorded = self.committed()
            shutil.rmtree(self.tree)
            self.events.append("the tree is removed")

    def collects_garbage(self) -> None:
        self.git(self.world.path, "gc", "-q", "--prune=now")

    def moves_the_clone(self) -> None:
        self.world.move(f"moved-{len(self.events)}")
        self.events.append("the clone is moved")

    def forget(self) -> None:
        """Forget what a person may have thrown away."""
        self.recorded, self.files = [], []
        self.play.fresh()

    def git(self, folder: Path, *words: str) -> bool:
        """Return whether git did it."""
        self.events.append(f"git {' '.join(words)} in {folder.name}")
        with suppress(CalledProcessError):
            self.world.git(*words, folder=folder)
            return True
        self.events[-1] += " failed"
        return False

    # -- What is there

    @property
    def name(self) -> str:
        """The name of the run; empty before it has begun."""
        folder = self.world.workspace
        return folder.name if folder is not None else self._committed()[0]

    @property
    def tree(self) -> Path:
        """The run's work tree, else the clone."""
        return self.world.tree if self.world.workspace is not None else self.world.path

    def reports(self) -> list[str]:
        """Return the whole lines of the record on disk; of that in git, where there is none."""
        folder = self.world.workspace
        if folder is None:
            return self.committed()
        lines = (folder / REPORTS).read_text().splitlines(keepends=True)
        return [line for line in lines if line.endswith("\n")]

    def committed(self) -> list[str]:
        """Return the lines of the run's longest record that a ref leads to."""
        return self._committed()[1]

    def _committed(self) -> tuple[str, list[str]]:
        longest: tuple[str, list[str]] = ("", [])
        for commit in set(self.world.git("for-each-ref", "--format=%(objectname)").split()):
            with suppress(CalledProcessError):
                for name in self.world.git("ls-tree", "--name-only", f"{commit}:{SPECS}").split():
                    text = self.world.git("show", f"{commit}:{SPECS}/{name}/{REPORTS}") + "\n"
                    if text.count("\n") > len(longest[1]):
                        longest = (name, text.splitlines(keepends=True))
        return longest

    # -- The end

    def go_on(self) -> tuple[int, str]:
        """Let a person go on until the run is over or nothing moves it; what was said last."""
        code, output = self.forge(RESUME if self.name else SHORT[0].words)
        for _ in range(ROUNDS):
            if code == WAITING:
                code, output = self.forge(APPROVE)
        return (0 if "RUN-002" in output else code), output

    def undo(self) -> None:
        """Check out again what a person left."""
        self.git(self.world.path, "checkout", "-q", "main")
        if self.tree != self.world.path:
            branch = json.loads((self.world.here / REPORTS).read_text().splitlines()[0])["branch"]
            self.git(self.tree, "checkout", "-q", branch)

    def check(self) -> None:
        """Look whether the run has ended, and what is left of it."""
        about = f"{self.events}\n{self.world.printed}"
        lines = self.reports()
        assert lines[: len(self.recorded)] == self.recorded, about
        reports = [REPORT.validate_json(line) for line in lines]
        first = reports[0]
        assert isinstance(first, RunStarted)
        state = fold(load_pipeline(first.pipeline, None), reports)
        assert (self.world.here / STATE).read_bytes() == state_file(state), about
        assert state.current_phase_status.value == "completed", about
        code, output = self.forge(("list",))
        assert (code, self.name in output) == (0, True), about
        asked = self.play.asked
        assert asked.total() - len(asked) <= self.world.open_calls(), about
        for name in self.files:
            assert self.world.git("log", "--all", "--format=%h", "--", name), (name, about)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, FaultyPlay]]:
    """A repository before its run, and with a run that waits for its first answer."""
    with FaultyPlay() as play:
        world = World(tmp_path_factory.mktemp("histories"), play)
        world.build()
        world.save("0")
        assert world.forge(*SHORT[0].words)[0] == WAITING, world.printed
        world.save("1")
        yield world, play


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_history_loses_nothing_and_the_run_goes_on(
    begun: tuple[World, FaultyPlay], seed: int
) -> None:
    world, play = begun
    random = Random(seed)  # noqa: S311 - a history, no secret
    world.back(random.choice("0111"))
    play.fresh()
    history = History(world, play, random)
    history.recorded = history.reports()
    for _ in range(EVENTS):
        history.happen()
    code, output = history.go_on()
    if code != 0:
        assert len(ERROR.findall(output)) == 1, (history.events, output)
        history.undo()
        code, output = history.go_on()
    assert code == 0, (history.events, output)
    history.check()
