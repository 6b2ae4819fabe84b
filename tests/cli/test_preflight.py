"""What would spoil a run is told before a model is asked; nothing is left behind by a refusal."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import clones
from tests.fakes.agents import AgentServer
from tests.fakes.sample import Sample

TASK = "Fix the rota before its start"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with AgentServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        yield running


def left(sample: Sample) -> tuple[str, ...]:
    """Everything a run leaves: branches, work trees, records, files outside."""
    state = sample.path.parent / "state"
    # The profile of a tree is derived from it, and belongs to no run.
    kept = sample.path.glob(".git/forge-bot/profile-*.json")
    return (
        sample.git("for-each-ref", "--format=%(refname) %(objectname)"),
        sample.git("worktree", "list", "--porcelain"),
        str(sorted(path for path in sample.path.rglob("*") if ".git" not in path.parts)),
        str(sorted(state.rglob("*")) if state.exists() else ()),
        str(sorted(set(sample.path.glob(".git/forge-bot/*")) - set(kept))),
    )


def default_branch_elsewhere(sample: Sample) -> None:
    sample.git("remote", "add", "origin", "nowhere")
    sample.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
    sample.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")


def on_a_release(sample: Sample) -> None:
    clones.configure(sample, "protected_branches: ['release/*']\n")
    sample.git("switch", "-qc", "release/1.0")


def without_tests(sample: Sample) -> None:
    sample.git("rm", "-rq", "tests")
    clones.commit(sample)


Words = tuple[str, ...]
CASES: dict[str, tuple[Callable[[Sample], object], Words, str, tuple[str, ...]]] = {
    "the default branch, which only the remote has": (
        default_branch_elsewhere,
        (TASK, "--branch", "trunk"),
        "PREFLIGHT-001",
        ("trunk is the default branch", "--branch NAME"),
    ),
    "a branch that the configuration protects": (
        lambda sample: clones.configure(sample, "protected_branches: ['release/*']\n"),
        (TASK, "--branch", "Release/2"),
        "PREFLIGHT-001",
        ("'release/*'", "--branch NAME"),
    ),
    "the protected branch that is checked out": (
        on_a_release,
        (TASK, "--here"),
        "PREFLIGHT-001",
        ("release/1.0 is a protected branch",),
    ),
    "a program that nobody has": (
        lambda sample: clones.configure(sample, "commands: {lint: nosuchlinter .}\n"),
        (TASK,),
        "PREFLIGHT-001",
        ("install nosuchlinter",),
    ),
    "a merge under way, in the user's own folder": (
        clones.begin_merge,
        (TASK, "--here"),
        "PREFLIGHT-001",
        ("git merge --abort",),
    ),
    "a rebase under way": (
        clones.begin_rebase,
        (TASK,),
        "GIT-002",
        ("No branch is checked out",),
    ),
    "no tests": (without_tests, (TASK,), "CHECK-001", ("commands.test",)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_comes_before_any_question_and_leaves_nothing_behind(
    sample: Sample, server: AgentServer, case: str
) -> None:
    prepare, words, code, said = CASES[case]
    prepare(sample)
    before = left(sample)
    refused = sample.forge("run", *words, "--effort", "S", "--model", "openai-chat:small")
    assert refused.code == 5, refused
    assert code in refused.err
    assert [word for word in (*said, "→") if word not in refused.err] == []
    assert server.questions == []
    assert left(sample) == before


def test_problems_of_all_files_come_at_once(sample: Sample) -> None:
    clones.configure(sample, "budgett: 1\n")
    (sample.path / ".forge" / "manifest.yaml").write_text("rulez: []\n")
    (sample.path / "forge-mcp.json").write_text('{"mcpServers": {"tickets": {"comand": "x"}}}')
    (sample.path / ".forge" / "skills" / "deploy").mkdir(parents=True)
    (sample.path / ".forge" / "skills" / "deploy" / "skill.md").write_text("# Deploy\n")
    sample.git("add", "-A")
    sample.git("commit", "-qm", "Broken files")
    refused = sample.forge("run", TASK, "--model", sample.model())
    assert refused.code == 5
    assert [word for word in ("budgett", "rulez", "comand") if word not in refused.err] == []
    # What lies in a folder is looked at when the list of servers can be read.
    (sample.path / "forge-mcp.json").unlink()
    assert "skill.md" in sample.forge("run", TASK, "--model", sample.model()).err


def begun(sample: Sample, task: str = TASK, *words: str) -> str:
    """What a run says that is not refused, up to its first question."""
    said = sample.forge("run", task, "--effort", "S", "--model", sample.model(), *words)
    assert said.code == 3, said
    return said.out


def stopped(sample: Sample) -> Path:
    """A run that waits; its work tree."""
    begun(sample)
    return sample.workspace.parents[1]


def test_a_run_does_not_go_on_in_the_middle_of_a_merge(sample: Sample) -> None:
    tree = stopped(sample)
    (sample.path / "later.txt").write_text("later")
    clones.commit(sample)
    subprocess.run(
        ["git", "-C", str(tree), *clones.WHO, "merge", "-q", "--no-commit", "--no-ff", "main"],
        check=True,
    )
    before = left(sample)
    for words in (
        ("resume",),
        ("approve",),
        ("retry", "phase-3"),
        ("run", f".specs/{sample.workspace.name}"),
    ):
        refused = sample.forge(*words, "--model", sample.model())
        assert refused.code == 5
        assert "git merge --abort" in refused.err
    assert left(sample) == before
    subprocess.run(["git", "-C", str(tree), "merge", "--abort"], check=True)
    assert sample.forge("resume", "--model", sample.model()).code == 3
