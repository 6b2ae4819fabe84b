"""Runs are found on many branches: one broken branch hides no other, and a clone without all
objects shows what it has.
"""

import subprocess
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.finding_runs.find_runs import runs
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from tests.fakes.many_branches import imported, record, repository_with

pytestmark = pytest.mark.slow


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


def _clone(repository: Repository, place: Path, *options: str) -> Repository:
    subprocess.run(
        ["git", "-C", str(repository.root), "config", "uploadpack.allowFilter", "true"], check=True
    )
    address = repository.root.as_uri()
    subprocess.run(["git", "clone", "-q", *options, address, str(place)], check=True)
    return Repository.find(place)


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
