"""A run that has begun in a repository of its own, and a worker's commits on it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from forge_bot.bot.inspect_commits import KEPT, CommitInspector
from forge_bot.engine.reports import Report
from forge_bot.git import Repository, Tree
from forge_bot.git.commits import OWN_IDENTITY
from forge_bot.runs.create_run import NewRun, create_run, plan_for
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.request_draft import RequestDraft
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

    def commit(self, message: str = KEPT, run: str = "") -> str:
        """Everything, as a commit of the run."""
        made = self.tree.commit(message, [("Forge-Run", run or self.info.name)], (".",))
        assert made is not None
        return made

    def report(self, report: Report) -> None:
        """A line more in the record, whatever it says."""
        with (self.record / "reports.jsonl").open("a", encoding="utf-8") as file:
            file.write(report.model_dump_json(by_alias=True) + "\n")

    def check(self, *, before: str = "", **secrets: str) -> None:
        """What the supervisor does before it pushes."""
        inspector = CommitInspector(
            self.repository, self.tree, self.info.name, {"OPENAI_API_KEY": KEY, **secrets}
        )
        inspector.check(before or self.start, self.tree.head().commit)


def git(folder: Path, *words: str) -> str:
    given = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    return subprocess.run(
        ["git", "-C", str(folder), *given, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def begun(folder: Path, instructions: str = "") -> Scene:
    """A run at its first commit; XDG_STATE_HOME has to be a folder of the test's."""
    path = folder / "rota"
    made(path)
    git(path, "config", "user.name", OWN_IDENTITY["GIT_AUTHOR_NAME"])
    git(path, "config", "user.email", OWN_IDENTITY["GIT_AUTHOR_EMAIL"])
    if instructions:
        (path / ".specs").mkdir()
        (path / ".specs" / "instructions.md").write_text(instructions, encoding="utf-8")
        git(path, "add", "-A")
        git(path, "commit", "-qm", "instructions")
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
