"""`init` and `doctor` in a clone from GitHub: the workflow, its labels, and every click that is
missing, with its address.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
import yaml

from forge_bot import __version__
from forge_bot.forge import ACTION, WAKE_WORKFLOW, workflow_text
from tests.fakes.github import FakeGitHub, Repository, Role
from tests.fakes.sample import Sample

WORKFLOW = ".github/workflows/forge-bot.yml"


@pytest.fixture
def repo(
    github: FakeGitHub, sample: Sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Repository:
    """The repository on GitHub that the sample is a clone of. Nobody answers where releases of
    forge-bot lie.
    """
    repo = github.repository("acme/rota")
    sample.git("remote", "add", "origin", f"{github.url}/acme/rota.git")
    for name, value in {"GITHUB_SERVER_URL": github.url, "GITHUB_API_URL": github.url}.items():
        monkeypatch.setenv(name, value)
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    released(monkeypatch, tmp_path / "nothing")
    return repo


def released(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let git find what lies at github.com/forge-bot in a folder."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{folder}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/forge-bot/")


def admin(github: FakeGitHub, repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    github.member(repo, "boss", Role.ADMIN)
    monkeypatch.setenv("GITHUB_TOKEN", github.token("boss"))


def test_init_writes_a_short_workflow_that_asks_for_the_key_of_the_model(
    repo: Repository, sample: Sample
) -> None:
    said = sample.forge("init")
    assert said.code == 0
    text = (sample.path / WORKFLOW).read_text()
    assert len(text.splitlines()) <= 40
    assert "ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}" in text
    assert "__" not in text
    assert "and the label forge" in " ".join(said.out.split())
    assert "ANTHROPIC_API_KEY" in said.out


CHECKS = {
    "ci.yml": "name: ci\non:\n  push:\n    branches: [main]\n  pull_request:\n",
    "every.yaml": "name: 'Tests: all'\non: [push]\n",
    "unnamed.yml": "on: pull_request\n",
    "deploy.yml": "name: deploy\non: { push: { branches: [main] } }\n",
    "release.yml": "name: release\non: { push: { tags: ['v*'] } }\n",
    "nightly.yml": "name: nightly\non: { schedule: [ { cron: '0 3 * * *' } ] }\n",
    "called.yml": "name: called\non: workflow_call\n",
    "broken.yml": "name: [\n",
    "list.yml": "- a\n- b\n",
    "forge-bot.yaml": "name: another\non: issues\n",
}
FOUND = ["ci", "Tests: all", ".github/workflows/unnamed.yml"]


def checked(sample: Sample) -> None:
    """The repository has workflows of every kind, those that check pull requests among them."""
    folder = sample.path / ".github" / "workflows"
    folder.mkdir(parents=True)
    for name, text in CHECKS.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_init_names_the_workflows_that_check_pull_requests_since_github_tells_of_them_by_name_only(
    repo: Repository, sample: Sample
) -> None:
    checked(sample)
    said = sample.forge("init")
    read = yaml.load((sample.path / WORKFLOW).read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - text, lists and mappings only
    assert read["on"]["workflow_run"] == {"workflows": FOUND, "types": ["completed"]}
    assert "Tests: all" in said.out
    assert len((sample.path / WORKFLOW).read_text().splitlines()) <= 40


def test_the_workflow_is_held_fast_by_the_commit_of_the_release_and_without_one_init_says_so(
    repo: Repository, sample: Sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unheld = sample.forge("init")
    assert f"{ACTION}@v{__version__}" in (sample.path / WORKFLOW).read_text()
    assert "that release is not published" in " ".join(unheld.out.split())
    (sample.path / WORKFLOW).unlink()

    release = tmp_path / "releases" / "forge-bot"
    subprocess.run(["git", "clone", "-q", str(sample.path), str(release)], check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(
        ["git", *who, "-C", str(release), "tag", "-a", f"v{__version__}", "-m", "x"], check=True
    )
    released(monkeypatch, tmp_path / "releases")
    held = sample.forge("init")
    commit = sample.git("rev-parse", "HEAD")
    assert f"{ACTION}@{commit} # v{__version__}\n" in (sample.path / WORKFLOW).read_text()
    assert f"it uses the release {ACTION}@{commit}" in " ".join(held.out.split())


def published(github: FakeGitHub) -> str:
    """The action is there; the id of its commit."""
    return github.commit(github.repository(ACTION), "main", {"action.yml": "name: forge-bot\n"})


def ready(
    github: FakeGitHub,
    repo: Repository,
    key: str = "ANTHROPIC_API_KEY",
    changes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Everything is set up; `changes` are made in the workflow's text."""
    text = workflow_text(f"{ACTION}@{published(github)} # v0.1.0", key)
    for old, new in changes.items():
        text = text.replace(old, new)
    repo.actions_may_open_pulls = True
    repo.secrets.append(key)
    github.label(repo, "forge")
    github.commit(repo, "main", {WORKFLOW: text})
    github.protect(repo, "main")


def test_doctor_looks_at_a_repository_on_github_without_a_clone_or_a_key_of_a_model(
    repo: Repository,
    github: FakeGitHub,
    sample: Sample,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    admin(github, repo, monkeypatch)
    monkeypatch.chdir(tmp_path)
    unready = sample.forge("doctor", "--github", "acme/rota")
    assert unready.code == 5
    assert f"{WORKFLOW} is not on main" in unready.out
    assert "model" not in unready.out
    ready(github, repo)
    content = sample.forge("doctor", "--github", "acme/rota")
    assert (content.code, content.err) == (0, "")
    assert "!" not in content.out
    wrong = sample.forge("doctor", "--github", "rota")
    assert wrong.code == 2


def test_doctor_says_what_stops_the_bot_on_github_and_what_to_do(
    repo: Repository, github: FakeGitHub, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin(github, repo, monkeypatch)
    changes = {
        f"{ACTION}@": f"{ACTION}@v9.9.9 # ",
        "runs-on:": "environment: models\n    runs-on:",
        "issues: write": "issues: read",
    }
    ready(github, repo, changes=changes)
    github.commit(repo, "main", {WAKE_WORKFLOW: "on: schedule\n"})
    repo.workflow_state = "disabled_inactivity"
    repo.secrets.clear()
    github.protect(repo, "feature/1-example", signatures=True)
    del repo.protections["main"]
    said = sample.forge("doctor", "--github", "acme/rota").out
    page = f"{github.url}/acme/rota"
    workflows = f"{page}/actions/workflows"
    for problem, step in {
        f"{WORKFLOW} is switched off (disabled_inactivity)": f"{workflows}/forge-bot.yml",
        f"{WAKE_WORKFLOW} is switched off": f"{workflows}/forge-bot-wake.yml",
        f"{ACTION} has no v9.9.9": "init --update",
        "no job has issues: write": "under permissions:",
        "there is no environment models": f"{page}/settings/environments",
        "there is no secret ANTHROPIC_API_KEY": f"{page}/settings/environments",
        "branches of runs: required_signatures": f"{page}/settings/rules",
        "can push to main": f"{page}/settings/rules",
    }.items():
        after = said.partition(problem)[2]
        assert after, problem
        assert step in after.split("→")[1], problem


def test_doctor_tells_what_a_token_may_not_see_and_does_not_call_it_missing(
    repo: Repository, github: FakeGitHub, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", github.actions_token(repo, contents="read", issues="read"))
    said = sample.forge("doctor", "--model", sample.model()).out
    assert "may not see" in said
    assert "Actions may not open" not in said
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_unknown")
    assert "token" in sample.forge("doctor", "--model", sample.model()).out.partition("GitHub")[2]
