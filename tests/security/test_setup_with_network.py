"""Setup runs with network only on the base commit, and on bytes of a manifest that a person
approved.
"""

import subprocess
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from forge_bot.agent.models.base import ModelCall
from forge_bot.engine.reports import Answer as PersonsAnswer
from forge_bot.errors import GitFailed, SetupNotWalled
from forge_bot.git import Repository
from forge_bot.runs.find_runs import resolve_run
from forge_bot.runs.notifications import CommandEnded, Notice
from forge_bot.runs.question import Question
from forge_bot.runs.run_commands import PersonAnswer
from forge_bot.runs.session import Session
from forge_bot.runs.this_process import Outcome
from forge_bot.sentences import hint_of
from forge_bot.settings.config import load_config
from forge_bot.values import CommandResult, Tier
from tests.fakes.rows import rows
from tests.runs.wave_scene import PIPELINE, Answer, Planned, Stage, Talker, done, task_of, wrote
from tests.security.project_scene import Registry, committed, project_in, serving

ROWS = rows(__file__)

INSTALL = """
import os, pathlib, sys, urllib.request
environment = pathlib.Path(sys.argv[1])
try:
    urllib.request.urlopen(os.environ["PIP_INDEX_URL"] + "/%s/" + pathlib.Path("requirements.txt").read_text().strip(), timeout=10).read()
except OSError as error:
    print("refused:", error)
pathlib.Path("modules/tool").write_text("installed\\n")
(environment / "installed-at").write_text(os.getcwd())
"""
TEST: str = ROWS["test"]
VERIFIED = """  - {id: final-verification, kind: verify, label: Final, agent: verifier, tier: fast, reads: [tasks.md], writes: final.md}
  - {id: completed"""
CONFIG = """sandbox: %s
setup_without_namespace: true
commands:
  setup: [[python3, install.py, "{env}"]]
  test: [[python3, check.py, "{env}"]]
"""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Generator[Registry]:
    with serving() as found:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://{found.host}")
        yield found


@pytest.fixture
def stage(wall: str, tmp_path: Path) -> Stage:
    pipeline = PIPELINE.format(parallel=4).replace("  - {id: completed", VERIFIED, 1)
    files = {
        ".forge/config.yml": CONFIG % wall,
        ".forge/pipelines/develop.yaml": pipeline,
        ".gitignore": "build/\n",
        "install.py": INSTALL % "base",
        "check.py": TEST,
        "code.txt": "base\n",
        "requirements.txt": "one\n",
        # Landlock lets a command add files to folders of the work tree, and not to its root.
        "modules/README": "Installed modules.\n",
    }
    return Stage.made(tmp_path / "repo", files)


class Model(Talker):
    """Plans two tasks: one edits what setup runs, the other the code."""

    def __init__(self, edits: Mapping[str, Answer]) -> None:
        super().__init__(
            [Planned("1", ("install.py",)), Planned("2", ("code.txt",))], self._implement
        )
        self.edits = edits

    async def _implement(self, call: ModelCall) -> Answer:
        if call.key.agent == "verifier":
            return {
                "artifact_markdown": (
                    "# Final verification\n\n## Summary\n\nAll commands are green.\n"
                )
            }
        # Where the attack gets through, verification is red and a task to mend it follows.
        return self.edits.get(task_of(call), done())


def go_on(
    folder: Path,
    model: Model,
    until: str | None = None,
    reply: PersonAnswer | None = None,
    asked: list[Question] | None = None,
) -> tuple[Outcome, list[CommandResult]]:
    """Go on with the run; its outcome, and how the project's commands ended. `asked` gets the
    questions.
    """

    def answer(question: Question) -> PersonAnswer | None:
        if asked is not None:
            asked.append(question)
        return reply

    repository = Repository.find(folder)
    config = load_config(repository.root)
    told: list[Notice] = []
    session = Session(
        repository, config, lambda: dict.fromkeys(Tier, model), told.append, answer, until=until
    )
    outcome, _ = session.go_on(resolve_run(repository, None))
    return outcome, [notice.result for notice in told if isinstance(notice, CommandEnded)]


def on_a_fresh_machine(stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of the repository with the run's branch, and a state folder with nothing in it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    subprocess.run(["git", "clone", "-q", str(stage.path), str(folder / "clone")], check=True)
    return folder / "clone"


EDITS = {
    "1": done(wrote("install.py", INSTALL % "stolen")),
    "2": done(wrote("code.txt", "changed\n")),
}


def test_setup_on_a_fresh_machine_runs_the_base_commit_and_not_what_a_model_edited(
    stage: Stage, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.start()
    assert go_on(stage.path, Model(EDITS), until="phase-5")[0] is Outcome.WAITING
    assert "stolen" in stage.files()["install.py"]
    assert registry.given == ["/base/one"]
    clone = on_a_fresh_machine(stage, tmp_path / "fresh", monkeypatch)
    outcome, results = go_on(clone, Model(EDITS))
    assert registry.given == ["/base/one", "/base/one"]
    assert outcome is Outcome.DONE
    assert (
        results[-1].tail
        == "tool: installed\nadded: False\nnested: False\neditable: True\ncode: changed"
    )


@pytest.mark.slow
def test_of_an_approved_patch_only_manifests_and_lock_files_reach_setup(
    stage: Stage, registry: Registry
) -> None:
    """A lock file is protected, so the whole answer of the task waits for a person."""
    stage.start()
    edits = [
        wrote("install.py", INSTALL % "stolen"),
        wrote("requirements.txt", "two\n"),
        wrote("uv.lock", "two\n"),
    ]
    model = Model({**EDITS, "1": done(*edits)})
    asked: list[Question] = []
    assert go_on(stage.path, model, asked=asked)[0] is Outcome.WAITING
    assert any(
        "`python3 install.py {env}` gets the network" in risk for risk in asked[0].data.risks
    )
    outcome, results = go_on(stage.path, model, reply=PersonAnswer(answer=PersonsAnswer.APPROVE))
    assert outcome is Outcome.DONE
    assert registry.given == ["/base/one", "/base/two"]
    assert (
        results[-1].tail
        == "tool: installed\nadded: False\nnested: False\neditable: True\ncode: changed"
    )


@pytest.mark.slow
def test_setup_that_could_pass_the_proxy_waits_for_a_consent(
    stage: Stage, registry: Registry
) -> None:
    config = stage.path / ".forge" / "config.yml"
    config.write_text(config.read_text("utf-8").replace("namespace: true", "namespace: false"))
    stage.start()
    if "bubblewrap" in config.read_text("utf-8"):
        assert go_on(stage.path, Model(EDITS), until="phase-5")[0] is Outcome.WAITING
        assert registry.given == ["/base/one"]
        return
    with pytest.raises(SetupNotWalled) as caught:
        go_on(stage.path, Model(EDITS), until="phase-5")
    assert "setup_without_namespace: true" in hint_of(caught.value)
    assert registry.given == []


def test_an_approved_patch_that_does_not_fit_the_base_is_an_error_and_no_command_of_setup_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    config = "setup_without_namespace: true\ncommands: {setup: touch ran}\n"
    files = {"requirements.txt": "one\n", ".forge/config.yml": config}
    folder = committed(tmp_path / "demo", files)
    patch = (
        b"diff --git a/requirements.txt b/requirements.txt\n--- a/requirements.txt\n"
        b"+++ b/requirements.txt\n@@ -1 +1 @@\n-other\n+added\n"
    )
    project = project_in(folder, patch)
    with pytest.raises(GitFailed, match=r"requirements\.txt"):
        project.set_up()
    assert not [*(tmp_path / "state").rglob("ran"), *(tmp_path / "state").rglob("ready")]
