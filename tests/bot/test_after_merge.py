"""After a pull request was merged, its branches deleted and everything cleaned up, the run is found
from a fresh clone, what its texts link to is there, and nothing is asked again.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forge_bot.engine.gates import digest
from forge_bot.engine.phases import GatePhase
from forge_bot.engine.state import ShownVersion
from forge_bot.git import Repository, blob_id
from forge_bot.knowledge.past_runs import DocumentNames
from forge_bot.runs.finding_runs.ended_runs import fetch_ended
from forge_bot.runs.finding_runs.find_runs import runs
from forge_bot.runs.past_runs.past_run_reader import history_at
from forge_bot.values import PhaseId
from tests.bot.kept import Kept
from tests.bot.stage import TITLE, Stage, heard
from tests.fakes.bench import DEVELOP
from tests.fakes.sample import Sample

pytestmark = pytest.mark.slow

WAYS = {
    "squash": (["merge", "--squash", "OFFERED"], ["commit", "-q", "-m", "Squashed (#2)"]),
    "merge": (["merge", "-q", "--no-ff", "-m", "Merge pull request #2", "OFFERED"],),
    "rebase": (["rebase", "-q", "--force-rebase", "main", "OFFERED"], ["branch", "-f", "main"]),
}
_LINK = re.compile(r"/(?:blob|tree)/([0-9a-f]{40})(?:/([^\s)\"#?]+))?|/commit/([0-9a-f]{40})")
_BRANCH_LINK = re.compile(r"/(?:blob|tree)/(?![0-9a-f]{40})[^\s)]+")


def _git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@x.example")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _merged(stage: Stage, way: str, folder: Path) -> None:
    """A person merges the pull request in this way, and deletes the branches; then git cleans up
    whatever nothing leads to.
    """
    bare, offered, branch = stage.repo.bare, stage.offered, stage.branch
    pull = stage.pull
    assert pull.pull is not None
    pull.pull.last_head = bare.head(offered)
    work = folder / "work"
    _git(folder, "clone", "-q", str(bare.path), str(work))
    _git(work, "branch", "-q", offered, f"origin/{offered}")
    for words in WAYS[way]:
        _git(work, *(offered if word == "OFFERED" else word for word in words))
    bare.git("fetch", "--quiet", str(work), "main:main")
    at = stage.hub.clock.tick()
    pull.state, pull.closed, pull.pull.merged = "closed", at, at
    stage.issue.state, stage.issue.closed = "closed", at
    for name in (offered, branch):
        bare.set_ref(f"refs/heads/{name}", "")
    bare.git("gc", "--quiet", "--prune=now")


def _digest_of_what_is_kept(clone: Repository, state: Mapping[str, Any], gate: str) -> str:
    """What an approval of the documents binds, from the files that the clone has."""
    phase = DEVELOP.phase(PhaseId(gate))
    assert isinstance(phase, GatePhase)
    files = [
        ShownVersion(name=name, blob=blob_id(raw))
        for name in phase.shows
        if (raw := clone.read(runs(clone)[0].ref, f".specs/{state['run']}/{name}"))
    ]
    assert files
    return digest(phase.id, 1, state["requestHash"], state["baseCommit"], tuple(files), "")


@pytest.mark.parametrize("way", WAYS)
def test_a_merged_run_is_found_recalled_and_done_from_a_fresh_clone(
    landed: Kept, sample: Sample, tmp_path: Path, way: str
) -> None:
    stage = landed.again(tmp_path)
    texts = [stage.pull.body or "", *stage.said(), *stage.said(on=stage.pull)]
    state = stage.state
    name = state["run"]
    _merged(stage, way, tmp_path)
    assert sorted(stage.branches()) == ["main"]
    assert stage.repo.bare.git("ls-tree", "-r", "--name-only", "main", ".specs") == ""

    fresh = tmp_path / "fresh"
    _git(tmp_path, "clone", "-q", str(stage.repo.bare.path), str(fresh))
    clone = Repository.find(fresh)
    assert fetch_ended(clone)
    (found,) = runs(clone)
    assert (found.name, found.ended) == (name, True)
    links = [found for text in texts for found in _LINK.finditer(text)]
    assert links
    for link in links:
        commit, path = link[1] or link[3], link[2] or ""
        assert _git(fresh, "cat-file", "-t", f"{commit}:{path}" if path else commit)
    assert [text for text in texts if _BRANCH_LINK.search(text)] == []
    documents = DocumentNames.of(DEVELOP)
    history = history_at(clone, clone.commit_id("main"), documents)
    assert [entry.name for entry in history.similar(TITLE, exclude="")] == [name]

    shown = sample.forge("show", "summary.md", "--repo", str(fresh))
    assert (shown.code, shown.out.strip() != "") == (0, True), shown.err
    (approved,) = [each for each in state["decisions"] if each["answer"] == "approve"]
    assert approved["digest"] == _digest_of_what_is_kept(clone, state, approved["gate"])

    there = {comment.id for comment in stage.issue.comments}
    assert heard(stage.say("/status")).code == 0
    (said,) = [each.body for each in stage.issue.comments if each.id not in there][1:]
    assert "Done" in said
    assert sorted(stage.branches()) == ["main"]
