"""Restore the record of a run that cannot be read, from the commits of its branch."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from forge_bot.errors import ReportsDamaged
from forge_bot.git import Repository, Tree
from forge_bot.remedies import StartRun
from forge_bot.runs.last_known_head import LastKnownHead
from forge_bot.runs.resolve import RunInfo
from forge_bot.runs.run import held_tree
from forge_bot.runs.snapshot_of_run import folded
from forge_bot.settings import Config
from forge_bot.store import SPECS, Content
from forge_bot.store.run_folder import REPORTS
from forge_bot.values import Frozen

_SHORT = 12


class Repaired(Frozen):
    """The result of a repair; all empty if the record can be read."""

    commit: str = ""
    lost: tuple[str, ...] = ()
    rescued: str = ""


def repair(repository: Repository, info: RunInfo, config: Config) -> Repaired:
    """Restore the newest record on the run's branch that can be read, with the files the run had at
    that commit.

    What is uncommitted is kept under a ref, and files that the run did not commit stay as they are.
    The branch gets one more commit. Raise ReportsDamaged if no commit has a record that can be
    read, and what opening a run raises.
    """
    with held_tree(repository, info) as (spots, tree, _):
        record = f"{SPECS}/{info.name}/{REPORTS}"
        damaged = _content(tree.path / record)
        head = tree.head()
        committed = repository.read(head.commit, record) or b""
        # What is missing at the end of the file comes back from the last commit when the run is
        # opened.
        current = committed if committed.startswith(damaged) else damaged
        if _readable(repository, config, info.name, current):
            return Repaired()
        commit, restored = _newest_readable(repository, config, info.name, head.commit)
        trail = LastKnownHead(spots.trail)
        trail.begin()
        rescued = tree.rescue(f"{info.name}-repair") or ""
        paths = _paths_of_run(tree, info.name, commit)
        tree.restore(commit, paths)
        tree.commit(
            f"forge-bot: restore the record as of {commit[:_SHORT]}",
            [("Forge-Run", info.name)],
            paths,
        )
        trail.leave(tree.head().commit, Content.of(restored))
        return Repaired(commit=commit, lost=tuple(_lost(damaged, restored)), rescued=rescued)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _readable(repository: Repository, config: Config, run: str, raw: bytes) -> bool:
    try:
        folded(repository, config, raw, run)
    except ReportsDamaged:
        return False
    return True


def _newest_readable(
    repository: Repository, config: Config, run: str, head: str
) -> tuple[str, bytes]:
    record = f"{SPECS}/{run}/{REPORTS}"
    for commit in repository.versions(head, record):
        raw = repository.read(commit, record)
        if raw and _readable(repository, config, run, raw):
            return commit, raw
    raise ReportsDamaged(
        f"No commit of the branch has a {record} that can be read.",
        hint="The branch and its commits stay as they are.",
        remedy=StartRun(),
    )


def _paths_of_run(tree: Tree, run: str, since: str) -> tuple[str, ...]:
    """Return the paths that differ from `since` and that the run has committed; other people's
    files are not among them.
    """
    mine = [commit.id for commit in tree.commits(since) if ("Forge-Run", run) in commit.trailers]
    committed = {path for commit in mine for path in tree.changed(f"{commit}^", commit)}
    folder = f"{SPECS}/{run}/"
    return tuple(
        path for path in tree.changed(since) if path in committed or path.startswith(folder)
    )


def _lost(damaged: bytes, restored: bytes) -> Iterator[str]:
    """Yield a description of each line that the restored record does not have."""
    kept = Counter(restored.split(b"\n"))
    for line in damaged.split(b"\n"):
        if kept[line]:
            kept[line] -= 1
        elif line.strip():
            yield _described(line)


def _described(line: bytes) -> str:
    try:
        value: Any = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return "a line that is not JSON"
    report = cast("dict[str, object]", value)
    words = [
        str(report[name])
        for name in ("at", "type", "phase", "gate", "task", "artifact", "answer", "by")
        if report.get(name)
    ]
    return " ".join(words)[:200]
