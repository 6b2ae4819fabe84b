"""The branch for merge: code only, one commit a task, and what is said after a run is done."""

import os
import subprocess
from pathlib import Path

import pytest

from forge_bot.forge import pull_request_opener
from forge_bot.forge.types import NewPullRequest
from tests.fakes.sample import Sample

TASK = "Nobody is on call before the rota starts"


def _run(sample: Sample, *options: str) -> str:
    done = sample.forge("run", TASK, "--effort", "S", "--auto", *options, "--model", sample.model())
    assert done.code == 0, done.err
    return done.out


def _remote(sample: Sample, tmp_path: Path) -> Path:
    remote = tmp_path / "remote.git"
    sample.git("init", "-q", "--bare", str(remote))
    sample.git("remote", "add", "origin", str(remote))
    return remote


def _files(sample: Sample, branch: str) -> list[str]:
    return sample.git("ls-tree", "-r", "--name-only", branch).splitlines()


@pytest.mark.slow
def test_the_branch_for_merge_has_the_code_of_the_run_and_nothing_of_its_record(
    ended_sample: Sample,
) -> None:
    assert ended_sample.branch.startswith("feature/")
    offered = ended_sample.offered
    assert not offered.startswith("feature/")
    own = [
        name for name in _files(ended_sample, ended_sample.branch) if not name.startswith(".specs/")
    ]
    assert own == _files(ended_sample, offered)
    assert ended_sample.git("diff", "--stat", f"main...{offered}", "--", ".specs") == ""
    assert (
        ended_sample.git("diff", "--stat", offered, ended_sample.branch, "--", ".", ":!.specs")
        == ""
    )
    assert ended_sample.git("diff", "--name-only", f"main...{offered}") != ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "named", "own", "offered"),
    [
        ("fix: rota starts late", (), "feature/fix-rota-starts-late", "fix/rota-starts-late"),
        pytest.param(
            *("Rota starts late", ("--branch", "docs/T-1"), "feature/rota-starts-late", "docs/T-1"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("Rota", ("--branch", "feature/rota"), "feature/rota-2", "feature/rota"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_person_names_the_branch_for_merge_and_a_type_stands_in_a_name_once(
    sample: Sample, task: str, named: tuple[str, ...], own: str, offered: str
) -> None:
    words = ("--effort", "S", "--auto", *named, "--model", sample.model())
    assert sample.forge("run", task, *words).code == 0
    assert (sample.branch, sample.offered) == (own, offered)
    assert not any(name.startswith(".specs/") for name in _files(sample, offered))


@pytest.mark.slow
def test_one_commit_a_task_says_what_changed_and_the_run_contains_it(ended_sample: Sample) -> None:
    assert ended_sample.git("rev-list", "--count", f"main..{ended_sample.offered}") == "1"
    pair = (ended_sample.offered, ended_sample.branch)
    assert ended_sample.git_code("merge-base", "--is-ancestor", *pair) == 0
    message = ended_sample.git("log", "-1", "--format=%B", ended_sample.offered)
    subject, empty, *body = message.splitlines()
    assert (len(subject) <= 72, empty, subject.partition(":")[0]) == (
        True,
        "",
        ended_sample.offered.partition("/")[0],
    )
    assert "forge-bot" not in subject
    reason = body[: body.index("")]
    assert reason
    assert not any(line.startswith("- ") for line in body), "criteria that only name the design"
    assert "design.md" not in message


@pytest.mark.slow
def test_commits_for_merge_are_signed_off_by_their_author_where_that_is_configured(
    sample: Sample,
) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text("sign_off: true\n")
    guide = "Sign off each commit (DCO), and add an entry to the changelog.\n"
    (sample.path / "CONTRIBUTING.md").write_text(guide)
    (sample.path / "CHANGES.md").write_text("# Changes\n")
    sample.git("add", ".forge", "*.md")
    sample.git("commit", "-q", "-m", "Sign off")
    _run(sample)
    form = "%an <%ae>|%(trailers:key=Signed-off-by,valueonly)"
    author, _, signed = sample.git("log", "-1", f"--format={form}", sample.offered).partition("|")
    assert signed.strip() == author
    assert "Signed-off-by" not in sample.git("log", "-1", "--format=%B", sample.branch)
    assert "\nAssisted-by: forge-bot (" in sample.git("log", "-1", "--format=%B", sample.offered)
    written = sample.forge("show", "pull-request.md").out
    asks = "`CONTRIBUTING.md` asks for"
    assert f"| {asks} `Signed-off-by` in each commit | as `sign_off` says |" in written
    assert f"> - {asks} an entry in `CHANGES.md`: **missing**." in written


@pytest.mark.slow
def test_a_branch_that_is_checked_out_is_not_moved_and_the_command_is_said(
    ended_sample: Sample,
) -> None:
    first, offered, branch = (
        ended_sample.git("rev-parse", ended_sample.offered),
        ended_sample.offered,
        ended_sample.branch,
    )
    ended_sample.git("switch", "-q", branch)
    (ended_sample.path / "later.txt").write_text("later\n")
    ended_sample.git("add", "later.txt")
    ended_sample.git("commit", "-qm", "Later")
    ended_sample.git("switch", "-q", offered)
    said = ended_sample.forge(
        "retry", "final-commit", "--run", branch, "--model", ended_sample.model()
    )
    assert said.code == 0, said.err
    assert ended_sample.git("rev-parse", offered) == first
    command = next(
        line.strip() for line in said.out.splitlines() if line.strip().startswith("git -C")
    )
    subprocess.run(command, shell=True, check=True, capture_output=True)  # noqa: S602 - as a person types it
    assert "later.txt" in _files(ended_sample, offered)


def _commit(sample: Sample, place: str, **files: str) -> str:
    """Somebody commits files on a branch; main is checked out again."""
    sample.git("switch", "-q", place)
    for name, text in files.items():
        (sample.path / name).write_text(text)
    sample.git("add", *files)
    sample.git("commit", "-qm", f"Ann's {', '.join(files)}")
    sample.git("switch", "-q", "main")
    return sample.git("rev-parse", place)


@pytest.mark.slow
@pytest.mark.parametrize("raced", ["offered", "run"])
def test_a_push_that_loses_the_race_takes_in_what_people_added_to_the_offered_branch_only(
    sample: Sample, tmp_path: Path, raced: str
) -> None:
    remote = _remote(sample, tmp_path)
    _run(sample, "--push")
    offered, branch = sample.offered, sample.branch
    other = tmp_path / "other"
    place = offered if raced == "offered" else branch
    sample.git("clone", "-q", str(remote), str(other), "--branch", place)
    (other / "theirs.txt").write_text("theirs\n")
    for words in (
        ["add", "."],
        ["-c", "user.name=B", "-c", "user.email=b@x.example", "commit", "-qm", "Theirs"],
        ["push", "-q"],
    ):
        subprocess.run(["git", "-C", str(other), *words], check=True, capture_output=True)
    before = sample.git("--git-dir", str(remote), "for-each-ref")
    _commit(sample, branch, ours="ours")
    said = sample.forge(
        "retry", "final-commit", "--run", branch, "--push", "--model", sample.model()
    )
    after = sample.git("--git-dir", str(remote), "for-each-ref")
    if raced == "run":
        assert (said.code, after == before, branch in said.out) == (3, True, True)
        return
    assert said.code == 0, said.out + said.err
    for name in (offered, branch):
        names = sample.git("--git-dir", str(remote), "ls-tree", "--name-only", name).split()
        assert {"theirs.txt", "ours"} <= {*names}


@pytest.mark.slow
def test_after_done_the_work_tree_is_gone_and_the_next_lines_do_what_they_say(
    sample: Sample,
) -> None:
    said = _run(sample)
    assert sample.git("worktree", "list").count("\n") == 0
    lines = [line.strip() for line in said.splitlines()]
    merge = next(line for line in lines if "git merge" in line)
    subprocess.run(merge, shell=True, check=True, cwd=sample.path, capture_output=True)  # noqa: S602 - as a person types it
    assert sample.git("rev-parse", "main") == sample.git("rev-parse", sample.offered)
    assert not (sample.path / ".specs").exists()
    assert sample.forge("show", "summary.md").code == 0


@pytest.mark.slow
def test_keep_leaves_the_work_tree_and_clean_takes_it_away(sample: Sample) -> None:
    said, branch = _run(sample, "--keep"), sample.branch
    tree = sample.workspace.parents[1]
    assert str(tree) in said
    listed = sample.forge("clean")
    assert (listed.code, tree.is_dir()) == (0, True)
    assert "Nothing was removed" in listed.out
    removed = sample.forge("clean", "--remove")
    assert (removed.code, tree.exists(), tree.parent.exists()) == (0, False, False), removed.out
    assert sample.git("branch", "--list", branch) == "", "the record has its commits"
    looks = (["status"], ["list"], ["show", "summary.md"], ["doctor"], ["ask", "Why?"])
    asking = ("--model", sample.model({("inquiry", "*", "*"): {"artifact_markdown": "Because."}}))
    for words in (*looks, ["ask", "Why?", *asking], ["ask", "How?", *asking], ["status"]):
        said = sample.forge(*words)
        assert ("Because." in said.out) == ("--model" in words), said.err
        assert (tree.exists(), sample.git("branch", "--list", branch)) == (False, ""), words
        assert len(sample.git("worktree", "list").splitlines()) == 1, words


@pytest.mark.slow
def test_uncommitted_work_in_the_tree_of_a_run_that_is_done_stays(sample: Sample) -> None:
    _run(sample, "--keep")
    mine = sample.workspace.parents[1] / "mine.txt"
    mine.write_text("mine\n")
    said = sample.forge("clean", "--remove")
    assert "mine.txt" in said.out
    assert mine.read_text() == "mine\n"


def _gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `gh` that opens every pull request; the file with what it was asked."""
    tools, log = tmp_path / "tools", tmp_path / "gh.txt"
    tools.mkdir()
    (tools / "gh").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >>{log}\necho https://github.com/o/r/pull/7\n'
    )
    (tools / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return log


def test_the_pull_request_is_opened_with_gh(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = _remote(sample, tmp_path)
    log = _gh(tmp_path, monkeypatch)
    said = _run(sample, "--open-pr")
    words = log.read_text().splitlines()
    assert words[:6] == ["pr", "create", "--head", sample.offered, "--base", "main"]
    body = Path(words[words.index("--body-file") + 1])
    assert "How it was checked" in body.read_text()
    assert "https://github.com/o/r/pull/7" in said
    assert sample.git("--git-dir", str(remote), "rev-parse", sample.offered)


@pytest.mark.parametrize("draft", [True, False])
def test_an_open_one_gets_the_new_text_and_is_ready_once_it_is_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draft: bool
) -> None:
    log = _gh(tmp_path, monkeypatch)
    there = 'echo "already exists: https://github.com/o/r/pull/7" >&2; [ "$2" != create ]\n'
    gh = tmp_path / "tools" / "gh"
    gh.write_text(gh.read_text().replace("echo https://github.com/o/r/pull/7\n", there))
    body = str(tmp_path / "body.md")
    wanted = NewPullRequest("fix: x", "x", "fix/x", "main", draft, body_file=body)
    assert pull_request_opener(tmp_path)(wanted) == "https://github.com/o/r/pull/7"
    said = " ".join(log.read_text().splitlines())
    assert "pr edit fix/x --title" in said
    assert said.endswith("pr ready fix/x") is not draft


@pytest.mark.slow
def test_from_a_fork_the_pull_request_names_the_owner_and_the_repository_it_is_for(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = _remote(sample, tmp_path)
    sample.git("config", "remote.origin.url", "https://github.com/ann/rota.git")
    sample.git("config", "remote.origin.pushurl", str(remote))
    sample.git("remote", "add", "upstream", "git@github.com:lighthouse/rota.git")
    log = _gh(tmp_path, monkeypatch)
    _run(sample, "--open-pr")
    words = log.read_text().splitlines()
    named = dict(zip(words[2:8:2], words[3:8:2], strict=True))
    ours = {"--head": f"ann:{sample.offered}", "--base": "main", "--repo": "lighthouse/rota"}
    assert named == ours


@pytest.mark.slow
def test_without_gh_open_pr_is_refused_before_the_run_begins(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "python3"):
        (tools / name).symlink_to(
            subprocess.run(
                ["which", name], capture_output=True, text=True, check=True
            ).stdout.strip()
        )
    monkeypatch.setenv("PATH", str(tools))
    said = sample.forge("run", TASK, "--open-pr", "--model", sample.model())
    assert (said.code != 0, "gh" in said.err) == (True, True)
    assert sample.git("branch", "--format=%(refname:short)") == "main"
