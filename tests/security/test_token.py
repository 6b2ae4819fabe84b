"""The token stays with the supervisor: not in its children's environment, and not in what others
can read of it.
"""

import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path

from forge_bot.bot.job_context import without_token
from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub
from tests.fakes.rows import rows

ROWS = rows(__file__)

TOKEN = "ghs_0123456789abcdef"


def test_a_worker_gets_nothing_that_has_the_token_in_it_whatever_it_is_called() -> None:
    environ = {
        "PATH": "/usr/bin",
        "OPENAI_API_KEY": "sk-of-the-model",
        "GITHUB_TOKEN": TOKEN,
        "INPUT_TOKEN": TOKEN,
        "GIT_CONFIG_VALUE_0": "AUTHORIZATION: basic eDp4",
        "ACTIONS_RUNTIME_TOKEN": "another",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "one more",
        "HOMEBREW_AUTH": f"Bearer {TOKEN}",
        "FORGE_BOT_WAKE": "{}",
        "FORGE_BOT_SIGNING_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----",
    }
    assert without_token(environ, TOKEN) == {
        "PATH": "/usr/bin",
        "OPENAI_API_KEY": "sk-of-the-model",
    }


SUPERVISOR: str = ROWS["supervisor"]
WITNESS = """#!/bin/sh
{ cat /proc/$$/environ; echo "$@"
for fd in /proc/$$/fd/*; do
  case "$fd" in */[012]) ;; *) timeout 0.1 cat "$fd" </dev/null ;; esac
done; } >>"$LOG" 2>/dev/null
exec GIT "$@"
"""
HOSTILE: str = ROWS["hostile"]


def test_children_of_a_supervisor_have_no_token_and_obey_no_settings_of_a_worker(
    github: FakeGitHub, tmp_path: Path
) -> None:
    """What `prctl` says; root may look all the same, which no process of its own user can
    prevent.
    """
    stage = Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    stage.repo.private = True
    environ, folder = stage.machine("issues", {}, "maint")
    token, log, touched = environ["GITHUB_TOKEN"], tmp_path / "log", tmp_path / "touched"
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(WITNESS.replace("GIT", shutil.which("git") or ""))
    (programs / "git").chmod(0o755)
    hostile = HOSTILE.replace("TOUCHED", str(touched)).replace("HUB", github.url)
    environ |= {
        "PATH": f"{programs}{os.pathsep}{environ['PATH']}",
        "LOG": str(log),
        "FORGE_BOT_WAKE": f'{{"issue": {stage.issue.number}}}',
        "FORGE_BOT_SIGNING_KEY": "signing-secret",
        "ACTIONS_RUNTIME_TOKEN": "runtime-secret",
        "INPUT_TOKEN": token,
        "WRITTEN_BY_A_WORKER": hostile,
    }
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISOR],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "('feature/x', 'main') 0"
    assert not touched.exists()
    assert stage.repo.bare.head("feature/x") == stage.repo.bare.head("main")
    seen = log.read_text() + done.stdout
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert len(log.read_text().split("fetch")) > 1
    assert [each for each in (token, basic, "runtime-secret") if each in seen] == []
    assert "signing-secret" not in log.read_text()
