"""Repositories as they should not be, from the command line: the run is refused with a way out, or
ends as it would anywhere.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sandbox.bubblewrap import binaries
from tests.fakes.agents import AgentServer
from tests.fakes.sample import Said, Sample
from tests.fakes.script import GUARD, TEST, change

TASK = "`rota who` names somebody for days before the rota starts"
ME = ("-c", "user.name=a", "-c", "user.email=a@b.c")


@pytest.fixture(autouse=True)
def quick(sample: Sample) -> None:
    """The project's tests are beside the point here."""
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text(
        "commands: {setup: [], test: [[python3, -c, pass]], lint: [], build: []}\n"
    )


def committed(sample: Sample, message: bytes = b"more") -> None:
    sample.git("add", "-A", "--", ":!.forge")
    subprocess.run(
        ["git", "-C", str(sample.path), *ME, "commit", "-q", "-F", "-"],
        input=message,
        check=True,
        capture_output=True,
    )


def whole(sample: Sample, *edits: dict[str, str]) -> Said:
    """A run from the first question to the last, with these edits besides the usual ones."""
    model = sample.model({("implementer", "*", "*"): change(GUARD, TEST, *edits)})
    return sample.forge("run", TASK, "--effort", "S", "--auto", "--nopr", "--model", model)


def implementers_prompt(sample: Sample) -> str:
    """The first prompt that the implementer got."""
    journal = next(sample.scripts.parent.glob("state/forge-bot/*/journal.jsonl")).read_text()
    asked = [
        message["text"]
        for line in journal.splitlines()
        for message in json.loads(line).get("messages", ())
    ]
    return next(text for text in asked if "\n# Implementer\n" in text)


def told(said: Said, code: str) -> str:
    assert said.code == 5, said
    assert code in said.err
    assert "→" in said.err
    return said.err


def write(path: str, new: str) -> dict[str, str]:
    return {"path": path, "operation": "write", "old": "", "new": new}


# -- settings and hooks
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_hook_of_any_kind_runs_and_nothing_is_signed(sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "hooks"
    folder.mkdir()
    for place in (folder, sample.path / ".git" / "hooks"):
        for hook in (
            "pre-commit",
            "commit-msg",
            "prepare-commit-msg",
            "post-commit",
            "post-checkout",
            "reference-transaction",
        ):
            (place / hook).write_text(f"#!/bin/sh\necho {hook} >> {tmp_path / 'ran'}\nexit 1\n")
            (place / hook).chmod(0o755)
    for setting in (
        "commit.gpgsign=true",
        "tag.gpgsign=true",
        "gpg.program=/bin/false",
        f"core.hooksPath={folder}",
    ):
        sample.git("config", *setting.split("="))
    done = whole(sample)
    assert done.code == 0, done
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_no_setting_about_files_changes_what_is_committed(sample: Sample) -> None:
    (sample.path / "windows.txt").write_bytes(b"one\r\ntwo\r\n")
    (sample.path / "marked.txt").write_bytes(b"\xef\xbb\xbfone\r\n")
    committed(sample)
    for setting in (
        "core.autocrlf=true",
        "core.safecrlf=true",
        "core.fileMode=false",
        "core.ignorecase=true",
        "core.precomposeunicode=true",
    ):
        sample.git("config", *setting.split("="))
    two = {"path": "windows.txt", "operation": "replace", "old": "two", "new": "2\nthree"}
    done = whole(sample, two, write("marked.txt", "uno\n"), write("fresh.txt", "a\nb\n"))
    assert done.code == 0, done
    assert not sample.git("diff", "--name-only", f"main...{sample.branch}", "--", "README.md")

    def bytes_of(name: str) -> bytes:
        return (sample.workspace.parents[1] / name).read_bytes()

    assert bytes_of("windows.txt") == b"one\r\n2\r\nthree\r\n"
    assert bytes_of("marked.txt") == b"\xef\xbb\xbfuno\r\n"
    assert bytes_of("fresh.txt") == b"a\r\nb\r\n"


# -- odd contents
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_names_and_messages_that_are_no_utf_8_are_sent_to_a_provider_and_do_no_harm(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        b"caf\xe9.txt",
        b"line\nend.txt",
        b"esc\x1b[31m.txt",
        b"-n",
        b'quo"te.txt',
        "日本.txt".encode(),
    ):
        (sample.path / os.fsdecode(name)).write_text("x\n")
    committed(sample, b"caf\xe9 \x1b[31m\n")
    subprocess.run(
        [b"git", b"-C", os.fsencode(sample.path), b"config", b"user.name", b"Andr\xe9 \x07"],
        check=True,
    )
    sample.git("config", "user.email", "a@b.c")
    looks = {
        "requests": [
            {"provider": "git_log", "params_json": "{}", "reasoning": ""},
            {"provider": "list_files", "params_json": "{}", "reasoning": ""},
            {"provider": "read_file", "params_json": '{"path": "caf\\u00e9.txt"}', "reasoning": ""},
        ],
        "actions": [],
    }
    with AgentServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        server.answers["situation-analyst-investigator", "final-verification", "*"] = looks
        said = sample.forge("run", TASK, "--effort", "S", "--model", "openai-chat:fake")
        assert said.code == 3, said
        server.answers.pop(("situation-analyst-investigator", "final-verification", "*"))
        assert "caf\ufffd" in str([question.body for question in server.questions])
    assert "\x1b" not in said.out + said.err
    for words in (["list"], ["status"], ["doctor", "--model", sample.model()]):
        shown = sample.forge(*words)
        assert shown.code == 0, shown
        assert "\x07" not in shown.out


# -- other repositories
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_submodule_comes_along_untouched_and_is_not_edited(
    sample: Sample, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    subprocess.run(["git", "clone", "-q", str(sample.path), str(library)], check=True)
    sample.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "library"
    )
    committed(sample)
    stuck = whole(sample, write("library/new.py", "x\n"))
    assert stuck.code == 3, stuck
    assert "library is a repository of its own" in stuck.out
    model = sample.model()
    done = sample.forge("reject", "Leave the library alone", "--model", model)
    assert done.code == 0, done
    assert sample.git("rev-parse", f"{sample.branch}:library") == sample.git(
        "rev-parse", "main:library"
    )


@pytest.mark.slow
def test_a_repository_reached_through_a_link_is_the_one_behind_it(
    sample: Sample, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(sample.path)
    model = sample.model()
    assert (
        sample.forge(
            "run",
            TASK,
            "--repo",
            str(tmp_path / "link" / "rota"),
            "--effort",
            "S",
            "--model",
            model,
        ).code
        == 3
    )
    assert sample.forge("approve", "--model", model).code == 0


@pytest.mark.slow
def test_a_partial_clone_without_its_remote_is_told_as_one(sample: Sample, tmp_path: Path) -> None:
    clone = tmp_path / "partial"
    sample.git("config", "uploadpack.allowFilter", "true")
    sample.git(
        "clone", "-q", "--no-checkout", "--filter=blob:none", sample.path.as_uri(), str(clone)
    )
    subprocess.run(
        ["git", "-C", str(clone), "remote", "set-url", "origin", str(tmp_path / "gone")], check=True
    )
    said = sample.forge("run", TASK, "--repo", str(clone), "--model", sample.model())
    assert said.code in {1, 5}, said
    assert "partial clone" in said.err
    assert "by hand" not in said.err


@pytest.mark.slow
@pytest.mark.parametrize("command", [["run", TASK], ["run", TASK, "--in", "rota"], ["init"]])
def test_a_repository_without_a_commit_says_what_to_do_first(
    sample: Sample, tmp_path: Path, command: list[str]
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "new")], check=True)
    assert "git commit" in told(sample.forge(*command, "--repo", str(tmp_path / "new")), "GIT-003")


def test_the_default_branch_may_have_any_name_and_is_not_written_to(
    sample: Sample, tmp_path: Path
) -> None:
    sample.git("branch", "-m", "trunk")
    sample.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    sample.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    sample.git("fetch", "-q")
    sample.git("remote", "set-head", "origin", "trunk")
    said = sample.forge("run", TASK, "--here", "--model", sample.model())
    assert said.code == 2
    assert "--here would write to trunk" in said.err
    waiting = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert waiting.code == 3, waiting


_can_be_read_only = pytest.mark.skipif(
    failure_reason(BackendName.BUBBLEWRAP) != "",
    reason="bubblewrap makes the folder read-only here",
)


def read_only(sample: Sample, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command in a repository that cannot be written."""
    place = str(sample.path)
    around = [next(binaries()), "--dev-bind", "/", "/", "--ro-bind", place, place, "--chdir", place]
    return subprocess.run(
        [*around, sys.executable, "-m", "forge_bot", *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.slow
@_can_be_read_only
def test_a_repository_that_cannot_be_written_is_told_and_left_as_it_was(sample: Sample) -> None:
    done = read_only(sample, "run", TASK, "--effort", "S", "--model", sample.model())
    assert done.returncode == 5, done
    assert "PREFLIGHT-001" in done.stderr
    assert f"{sample.path / '.git'} cannot be written: Read-only file system" in done.stderr
    assert "resume" not in done.stderr, "there is no run to go on with"
    assert "cannot be written" in read_only(sample, "doctor").stdout
    assert sample.git("branch", "--format=%(refname:short)") == "main"


@pytest.mark.slow
@_can_be_read_only
def test_runs_in_a_repository_that_cannot_be_written_are_looked_at(sample: Sample) -> None:
    sample.forge("run", TASK, "--effort", "S", "--yes", "--model", sample.model())
    for words in (("list",), ("status",), ("show", "request.md"), ("status", "--json")):
        before = sample.forge(*words)
        done = read_only(sample, *words)
        assert (done.returncode, done.stdout) == (0, before.out), (words, done.stderr)
