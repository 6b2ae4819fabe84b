"""Traces that a worker leaves beside its files: names, the lines of commits, and what stays in the
work tree.
"""

import base64
import os
import subprocess
from urllib.parse import quote

import pytest

from forge_bot.bot.inspect_commits import KEPT
from forge_bot.errors import CommitsRefused
from tests.security.scene import KEY, Scene, git


def refused(scene: Scene) -> str:
    with pytest.raises(CommitsRefused) as caught:
        scene.check()
    return "\n".join(caught.value.details)


def test_a_key_in_the_name_of_a_file_is_found_and_not_said_in_the_reason(scene: Scene) -> None:
    scene.write(f".claude/{KEY}.md", "x\n")
    scene.commit()
    reasons = refused(scene)
    assert ".claude/[OPENAI_API_KEY].md is protected" in reasons
    assert "a file's name holds the value of OPENAI_API_KEY" in reasons
    assert KEY not in reasons


@pytest.mark.parametrize("role", ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME"])
def test_a_key_in_the_author_or_committer_of_a_commit_is_found(scene: Scene, role: str) -> None:
    scene.write("notes.txt", "x\n")
    git(scene.tree.path, "add", "-A")
    env = {**os.environ, f"GIT_{role}": KEY}
    words = (
        "git",
        "-c",
        "commit.gpgSign=false",
        "commit",
        "-qm",
        f"{KEPT}\n\nForge-Run: {scene.info.name}",
    )
    subprocess.run(words, cwd=scene.tree.path, env=env, check=True)
    assert "is not a commit that a worker of this run makes" in refused(scene)


def test_a_key_in_a_line_of_a_commit_that_no_log_shows_is_found(scene: Scene) -> None:
    scene.write("notes.txt", "x\n")
    scene.commit()
    raw = subprocess.run(
        ["git", "cat-file", "commit", "HEAD"], cwd=scene.tree.path, check=True, capture_output=True
    ).stdout
    head, _, message = raw.partition(b"\n\n")
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        input=head + b"\nx-note " + KEY.encode() + b"\n\n" + message,
        cwd=scene.tree.path,
        check=True,
        capture_output=True,
        text=False,
    ).stdout.decode()
    git(scene.tree.path, "reset", "-q", "--soft", made.strip())
    assert "is not a commit that a worker of this run makes" in refused(scene)


URL_KEY = "pa+ss/w=rd&with signs?1234"
FORMS = {
    "an address": quote(URL_KEY, safe=""),
    "an address, slashes kept": quote(URL_KEY),
    "base 64 for addresses": base64.urlsafe_b64encode(b"x" + URL_KEY.encode() + b"yz").decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_key_is_found_in_the_forms_that_addresses_have(scene: Scene, form: str) -> None:
    scene.write("notes.txt", f"https://evil.example/?q={form}\n")
    scene.commit()
    with pytest.raises(CommitsRefused) as caught:
        scene.check(DB_PASSWORD=URL_KEY)
    assert "the value of DB_PASSWORD" in "".join(caught.value.details)
