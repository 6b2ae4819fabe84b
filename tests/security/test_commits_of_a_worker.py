"""Who made a commit of a run, and what its message says, follows from the report in it. A worker
hands over files: whatever else it says with them is not heard.
"""

import subprocess

import pytest

from forge_bot.errors import CommitsRefused
from forge_bot.git.commits import OWN_IDENTITY
from tests.security.scene import Scene, git

OTHER = "Val <val@example.org> 1700000000 +0000"
SIGNED = "gpgsig -----BEGIN SSH SIGNATURE-----\n eA==\n -----END SSH SIGNATURE-----\n"
MESSAGE = (
    "closes acme/other#2 [skip ci] @octocat\n\nskip-checks: true\nApproved-by: val via acme#1\n"
)


def forged(scene: Scene) -> str:
    """A commit of a worker's files in the name of another, with two parents."""
    scene.write("rota/extra.py", "x = 1\n")
    git(scene.tree.path, "add", "-A")
    files, side = (
        git(scene.tree.path, "write-tree"),
        git(scene.repository.root, "rev-parse", "main"),
    )
    text = (
        f"tree {files}\nparent {side}\nparent {scene.start}\nauthor {OTHER}\ncommitter {OTHER}\n"
        f"encoding UTF-16\n{SIGNED}\n{MESSAGE}"
    )
    words = ("git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    made = subprocess.run(
        words, cwd=scene.tree.path, input=text.encode(), capture_output=True, check=True
    )
    return made.stdout.decode().strip()


def test_of_what_a_worker_hands_over_only_the_files_count(scene: Scene) -> None:
    handed = forged(scene)
    made = scene.recorder().record(handed)
    headers, _, message = git(scene.tree.path, "cat-file", "commit", made).partition("\n\n")
    tree, parent, author, committer = headers.splitlines()
    assert tree == f"tree {git(scene.tree.path, 'rev-parse', f'{handed}^{{tree}}')}"
    assert parent == f"parent {scene.start}"
    name, address = OWN_IDENTITY["GIT_AUTHOR_NAME"], OWN_IDENTITY["GIT_AUTHOR_EMAIL"]
    assert author.startswith(f"author {name} <{address}> ")
    assert committer.startswith(f"committer {name} <{address}> ")
    assert message == f"forge-bot: keep the record\n\nForge-Run: {scene.info.name}"


@pytest.mark.parametrize("same_files", [True, False])
def test_nothing_is_recorded_where_a_worker_has_moved_the_branch(
    scene: Scene, same_files: bool
) -> None:
    recorder = scene.recorder()
    scene.write("rota/extra.py", "x = 1\n")
    git(scene.tree.path, "add", "-A")
    git(scene.tree.path, "commit", "-qm", "Approved-by: val via acme#1")
    if not same_files:
        scene.write("rota/more.py", "x = 1\n")
        git(scene.tree.path, "add", "-A")
    with pytest.raises(CommitsRefused) as refused:
        recorder.record(git(scene.tree.path, "write-tree"))
    assert "moved by another process" in refused.value.details[0]
    assert recorder.head == scene.start
