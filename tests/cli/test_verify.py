"""`forge-bot verify` says part by part what holds of a run's evidence, and refuses what was edited."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.evidence_of_run import verify_evidence
from forge_bot.settings.config import load_config
from tests.fakes import script
from tests.fakes.github import FakeGitHub
from tests.fakes.sample import Sample

Edit = Callable[[str], str]
FIX = script.document(*script.HEADINGS["architect"], title="fix: name nobody before the start")


@pytest.fixture
def ended(asked_sample: Sample) -> Sample:
    """A run that a person approved and that is over."""
    assert asked_sample.forge("approve", "--model", asked_sample.model()).code == 0
    return asked_sample


def ref(sample: Sample) -> str:
    return sample.git("for-each-ref", "--format=%(refname)", "refs/forge-bot/runs")


def run_of(sample: Sample) -> str:
    return ref(sample).rpartition("/")[2]


def point(sample: Sample, commit: str) -> None:
    """Let the record's ref have a commit as the run's last one."""
    tree = f"{commit}^{{tree}}"
    sample.git("update-ref", ref(sample), sample.git("commit-tree", tree, "-p", commit, "-m", "x"))


def edited(sample: Sample, tmp_path: Path, edits: dict[str, Edit]) -> None:
    """Add a commit to the record in which some of its files were edited."""
    last = sample.git("rev-parse", f"{ref(sample)}^1")
    index = {**os.environ, "GIT_INDEX_FILE": str(tmp_path / "index")}

    def git(*words: str, text: str = "") -> str:
        command = ["git", "-C", str(sample.path), *words]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, env=index
        )
        return done.stdout.strip()

    git("read-tree", last)
    for name, edit in edits.items():
        path = f".specs/{run_of(sample)}/{name}"
        text = edit(git("show", f"{last}:{path}") + "\n")
        blob = git("hash-object", "-w", "--stdin", text=text)
        git("update-index", "--cacheinfo", f"100644,{blob},{path}")
    point(sample, git("commit-tree", git("write-tree"), "-p", last, "-m", "x"))


def stating(change: Callable[[dict[str, object]], object]) -> Edit:
    """Edit the statement as JSON."""

    def edit(text: str) -> str:
        stated = json.loads(text)
        change(stated)
        return json.dumps(stated, indent=2)

    return edit


def replacing(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


EXIT = {"reports.jsonl": replacing('"exitCode":', '"exitCode":7')}
TAMPERINGS: dict[str, tuple[str, dict[str, Edit]]] = {
    "request in the statement": (
        "✗ statement: request",
        {"evidence.json": stating(lambda one: one.update(request="0" * 64))},
    ),
    "base": (
        "✗ statement: base",
        {"evidence.json": stating(lambda one: one.update(base="0" * 40))},
    ),
    "head": (
        "✗ statement: head",
        {"evidence.json": stating(lambda one: one.update(head=one["base"]))},
    ),
    "digest": (
        "✗ statement: approvals",
        {"evidence.json": replacing('"digest": "', '"digest": "0')},
    ),
    "exit code": (
        "✗ statement: commands",
        {"evidence.json": replacing('"exitCode": ', '"exitCode": 7')},
    ),
    "model": ("✗ statement: models", {"evidence.json": replacing('"model": "', '"model": "best-')}),
    "exit code in the record": ("✗ history", EXIT),
    "digest in the record": (
        "contradicts itself",
        {"reports.jsonl": replacing('"digest":"', '"digest":"f00')},
    ),
    "state": ("✗ state", {"state.json": replacing('"completed"', '"abandoned"')}),
    "request": ("✗ request", {"request.md": lambda text: text + "And remove the tests.\n"}),
    "no statement": ("✗ record", {"evidence.json": lambda _: ""}),
    "no JSON": ("is no JSON", {"evidence.json": lambda _: "{"}),
}


def test_all_holds_of_a_run_that_nobody_edited_and_each_tampering_is_refused_by_name(
    ended: Sample, tmp_path: Path
) -> None:
    there, run = ended.git("rev-parse", ref(ended)), run_of(ended)
    done = ended.forge("verify", run)
    assert done.code == 0, done.out
    assert "✗" not in done.out
    for name, (said, edits) in TAMPERINGS.items():
        edited(ended, tmp_path, edits)
        refused = ended.forge("verify", run)
        assert refused.code == 2, name
        assert said in " ".join(refused.out.split()), (name, refused.out)
        ended.git("update-ref", ref(ended), there)
    point(ended, ended.git("rev-parse", "main"))
    assert "✗ record" in ended.forge("verify", run).out, "the ref leads elsewhere"


def test_the_pull_request_names_a_commit_that_the_record_has_to_contain_and_its_head_is_covered(
    ended: Sample, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (ended.workspace / "pull-request.md").read_text()
    offered = json.loads(ended.forge("status", "--json").out)["pullRequestBranch"]
    repo = github.repository("acme/rota")
    refs = ("refs/heads/main", f"refs/heads/{offered}", ref(ended))
    repo.bare.git("fetch", "-q", str(ended.path), *(f"+{name}:{name}" for name in refs))
    ended.git("remote", "add", "origin", f"{github.url}/acme/rota.git")
    for name, value in {"GITHUB_SERVER_URL": github.url, "GITHUB_API_URL": github.url}.items():
        monkeypatch.setenv(name, value)
    pull = github.pull(repo, offered)
    pull.body = body
    assert ended.forge("verify", f"#{pull.number}").code == 0
    tree = f"{ended.git('rev-parse', 'main')}^{{tree}}"
    other = ended.git("commit-tree", tree, "-p", offered, "-m", "somebody's")
    repository, run = Repository.find(ended.path), run_of(ended)
    lines = verify_evidence(repository, load_config(ended.path), run, other, other)
    refused = {line.part: line.said for line in lines if not line.holds}
    assert "which the pull request names" in refused.pop("record")
    tip = ended.git("rev-parse", offered)[:12]
    assert refused == {"head": f"evidence covers {tip}; 1 commit since"}
