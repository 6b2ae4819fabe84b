"""Repositories with many branches and many runs, made by git-fast-import(1)."""

import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from forge_bot.engine import REPORT, State, start
from forge_bot.engine.reports import RunStarted
from forge_bot.git import Repository
from forge_bot.store import SPECS
from forge_bot.values import Effort
from tests.fakes.bench import DEVELOP, START

_FIRST = 1_700_000_000
_PACKED = ("-c", "fastimport.unpackLimit=1")
"""However few objects there are, they are in a pack, as after a clone."""


def record(branch: str) -> dict[str, bytes]:
    """The files of a run's folder, by path: its first report and its state."""
    begun = START - timedelta(days=400)
    name = f"{begun:%Y%m%d}-{branch.rpartition('/')[2]}"
    first = RunStarted(
        key="start",
        at=begun,
        run=name,
        pipeline="develop",
        title=f"Title of {branch}",
        effort=Effort.S,
        effort_reason="asked for",
        branch=branch,
        base_branch="main",
        base_commit="0" * 40,
        request_blob="0" * 40,
        request_hash="0" * 64,
    )
    state: State = start(DEVELOP, first)
    return {
        f"{SPECS}/{name}/reports.jsonl": REPORT.dump_json(first) + b"\n",
        f"{SPECS}/{name}/state.json": state.model_dump_json().encode(),
        f"{SPECS}/{name}/request.md": f"# Title of {branch}\n\nPlease.\n".encode(),
    }


def imported(root: Path, commits: list[tuple[str, str, dict[str, bytes]]]) -> Repository:
    """A repository with one commit for each branch, its parent branch and its files; `main` is
    checked out.
    """
    _git(root.parent, "init", "--quiet", "--initial-branch=main", str(root))
    _git(root, *_PACKED, "fast-import", "--quiet", stdin=b"".join(_stream(commits)))
    _git(root, "reset", "--quiet", "--hard", "main")
    return Repository.find(root)


def _stream(commits: list[tuple[str, str, dict[str, bytes]]]) -> Iterator[bytes]:
    for number, (branch, parent, files) in enumerate(commits):
        yield f"commit refs/heads/{branch}\n".encode()
        yield f"committer A <a@b.c> {_FIRST + number} +0000\ndata 1\n.\n".encode()
        if parent:
            yield f"from refs/heads/{parent}\n".encode()
        for path, data in files.items():
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
        yield b"\n"


def _git(folder: Path, *words: str, stdin: bytes | None = None) -> None:
    subprocess.run(["git", "-C", str(folder), *words], input=stdin, capture_output=True, check=True)
