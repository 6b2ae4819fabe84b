"""A repository, a state folder and a model provider, in which one run is performed, killed, gone on
with, and looked at.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forge_bot.engine import REPORT, fold
from forge_bot.engine.reports import RunStarted
from forge_bot.git import blob_id
from forge_bot.git.revisions import ENDED
from forge_bot.resources import templates
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import REPORTS, SPECS, STATE, state_file
from tests.fakes.sample import by_script
from tests.fakes.warm_python import warm_python
from tests.recovery.play import Play
from tests.recovery.scripts import MODEL

WAITING = 3
_DURATION = re.compile(
    r"\d+(\.\d+)? ?(ms|s)\b|\| \d+\.\d+ \||\brecord=[0-9a-f]{40}\b|\d{4}(-\d\d){2} \d\d:\d\d UTC"
)
_RANDOM_KEY = re.compile(r"^(start|answer|command|shown|retry|update)-[0-9a-f]{32}$")

_WORKING = {"run", "resume", "approve", "reject", "done", "skip", "retry", "continue", "update"}


@dataclass(frozen=True)
class Standing:
    """Everything a run has brought about, without times and ids."""

    name: str
    code: Mapping[str, str]
    """Files of the branch outside the record, by name and blob."""
    artifacts: Mapping[str, str]
    reports: Sequence[Any]
    commits: Sequence[str]
    """Subjects and trailers of the run's commits, oldest first."""
    uncommitted: Sequence[str]
    branches: Mapping[str, str]
    """The trees of the other branches: the base and the one for merge."""
    kept: Sequence[str]
    """The ended runs whose records are kept."""
    work_trees: int


@dataclass
class World:
    """All of it lies below `root`."""

    root: Path
    play: Play
    extra: dict[str, str] = field(default_factory=dict[str, str])
    """More environment for forge-bot."""
    place: str = "rota"
    """The folder of the repository."""
    processes: dict[int, subprocess.Popen[bytes]] = field(
        default_factory=dict[int, "subprocess.Popen[bytes]"]
    )

    @property
    def path(self) -> Path:
        """The repository."""
        return self.root / self.place

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.root / "state"

    def build(self) -> None:
        """Make the sample repository."""
        sample = templates() / "demo" / "repository"
        shutil.copytree(
            sample, self.path, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
        self.state.mkdir(exist_ok=True)
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "start"]):
            self.git(*words)

    def git(self, *words: str, folder: Path | None = None) -> str:
        """What git says."""
        environment = {**os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c"}
        environment |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c"}
        done = subprocess.run(
            ["git", "-C", str(folder or self.path), *words],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return done.stdout.rstrip("\n")

    @property
    def environment(self) -> dict[str, str]:
        """What forge-bot is started with."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "PYTEST_", "COV_"))
        }
        return {
            **kept,
            "OPENAI_BASE_URL": f"{self.play.url}/v1",
            "OPENAI_API_KEY": "none",
            "XDG_STATE_HOME": str(self.state),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **self.extra,
        }

    # -- performing
    # ----------------------------------------------------------------------------------------------

    @property
    def out(self) -> Path:
        """What all processes printed."""
        return self.root / "out.txt"

    def start(self, words: Sequence[str], more: Mapping[str, str] | None = None) -> int:
        """Begin an invocation; its process id. The work tree stays, since it is looked at."""
        keep = ("--keep",) if words[0] in _WORKING else ()
        with self.out.open("ab") as out:
            process = subprocess.Popen(
                [warm_python(), "-m", "forge_bot", *words, *by_script(words), *keep],
                cwd=self.path,
                env={**self.environment, **(more or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        self.processes[process.pid] = process
        return process.pid

    def wait(self, pid: int) -> int:
        """The exit code of a process, negative for the signal that ended it."""
        return self.processes.pop(pid).wait(90)

    def forge(self, *words: str) -> tuple[int, str]:
        """A whole invocation: its exit code, and what it printed."""
        before = self.out.stat().st_size if self.out.exists() else 0
        code = self.wait(self.start(words))
        return code, self.out.read_bytes()[before:].decode()

    def to_the_end(self, answers: Sequence[Sequence[str]], *more: str) -> int:
        """Go on with the run, answer its questions in this order (those on record are passed over);
        the last exit code.
        """
        code, _ = self.forge("resume", *MODEL, *more)
        while code == WAITING and self.decisions < len(answers):
            code, _ = self.forge(*answers[self.decisions], *more)
        return code

    def save(self, name: str) -> None:
        """Keep the whole world under a name."""
        self._copy(self.root, self.root / "saved" / name)

    def back(self, name: str) -> None:
        """Put everything back to what was kept."""
        self.move("rota")
        for folder in ("rota", "state"):
            shutil.rmtree(self.root / folder)
        self.out.unlink(missing_ok=True)
        self._copy(self.root / "saved" / name, self.root)

    def move(self, place: str) -> None:
        """Give the repository another folder."""
        before, self.place = self.path, place
        before.rename(self.path)

    def _copy(self, origin: Path, target: Path) -> None:
        for folder in ("rota", "state"):
            shutil.copytree(origin / folder, target / folder, symlinks=True)

    # -- looking
    # ----------------------------------------------------------------------------------------------

    @property
    def workspace(self) -> Path | None:
        """The run's folder in its work tree, if there is one with reports."""
        found = sorted(self.state.glob("forge-bot/*/tree/.specs/*/reports.jsonl"))
        return next((file.parent for file in found if b"\n" in file.read_bytes()), None)

    @property
    def branch(self) -> str:
        """The run's branch; empty while there is no run."""
        names = self.git("branch", "--format=%(refname:short)").split()
        return next((name for name in names if name.startswith("feature/")), "")

    @property
    def here(self) -> Path:
        """The run's folder in its work tree."""
        (tree,) = self.state.glob("forge-bot/*/tree")
        return tree / self._folder

    @property
    def _folder(self) -> str:
        """The path of the run's folder on its branch."""
        return self.git("ls-tree", "--name-only", self.branch, f"{SPECS}/")

    @property
    def tree(self) -> Path:
        """The run's work tree."""
        return self.here.parents[1]

    @property
    def decisions(self) -> int:
        """How many answers of a person are on record."""
        record = self.git("show", f"{self.branch}:{self._folder}/{REPORTS}")
        return sum(json.loads(line)["type"] == "answered" for line in record.splitlines())

    @property
    def printed(self) -> str:
        """What all processes since the world was put back have printed."""
        return self.out.read_text()

    def open_calls(self) -> int:
        """Questions that went out and whose answer is not in the journal."""
        text = "".join(file.read_text() for file in self.state.rglob("journal.jsonl"))
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        entries = [line["entry"] for line in lines]
        entries += ["started" for line in lines if line.get("ticket", "") is None]
        return entries.count("started") - entries.count("finished") - entries.count("failed")

    def standing(self) -> Standing:
        """What the run has brought about so far."""
        listed = [
            line.split(None, 3) for line in self.git("ls-tree", "-r", self.branch).splitlines()
        ]
        files = {path: blob for _, _, blob, path in listed}
        artifacts = {
            path.name: _DURATION.sub("…", path.read_text()) for path in self.here.iterdir()
        }
        reports = [
            _timeless(json.loads(line)) for line in artifacts.pop("reports.jsonl").splitlines()
        ]
        del artifacts["state.json"]
        # It has a digest of the reports, with their times.
        artifacts.pop("evidence.json", None)
        form = "--format=%s%n%(trailers:only,unfold)%x00"
        log = self.git("log", "--first-parent", "--reverse", form, f"main..{self.branch}").split(
            "\0"
        )
        return Standing(
            name=self.here.name,
            code={path: blob for path, blob in files.items() if not path.startswith(".specs/")},
            artifacts=artifacts,
            reports=reports,
            commits=[
                entry.strip() for entry in log if "keep the record" not in entry and entry.strip()
            ],
            uncommitted=self.git("status", "--porcelain", folder=self.tree).splitlines(),
            branches={
                branch: self.git("rev-parse", f"{branch}^{{tree}}")
                for branch in self.git("branch", "--format=%(refname:short)").split()
                if branch != self.branch
            },
            kept=[*self._kept()],
            work_trees=self.git("worktree", "list", "--porcelain").count("worktree "),
        )

    def _kept(self) -> dict[str, str]:
        """The trees of the records of ended runs, by the names of the runs."""
        refs = self.git("for-each-ref", "--format=%(refname)", ENDED).split()
        names = {ref.rpartition("/")[2]: ref for ref in refs}
        return {n: self.git("rev-parse", f"{ref}:{SPECS}/{n}") for n, ref in names.items()}

    def contradictions(self) -> list[str]:
        """Files of the run that say something else than its reports."""
        lines = (self.here / REPORTS).read_text().splitlines()
        reports = [REPORT.validate_json(line) for line in lines]
        first = reports[0]
        assert isinstance(first, RunStarted)
        state = fold(load_pipeline(first.pipeline, None), reports)
        said = {STATE: blob_id(state_file(state))}
        said |= {name: record.blob for name, record in state.artifacts.items()}
        found = [
            name for name, blob in said.items() if blob_id((self.here / name).read_bytes()) != blob
        ]
        kept = self._kept().get(self.here.name)
        own = self.git("rev-parse", f"{self.branch}:{SPECS}/{self.here.name}")
        return found + (["the kept record"] if kept not in {None, own} else [])

    def leftovers(self) -> list[str]:
        """Locks and half-written files that a killed process left, where they could stand in
        somebody's way.
        """
        names = [*self.tree.rglob("*"), *(self.path / ".git").rglob("*.lock")]
        return [
            str(path.relative_to(self.root))
            for path in names
            if path.name.endswith((".tmp", ".lock")) and "forge-bot" not in path.parent.name
        ]


def _timeless(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what differs between two runs that do the same."""
    key = str(report.get("key", ""))
    kept = {name: value for name, value in report.items() if name not in {"at", "blob", "key"}}
    if "@" not in key and not _RANDOM_KEY.match(key):
        kept["key"] = key
    if "usage" in kept:
        kept["usage"] = {**kept["usage"], "durationMs": 0, "duration_ms": 0}
    if "results" in kept:
        kept["results"] = [{**each, "durationMs": 0, "duration_ms": 0} for each in kept["results"]]
    return kept
