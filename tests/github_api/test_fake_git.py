"""The code on the fake: cloned, pushed, refused, and seen by REST, all from one bare repository."""

import subprocess
from pathlib import Path

import pytest

from tests.fakes.github import FakeGitHub, Repository, Role
from tests.github_api.asking import GRAPHQL_READY, Asking

CI = ".github/workflows/ci.yml"


class Clone:
    """A work tree, and what git says in it."""

    def __init__(
        self, hub: FakeGitHub, folder: Path, token: str = "", name: str = "acme/widget"
    ) -> None:
        self.path = folder
        before = f"x-access-token:{token}@" if token else ""
        address = hub.url.replace("http://", f"http://{before}") + f"/{name}.git"
        self.cloned = self.run("clone", "-q", address, str(folder))

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        env = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "HOME": str(self.path),
        }
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        at = ("-C", str(self.path)) if self.path.exists() else ()
        return subprocess.run(
            ["git", *at, *who, *words], capture_output=True, text=True, check=False, env=env
        )

    def push(self, branch: str, path: str, data: bytes = b"new\n") -> str:
        """Commit a file on a branch, push it, and tell what git said."""
        self.run("switch", "-q", "-C", branch)
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.run("add", "-A")
        self.run("commit", "-qm", "change")
        return self.run("push", "origin", f"HEAD:{branch}").stderr


@pytest.fixture
def repo(github: FakeGitHub) -> Repository:
    found = github.repository(
        files={"README.md": "# Widget\n", CI: "on: push\n", "src/a.py": "x = 1\n"}
    )
    github.member(found, "maint", Role.WRITE)
    return found


def test_a_push_is_seen_by_rest_and_a_commit_by_rest_is_fetched(
    github: FakeGitHub, repo: Repository, tmp_path: Path
) -> None:
    token = github.token("maint")
    clone, ask = Clone(github, tmp_path / "c", token), Asking(github, token)
    assert "new branch" in clone.push("feature/x", "ünï.txt")
    head = clone.run("rev-parse", "HEAD").stdout.strip()
    assert ask("GET", "+/git/ref/heads/feature/x").body["object"]["sha"] == head
    assert ask("GET", "+/contents/%C3%BCn%C3%AF.txt?ref=feature/x").body["size"] == 4
    made = ask(
        "PUT", "+/contents/b.txt", {"message": "b", "content": "Yg==", "branch": "feature/x"}
    )
    assert made.status == 201
    clone.run("pull", "-q", "origin", "feature/x")
    assert (clone.path / "b.txt").read_text() == "b"
    assert repo.bare.git("fsck", "--strict") == ""


def test_a_private_repository_is_not_cloned_and_a_public_one_not_pushed_without_a_role(
    github: FakeGitHub, repo: Repository, tmp_path: Path
) -> None:
    github.repository("acme/secret", private=True)
    assert (
        "could not read Username" in Clone(github, tmp_path / "a", name="acme/secret").cloned.stderr
    )
    assert (
        "not found"
        in Clone(github, tmp_path / "b", github.token("maint"), "acme/secret").cloned.stderr
    )
    assert (
        "Authentication failed"
        in Clone(github, tmp_path / "c", "ghp_wrong", "acme/secret").cloned.stderr
    )
    assert "403" in Clone(github, tmp_path / "d", github.token("stranger")).push("x", "a")
    assert "403" in Clone(github, tmp_path / "e", github.actions_token(repo, contents="read")).push(
        "x", "a"
    )


def test_the_token_of_actions_pushes_code_but_never_a_workflow(
    github: FakeGitHub, repo: Repository, tmp_path: Path
) -> None:
    clone = Clone(github, tmp_path / "c", github.actions_token(repo, contents="write"))
    assert "new branch" in clone.push("feature/x", "src/b.py")
    said = clone.push("feature/y", CI)
    assert (
        "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml`"
        " without `workflows` permission" in said
    )
    assert "feature/y" not in str(repo.bare.refs())


def test_a_persons_token_needs_the_scope_for_workflows(
    github: FakeGitHub, repo: Repository, tmp_path: Path
) -> None:
    clone = Clone(github, tmp_path / "c", github.token("maint", scopes=["repo"]))
    assert "refusing to allow a Personal Access Token" in clone.push("feature/y", CI)
    assert "new branch" in Clone(github, tmp_path / "d", github.token("maint")).push(
        "feature/y", CI, b"on: [push]\n"
    )
    assert repo.bare.read("feature/y", CI) == "on: [push]\n"


@pytest.mark.parametrize(
    ("ruleset", "said"),
    [
        (False, "protected branch hook declined"),
        (True, "push declined due to repository rule violations"),
    ],
)
def test_a_protected_branch_takes_no_push_but_an_administrators(
    github: FakeGitHub, repo: Repository, tmp_path: Path, said: str, *, ruleset: bool
) -> None:
    github.protect(repo, ruleset=ruleset)
    assert f"({said})" in Clone(github, tmp_path / "c", github.token("maint")).push(
        "main", "src/b.py"
    )
    assert "HEAD -> main" in Clone(github, tmp_path / "d", github.token("acme")).push(
        "main", "src/b.py"
    )
    made = Asking(github, github.token("maint"))(
        "PUT", "+/contents/c.txt", {"message": "x", "content": "eA=="}
    )
    assert made.status == 409


def test_a_file_that_is_too_large_is_refused_with_its_size(
    github: FakeGitHub, repo: Repository, tmp_path: Path
) -> None:
    github.largest_file = 100_000
    said = Clone(github, tmp_path / "c", github.token("maint")).push(
        "feature/x", "big.bin", b"x" * 200_000
    )
    assert "File big.bin is 0.20 MB; this exceeds GitHub's file size limit of 0.10 MB" in said
    assert "(pre-receive hook declined)" in said


def test_a_pull_request_needs_two_branches_commits_and_to_be_the_only_one(
    github: FakeGitHub, repo: Repository
) -> None:
    ask = Asking(github, github.token("maint"))
    wanted = {"title": "x", "head": "feature/x", "base": "main"}
    assert ask("POST", "+/pulls", wanted).body["errors"] == [
        {"resource": "PullRequest", "field": "head", "code": "invalid"}
    ]
    repo.bare.set_ref("refs/heads/feature/x", repo.bare.head("main"))
    assert (
        ask("POST", "+/pulls", wanted).body["errors"][0]["message"]
        == "No commits between main and feature/x"
    )
    github.commit(repo, "feature/x", {"src/a.py": "x = 2\n", "README.md": None})
    made = ask("POST", "+/pulls", {**wanted, "draft": True})
    assert (
        made.status,
        made.body["draft"],
        made.body["changed_files"],
        made.body["additions"],
    ) == (201, True, 2, 1)
    assert "already exists" in ask("POST", "+/pulls", wanted).body["errors"][0]["message"]
    files = {line["filename"]: line for line in ask("GET", "+/pulls/1/files").body}
    assert {name: line["status"] for name, line in files.items()} == {
        "README.md": "removed",
        "src/a.py": "modified",
    }
    assert files["src/a.py"]["patch"] == "@@ -1 +1 @@\n-x = 1\n+x = 2"


def test_a_draft_becomes_ready_through_graphql_alone_and_is_merged_then(
    github: FakeGitHub, repo: Repository
) -> None:
    github.commit(repo, "feature/x", {"src/a.py": "x = 2\n"})
    github.pull(repo, "feature/x", draft=True)
    ask = Asking(github, github.token("maint"))
    assert ask("PUT", "+/pulls/1/merge", {}).status == 405
    node = ask("GET", "+/pulls/1").body["node_id"]
    ready = {"query": GRAPHQL_READY, "variables": {"input": {"pullRequestId": node}}}
    assert (
        Asking(github, github.token("stranger"))("POST", "/graphql", ready).body["errors"][0][
            "type"
        ]
        == "FORBIDDEN"
    )
    assert ask("POST", "/graphql", ready).body["data"]["markPullRequestReadyForReview"][
        "pullRequest"
    ] == {"isDraft": False}
    assert ask("PUT", "+/pulls/1/merge", {}).body["merged"] is True
    assert repo.bare.read("main", "src/a.py") == "x = 2\n"
