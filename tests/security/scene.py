"""A run that has begun in a repository of its own, and files that a worker hands over."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from forge_bot.bot.record_work import WorkRecorder
from forge_bot.engine.reports import Report
from forge_bot.git import Repository, Tree
from forge_bot.git.commits import OWN_IDENTITY
from forge_bot.runs.create_run import NewRun, create_run, plan_for
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.open_run import look_at_run
from forge_bot.runs.request_draft import RequestDraft
from forge_bot.runs.run import KEPT
from forge_bot.settings.config import load_config
from forge_bot.settings.load_pipeline import load_pipeline
from tests.fakes.kept_samples import made

KEY = "sk-live-4f9a8c7b6d5e4f3a2b1c"


@dataclass
class Scene:
    """The repository, the run, and its work tree as a worker has it."""

    repository: Repository
    info: RunInfo
    tree: Tree
    start: str

    @property
    def record(self) -> Path:
        return self.tree.path / ".specs" / self.info.name

    def write(self, path: str, text: str | bytes) -> None:
        file = self.tree.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self) -> str:
        """Everything, as the worker's own commit, of which only the files count."""
        made = self.tree.commit(KEPT, [("Forge-Run", self.info.name)], (".",))
        assert made is not None
        return made

    def report(self, report: Report) -> None:
        """A line more in the record, whatever it says."""
        with (self.record / "reports.jsonl").open("a", encoding="utf-8") as file:
            file.write(report.model_dump_json(by_alias=True) + "\n")

    def recorder(self, **secrets: str) -> WorkRecorder:
        """What records a worker's files after the newest commit of the branch."""
        config = load_config(self.repository.root)
        run = look_at_run(self.repository, self.info, config)
        return WorkRecorder(run, {"OPENAI_API_KEY": KEY, **secrets})

    def check(self, *, before: str = "", **secrets: str) -> str:
        """Have the files of each commit after `start` recorded as the supervisor does it; return
        the newest commit. The branch is then as the worker left it.
        """
        last, start, ref = (
            self.tree.commit_id(),
            before or self.start,
            f"refs/heads/{self.info.branch}",
        )
        handed = git(self.tree.path, "rev-list", "--reverse", "--first-parent", f"{start}..{last}")
        git(self.tree.path, "update-ref", ref, start)
        try:
            recorder = self.recorder(**secrets)
            for commit in handed.split():
                recorder.record(commit)
            return recorder.head
        finally:
            git(self.tree.path, "update-ref", ref, last)


def git(folder: Path, *words: str) -> str:
    given = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    return subprocess.run(
        ["git", "-C", str(folder), *given, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def begun(folder: Path) -> Scene:
    """A run at its first commit; XDG_STATE_HOME has to be a folder of the test's."""
    path = folder / "rota"
    made(path)
    git(path, "config", "user.name", OWN_IDENTITY["GIT_AUTHOR_NAME"])
    git(path, "config", "user.email", OWN_IDENTITY["GIT_AUTHOR_EMAIL"])
    repository = Repository.find(path)
    draft = RequestDraft(title="Say nobody before the start", text="Say nobody before the start.")
    plan = plan_for(repository, draft, effort="S", name=None, branch=None, here=False)
    info = create_run(
        repository,
        NewRun(draft=draft, plan=plan, by="ann"),
        load_pipeline("develop", repository.root),
    )
    assert info.tree is not None
    tree = Tree(info.tree)
    return Scene(repository, info, tree, tree.head().commit)
