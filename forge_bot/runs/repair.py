"""Restore the record of a run that cannot be read, from the commits of its branch."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, cast

from pydantic import ValidationError

from forge_bot.agent.assignment import place_of
from forge_bot.agent.journal import Journal
from forge_bot.engine import REPORT
from forge_bot.engine.reports import AgentFailed, ArtifactWritten, Asked, CostCounted, Report
from forge_bot.errors import ReportsDamaged
from forge_bot.git import Repository, Tree
from forge_bot.remedies import StartRun
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.snapshot_of_run import folded
from forge_bot.runs.last_known_head import LastKnownHead
from forge_bot.runs.open_run import held_tree, open_run
from forge_bot.runs.run import Run
from forge_bot.settings import Config
from forge_bot.store import SPECS, Content
from forge_bot.store.run_folder import REPORTS
from forge_bot.values import Frozen, Usage

_SHORT = 12


class Repaired(Frozen):
    """The result of a repair; all empty if the record can be read."""

    commit: str = ""
    lost: tuple[str, ...] = ()
    rescued: str = ""
    counted: Usage = Usage()
    """The cost of lost reports that the record counts by one more report."""
    known: Usage = Usage()
    """The cost of replies in the journal, which counts when the run asks the same again."""


def repair(repository: Repository, info: RunInfo, config: Config) -> Repaired:
    """Restore the newest readable record on the run's branch, with the run's files at that commit.

    Uncommitted work is kept under a ref, and files that the run did not commit stay unchanged. The
    branch gets one more commit. The cost of lost reports still counts. Raises ReportsDamaged if no
    commit has a readable record, and the errors of opening a run.
    """
    with held_tree(repository, info) as (places, tree, _):
        record = f"{SPECS}/{info.name}/{REPORTS}"
        damaged = (tree.path / record).read_bytes() if (tree.path / record).is_file() else b""
        head = tree.head()
        committed = repository.read(head.commit, record) or b""
        # What is missing at the end of the file comes back from the last commit when the run is
        # opened.
        behind = committed.startswith(damaged)
        if _readable(repository, config, info.name, committed if behind else damaged):
            if not behind or damaged == committed:
                return Repaired()
            return _put_back(repository, tree, info.name, head.commit)
        commit, restored = _newest_readable(repository, config, info.name, head.commit)
        known_head = LastKnownHead(places.known_head)
        known_head.begin()
        rescued = tree.rescue(f"{info.name}-repair") or ""
        paths = _paths_of_run(tree, info.name, commit)
        tree.restore(commit, paths)
        tree.commit(
            f"forge-bot: restore the record as of {commit[:_SHORT]}",
            [("Forge-Run", info.name)],
            paths,
        )
        known_head.leave(tree.head().commit, Content.of(restored))
        lost = tuple(_lost(damaged, restored))
        journal = Journal(places.journal, {})
    told = tuple(map(_described, lost))
    with open_run(repository, info, config) as run:
        counted, known = _count(run, lost, journal)
    return Repaired(commit=commit, lost=told, rescued=rescued, counted=counted, known=known)


def _put_back(repository: Repository, tree: Tree, run: str, commit: str) -> Repaired:
    """Restore the run's record and its missing files as the last commit has them. Others stay: a
    person may have edited them.
    """
    folder = f"{SPECS}/{run}"
    files = repository.list_files(commit, folder)
    missing = (path for path in files if not (tree.path / path).exists())
    tree.restore(commit, tuple(dict.fromkeys((f"{folder}/{REPORTS}", *missing))))
    return Repaired(commit=commit)


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


def _count(run: Run, lost: Iterable[bytes], journal: Journal) -> tuple[Usage, Usage]:
    """Count the cost of lost reports except replies in the journal; return both amounts.

    A reply in the journal counts when the run asks the same question again.
    """
    counted, known = Usage(), Usage()
    what: list[str] = []
    for line in lost:
        match _report(line):
            case Asked(usage=usage) | CostCounted(usage=usage):
                pass
            case ArtifactWritten(usage=usage) | AgentFailed(usage=usage) as report:
                if journal.has_reply(place_of(report.action_id, report.task)):
                    known += usage
                    continue
            case _:
                continue
        if usage.calls or usage.cost:
            counted += usage
            what.append(_described(line))
    if what:
        words = "; ".join(what)
        key = f"lost-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
        run.tell(CostCounted(key=key, at=run.now(), usage=counted, what=words))
    return counted, known


def _report(line: bytes) -> Report | None:
    try:
        return REPORT.validate_json(line)
    except ValidationError:
        return None


def _lost(damaged: bytes, restored: bytes) -> Iterator[bytes]:
    """Yield each line that the restored record does not have."""
    kept = Counter(restored.split(b"\n"))
    for line in damaged.split(b"\n"):
        if kept[line]:
            kept[line] -= 1
        elif line.strip():
            yield line


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
