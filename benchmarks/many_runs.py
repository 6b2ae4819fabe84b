"""Listing runs by the number of branches and past runs, and the profile of a large tree."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.mcp_client import connected
from benchmarks.measuring import CHILDREN, WALL, Figure, Row, as_a_user, measured, summed_up, timed
from forge_bot.git import Repository
from forge_bot.mcp_server.service import Service
from forge_bot.resources import templates
from forge_bot.runs.finding_runs.find_runs import runs
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.project_commands.kept_profiles import profile_at
from forge_bot.settings import Config
from forge_bot.settings.config import CONFIG
from forge_bot.store import SPECS
from tests.fakes import script
from tests.fakes.many_branches import imported, repository_with
from tests.fakes.processes import started_by

TIMES = 7
_OURS = Path(__file__).parents[1]
_SIZES = ((60, 0), (60, 40), (1_000, 40), (60, 10_000))
_FILES = 20_000
_TOOL = (
    "import sys; from benchmarks.many_runs import tool_seconds; print(tool_seconds(*sys.argv[1:]))"
)
_PROFILE = (
    "import sys, time; from pathlib import Path;"
    " from forge_bot.git import Repository;"
    " from forge_bot.runs.project_commands.kept_profiles import profile_at;"
    " from forge_bot.settings import Config; found = Repository.find(Path.cwd());"
    " commit = found.head().commit; start = time.perf_counter();"
    " profile_at(found, commit, Config()); print(time.perf_counter() - start)"
)


def rows() -> Iterator[Row]:
    """Each repository is made anew, so that a first look is one that nothing is known for."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        os.environ["XDG_STATE_HOME"] = f"{name}/state"
        for merged, branches in _SIZES:
            yield from _listed(Path(name) / f"{merged}-{branches}", merged, branches)
        yield from _large(Path(name) / "large")


def _listed(root: Path, merged: int, branches: int) -> Iterator[Row]:
    repository = repository_with(root, merged=merged, branches=branches)
    said = f"{branches:,} branches, {merged:,} past runs"
    calls = len(started_by(lambda: runs(repository)))
    yield Row("runs, calls of git", said, 1, Figure(calls, calls, calls, ""))
    again = measured(lambda: runs(repository), TIMES, clock=WALL)
    yield Row("runs, asked again", said, TIMES, again)
    desk = Service(root)
    made = timed(lambda: desk.queries.search("title", "runs", 5))
    yield Row("history_search, no memory kept", said, 1, summed_up([made]))
    place = f"{SPECS}/{repository.list_folders('main', SPECS).popitem()[0]}"
    for what, ask in _tools(desk, place).items():
        first = summed_up([_cold(root, _TOOL, what, place) for _ in range(3)])
        yield Row(f"{what}, first of a process", said, 3, first)
        yield Row(f"{what}, asked again", said, TIMES, measured(ask, TIMES, clock=WALL))
    for what, tool, arguments in (
        ("orient", "forge_orient", {}),
        ("history_search", "history_search", {"query": "title"}),
    ):
        took = [_with_the_greeting(root, tool, **arguments) for _ in range(3)]
        yield Row(f"{what}, with the greeting", said, 3, summed_up(took))
    listed = [timed(lambda: _forge(root, "list")) for _ in range(3)]
    yield Row("forge-bot list", said, 3, summed_up(listed))


def _tools(desk: Service, place: str) -> dict[str, Callable[[], object]]:
    return {
        "orient": lambda: desk.queries.orient("L1"),
        "run_list": lambda: desk.queries.run_list(ended=True),
        "resume_info": lambda: desk.queries.resume_info(place),
        "history_search": lambda: desk.queries.search("title", "runs", 5),
    }


def tool_seconds(what: str, place: str) -> float:
    """Seconds that the first call of a tool takes in this process."""
    return timed(_tools(Service(Path.cwd()), place)[what])


def _with_the_greeting(root: Path, tool: str, **arguments: object) -> float:
    """Seconds that a tool takes which a client calls as soon as it is greeted."""
    with connected("-m", "forge_bot", "mcp", folder=root) as client:
        return timed(lambda: client.use(tool, **arguments))


def large_repository(root: Path) -> Repository:
    """Return the sample repository among 20,000 files more."""
    sample = templates() / "demo" / "repository"
    files = {
        str(path.relative_to(sample)): path.read_bytes()
        for path in sample.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    # The time is ours: what the project's own commands take is not.
    files[CONFIG] = b'commands: {setup: [["true"]], build: [], test: [["true"]], lint: []}\n'
    names = (f"src/part{number % 200}/file{number}.py" for number in range(_FILES))
    files |= {name: f"# {name}\n".encode() for name in names}
    return imported(root, [("main", "", files)])


def _large(root: Path) -> Iterator[Row]:
    repository = large_repository(root)
    said = f"{_FILES:,} files"
    # The first one pays for room on the disk that later ones find.
    _, alone = (timed(lambda name=name: _work_tree(repository, name)) for name in ("a", "b"))
    yield Row("git worktree add", said, 1, summed_up([alone]))
    commit = repository.head().commit
    yield Row(
        "profile, made",
        said,
        1,
        summed_up([timed(lambda: profile_at(repository, commit, Config()))]),
    )
    assert list(repository.kept.glob("profile-*"))
    yield Row("profile, kept", said, 3, summed_up([_cold(root, _PROFILE) for _ in range(3)]))
    model = script.write(root.with_suffix(".jsonl"), None)
    for words in (("run", "Say who is next", "--effort", "M"), ("approve", "--by-script")):
        before = CHILDREN()
        took = timed(lambda words=words: _forge(root, *words, "--model", model))
        yield Row(f"forge-bot {words[0]}", said, 1, summed_up([took]))
        share = summed_up([CHILDREN() - before])
        yield Row("… processor time, git included", f"{words[0]}, {said}", 1, share)


def _work_tree(repository: Repository, name: str) -> None:
    """Have git make a work tree, which a run cannot do without."""
    place = str(repository.root.with_name(name))
    words = ("worktree", "add", "-q", "--detach", place)
    subprocess.run(["git", "-C", str(repository.root), *words], check=True)


def _cold(root: Path, *words: str) -> float:
    """Seconds in a process of its own, its start not counted."""
    done = subprocess.run(
        [sys.executable, "-c", *words],
        cwd=root,
        env=as_a_user(PYTHONPATH=str(_OURS)),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def _forge(root: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "forge_bot", *words],
        cwd=root,
        env=as_a_user(),
        check=False,
        stdout=subprocess.DEVNULL,
    ).returncode
    if done not in {Outcome.DONE, Outcome.WAITING}:
        raise RuntimeError(f"forge-bot {words[0]} ended with {done}")
