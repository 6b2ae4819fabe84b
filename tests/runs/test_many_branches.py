"""Listing runs starts as many git processes with many branches and many runs as with few, and one
broken branch hides no other.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from forge_bot.git import GitObject, ObjectReader, Repository
from forge_bot.mcp_server.service import Service
from forge_bot.runs.finding_runs.find_runs import runs
from forge_bot.runs.finding_runs.record_heads import LOOKED_AT
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.outcome import Outcome
from forge_bot.settings.config import CONFIG
from tests.fakes.many_branches import imported, record, repository_with
from tests.fakes.processes import CountedGit, started_by
from tests.fakes.sample import Sample
from tests.fakes.steps import calls_in

pytestmark = pytest.mark.slow

MOST_FOR_LIST = 5
MOST_FOR_STATUS = 6
MOST_ASKED_AGAIN = 3
MOST_FOR_A_RUN = 74
"""Of a demo with its three branches; more than a third of them are its 18 commits."""

MOST_QUESTIONS = 7
MOST_TO_BEGIN = 25
MOST_TO_APPROVE = 47

Counted = Callable[..., tuple[list[str], str]]


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    """A command in a process of its own: its calls of git, and what it said."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    git = CountedGit(tmp_path / "counted")
    monkeypatch.setenv("PATH", git.path)

    def run(repository: Repository, *words: str) -> tuple[list[str], str]:
        git.calls()
        done = subprocess.run(
            [sys.executable, "-m", "forge_bot", *words],
            cwd=repository.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in {Outcome.DONE, Outcome.WAITING}, done.stderr
        return git.calls(), done.stdout

    return run


def test_a_list_takes_as_many_processes_with_many_branches_as_with_none(
    counted: Counted, tmp_path: Path
) -> None:
    few, said = counted(repository_with(tmp_path / "few", merged=3, branches=0), "list")
    assert "No run yet" in said
    for name, own in (("many", False), ("own", True)):
        calls, said = counted(
            repository_with(tmp_path / name, merged=60, branches=40, own=own), "list"
        )
        assert len(few) <= len(calls) <= MOST_FOR_LIST, calls
        assert said.count("Title of feature/") == (40 if own else 0)


def test_the_status_of_a_run_takes_a_few_processes_however_many_there_are(
    counted: Counted, tmp_path: Path
) -> None:
    counts = set[int]()
    for branches in (1, 40):
        repository = repository_with(
            tmp_path / str(branches), merged=60, branches=branches, own=True
        )
        calls, said = counted(repository, "status", "--run", "feature/0-topic-0")
        assert "Title of feature/0-topic-0" in said
        assert len(calls) <= MOST_FOR_STATUS, calls
        counts.add(len(calls))
    assert len(counts) == 1


def test_a_whole_run_takes_a_limited_number_of_processes(counted: Counted, tmp_path: Path) -> None:
    place = tmp_path / "demo"
    tmp_path.joinpath("r").mkdir()
    repository = imported(tmp_path / "r" / "r", [("main", "", {"readme.txt": b"x\n"})])
    calls, _ = counted(repository, "demo", str(place), "--yes")
    assert len(calls) <= MOST_FOR_A_RUN, calls
    assert len([call for call in calls if call.startswith("rev-parse")]) <= MOST_ASKED_AGAIN


def test_the_beginning_of_a_run_and_an_approval_take_a_limited_number(
    counted: Counted, sample: Sample
) -> None:
    repository = Repository.find(sample.path)
    model = ("--model", sample.model())
    begun, said = counted(repository, "run", "Say who is next", "--effort", "M", *model)
    assert "Human Reviews Design" in said
    assert len(begun) <= MOST_TO_BEGIN, begun
    approved, _ = counted(repository, "approve", "--by-script", *model)
    assert len(approved) <= MOST_TO_APPROVE, approved


SETS_UP = 'commands: {setup: [["true"]], build: [], test: [["true"]], lint: []}\n'


def test_the_files_of_a_work_tree_are_looked_through_where_something_may_have_changed(
    counted: Counted, sample: Sample
) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / CONFIG).write_text(SETS_UP, encoding="utf-8")
    sample.git("add", "--all")
    sample.git("commit", "--quiet", "--message", "Commands")
    repository = Repository.find(sample.path)
    model = ("--model", sample.model())
    begun, _ = counted(repository, "run", "Say who is next", "--effort", "M", *model)
    # The user's own tree, to warn of changes. What the tests left is for the next command.
    assert len(looks(begun)) == 1, begun
    approved, _ = counted(repository, "approve", "--by-script", *model)
    # The run's tree when it is opened and before it is removed. Where commands judge, only what git
    # does not know is looked for: before the task's tests, and before the verification.
    assert len(looks(approved)) == 2, approved
    assert len([call for call in approved if call.startswith("ls-files --others")]) == 2, approved


def looks(calls: list[str]) -> list[str]:
    return [call for call in calls if call.startswith("status")]


TOOLS: dict[str, Callable[[Service, str], object]] = {
    "orient": lambda desk, _run: desk.managing.orient("L1", ""),
    "run_list": lambda desk, _run: desk.managing.run_list(ended=True),
    "resume_info": lambda desk, run: desk.managing.resume_info(run),
    "history_search": lambda desk, _run: desk.managing.history("topic", "runs", 5, ""),
}


class _Reader(ObjectReader):
    """A reader that notes how many objects it was asked for at a time."""

    asked: ClassVar[list[int]] = []

    def read(self, names: Sequence[str]) -> Iterator[GitObject | None]:
        self.asked.extend([len(names)] if names else [])
        return super().read(names)


class _Repository(Repository):
    def objects_by_id(self) -> ObjectReader:
        return _Reader(self.common_dir)


def test_git_is_asked_together_for_what_the_folders_of_runs_hold(tmp_path: Path) -> None:
    found = repository_with(tmp_path / "r", merged=LOOKED_AT, branches=3)
    assert runs(_Repository(found.root, found.common_dir)) == ()
    # The first reports and the states; commits, their trees and the list of folders come before.
    assert sorted(_Reader.asked)[-2:] == [LOOKED_AT, LOOKED_AT]
    assert len(_Reader.asked) <= MOST_QUESTIONS, _Reader.asked


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_of_the_server_asks_git_as_often_with_many_runs(tool: str, tmp_path: Path) -> None:
    counts: list[tuple[int, ...]] = []
    for merged, branches in ((2, 2), (70, 40)):
        root = tmp_path / str(merged)
        repository = repository_with(root, merged=merged, branches=branches, own=True)
        desk = Service([repository.root])
        run = f".specs/{resolve_run(repository, 'feature/0-topic-0').name}"

        def ask(desk: Service = desk, run: str = run) -> object:
            return TOOLS[tool](desk, run)

        counts.append(tuple(len(started_by(ask)) for _ in range(2)))
    assert counts[0] == counts[1]
    assert counts[1][1] <= MOST_ASKED_AGAIN


def test_broken_folders_of_runs_hide_no_run(tmp_path: Path) -> None:
    good = record("feature/1-good")
    broken: dict[str, dict[str, bytes]] = {
        "a-file": {".specs": b"no folder\n"},
        "garbage": {".specs/20260101-garbage/reports.jsonl": b"\xff\xfe{not json}\n" * 9},
        "unended": {".specs/20260101-unended/reports.jsonl": b'{"type": "run_started"'},
        "empty": {".specs/20260101-empty/state.json": b""},
        "a-folder": {".specs/20260101-a-folder/reports.jsonl/inside": b"x\n"},
        "no-state": {path: data for path, data in record("no-state").items() if "reports" in path},
        "broken-state": {
            path: b"{" if path.endswith("state.json") else data
            for path, data in record("broken-state").items()
        },
        "odd-names": {'".specs/2026\\001\\377 odd/reports.jsonl"': b"{}\n"},
    }
    repository = imported(
        tmp_path / "r",
        [
            ("main", "", {"readme.txt": b"text\n"}),
            *((name, "main", files) for name, files in broken.items()),
            ("feature/1-good", "main", good),
        ],
    )
    found = {info.branch: info.status for info in runs(repository)}
    assert found == {
        "feature/1-good": "in_progress",
        "no-state": "unreadable",
        "broken-state": "unreadable",
    }


def test_an_object_that_is_gone_or_broken_hides_only_its_own_branch(tmp_path: Path) -> None:
    repository = repository_with(tmp_path / "r", merged=2, branches=4, own=True)
    git = ["git", "-C", str(repository.root)]
    subprocess.run([*git, "repack", "-q", "-a", "-d"], check=True)
    packs = repository.common_dir / "objects" / "pack"
    for pack in list(packs.glob("*.pack")):
        # Loose objects can be taken away one by one.
        data = pack.read_bytes()
        pack.unlink()
        subprocess.run([*git, "unpack-objects", "-q"], input=data, check=True)
    gone, torn = (
        subprocess.run(
            [*git, "rev-parse", f"feature/{number}-topic-{number}{end}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for number, end in ((0, ""), (1, "^{tree}"))
    )
    loose = repository.common_dir / "objects"
    (loose / gone[:2] / gone[2:]).unlink()
    broken = loose / torn[:2] / torn[2:]
    broken.chmod(0o644)
    broken.write_bytes(b"garbage")
    assert {info.branch for info in runs(repository)} == {"feature/2-topic-2", "feature/3-topic-3"}


def test_ten_thousand_branches_are_listed_by_as_few_processes(tmp_path: Path) -> None:
    repository = repository_with(tmp_path / "r", merged=3, branches=10_000)
    found: list[object] = []
    assert len(started_by(lambda: found.append(runs(repository)))) <= 3
    assert found == [()]


def test_runs_that_hundreds_of_branches_share_are_not_looked_through_for_each(
    tmp_path: Path,
) -> None:
    steps: list[int] = []
    for merged in (2, 40):
        repository = repository_with(tmp_path / str(merged), merged=merged, branches=300)
        runs(repository)
        steps.append(calls_in(lambda repository=repository: runs(repository)))
    assert steps[1] < 1.2 * steps[0], steps


def test_of_the_branches_that_only_remotes_have_the_newest_hundred_are_looked_at(
    tmp_path: Path,
) -> None:
    repository = repository_with(tmp_path / "r", merged=1, branches=102, own=True)
    found = {info.branch for info in runs(_clone(repository, tmp_path / "clone"))}
    assert found == {f"feature/{number}-topic-{number}" for number in range(2, 102)}


def _clone(repository: Repository, place: Path, *options: str) -> Repository:
    subprocess.run(
        ["git", "-C", str(repository.root), "config", "uploadpack.allowFilter", "true"], check=True
    )
    address = repository.root.as_uri()
    subprocess.run(["git", "clone", "-q", *options, address, str(place)], check=True)
    return Repository.find(place)


def test_runs_are_found_in_a_shallow_clone(tmp_path: Path) -> None:
    repository = repository_with(tmp_path / "r", merged=3, branches=3, own=True)
    shallow = _clone(repository, tmp_path / "shallow", "--depth", "1", "--no-single-branch")
    assert [info.branch for info in runs(shallow)] == [info.branch for info in runs(repository)]


@pytest.mark.parametrize("kept", ["blob:none", "tree:0"])
def test_a_partial_clone_fetches_nothing_for_a_list(tmp_path: Path, kept: str) -> None:
    repository = repository_with(tmp_path / "r", merged=3, branches=3, own=True)
    partial = _clone(repository, tmp_path / "partial", f"--filter={kept}")
    before = sorted((partial.common_dir / "objects").rglob("*"))
    found = runs(partial)
    assert sorted((partial.common_dir / "objects").rglob("*")) == before
    if kept == "blob:none":
        # Names are here, records are not.
        assert {(info.branch, info.status) for info in found} == {
            (f"feature/{number}-topic-{number}", "unreadable") for number in range(3)
        }
        assert resolve_run(partial, "feature/1-topic-1").name.endswith("1-topic-1")
