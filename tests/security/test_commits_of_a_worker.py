"""Who made a worker's commit, and what its message says, follows from the reports in it."""

import subprocess

import pytest

from forge_bot.errors import CommitsRefused
from forge_bot.git.commits import OWN_IDENTITY
from tests.security.scene import Scene, git

WHO = f"{OWN_IDENTITY['GIT_AUTHOR_NAME']} <{OWN_IDENTITY['GIT_AUTHOR_EMAIL']}>"
MESSAGE = "forge-bot: keep the record\n\nForge-Run: {run}\n"
SIGNED = "gpgsig -----BEGIN SSH SIGNATURE-----\n eA==\n -----END SSH SIGNATURE-----\n"
CASES = {
    "another author": ("Val <val@example.org>", WHO, "", MESSAGE),
    "another committer": (WHO, "Val <val@example.org>", "", MESSAGE),
    "the bot's name with another address": ("forge-bot <val@example.org>", WHO, "", MESSAGE),
    "signed": (WHO, WHO, SIGNED, MESSAGE),
    "another header": (WHO, WHO, "encoding UTF-16\n", MESSAGE),
    "closes an issue": (WHO, WHO, "", MESSAGE.replace("record", "record, closes acme/other#2")),
    "stops the checks": (WHO, WHO, "", MESSAGE.replace("record", "record [skip ci]")),
    "stops them in a trailer": (WHO, WHO, "", f"{MESSAGE}skip-checks: true\n"),
    "a person's approval": (WHO, WHO, "", f"{MESSAGE}Approved-by: val via acme#1\n"),
    "another author by trailer": (WHO, WHO, "", f"{MESSAGE}Co-authored-by: v <v@w.x>\n"),
    "a body": (WHO, WHO, "", MESSAGE.replace("\n\n", "\n\n@octocat, see here\n\n")),
    "of another run": (WHO, WHO, "", MESSAGE.replace("{run}", "{run}-b")),
    "three megabytes": (WHO, WHO, "", f"{MESSAGE}\n{'x' * 3_000_000}\n"),
    "no message": (WHO, WHO, "", ""),
}


def committed(scene: Scene, case: str, *parents: str) -> None:
    author, committer, more, message = CASES.get(case, (WHO, WHO, "", MESSAGE))
    scene.write("rota/extra.py", "x = 1\n")
    git(scene.tree.path, "add", "-A")
    lines = [f"tree {git(scene.tree.path, 'write-tree')}"]
    lines += [f"parent {parent}" for parent in (scene.start, *parents)]
    lines += [f"author {author} 1700000000 +0000", f"committer {committer} 1700000000 +0000"]
    text = "\n".join(lines) + f"\n{more}\n" + message.replace("{run}", scene.info.name)
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=scene.tree.path,
        input=text.encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    git(scene.tree.path, "reset", "-q", "--hard", made.strip())


def test_a_commit_as_a_worker_makes_it_is_pushed(scene: Scene) -> None:
    committed(scene, "as it should be")
    scene.check()


@pytest.mark.parametrize("case", CASES)
def test_a_commit_that_no_worker_makes_is_refused(scene: Scene, case: str) -> None:
    committed(scene, case)
    with pytest.raises(CommitsRefused) as refused:
        scene.check()
    assert "is not a commit that a worker of this run makes" in refused.value.details[0]


def test_a_worker_merges_nothing(scene: Scene) -> None:
    committed(scene, "a side branch")
    side = scene.tree.head().commit
    committed(scene, "a merge", side)
    with pytest.raises(CommitsRefused):
        scene.check()
