"""Commits for merge that are signed by a key: the same ones on every machine that has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.agent.redaction import redactor
from tests.fakes.sample import Sample
from tests.fakes.signing_keys import COMMITTER, signing_key, verified

pytestmark = pytest.mark.slow

TASK = "Nobody is on call before the rota starts"
KEY = "FORGE_BOT_SIGNING_KEY"
GOOD = f"G signer {COMMITTER}"


def _run(sample: Sample, *options: str) -> None:
    done = sample.forge("run", TASK, "--effort", "S", "--auto", *options, "--model", sample.model())
    assert done.code == 0, done.err


def _configured(sample: Sample, text: str) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "config.yml").write_text(text)
    sample.git("add", ".forge")
    sample.git("commit", "-q", "-m", "Configure")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A key that the environment holds."""
    made = signing_key(tmp_path / "keys")
    monkeypatch.setenv(KEY, made.read_text())
    return made


def test_the_key_is_lent_to_git_in_a_file_of_this_user_that_goes_and_stands_nowhere_else(
    sample: Sample, key: Path, tmp_path: Path
) -> None:
    programs, temporary, seen = (tmp_path / name for name in ("programs", "temporary", "seen"))
    programs.mkdir()
    temporary.mkdir()
    real = subprocess.run(["which", "ssh-keygen"], capture_output=True, text=True, check=True)
    (programs / "ssh-keygen").write_text(
        f'#!/bin/sh\nfor each; do [ -f "$each" ] && stat -c "%a $1 $each" "$each" >>{seen}; done\n'
        f'env | grep ^{KEY}= >>{seen}\nexec {real.stdout.strip()} "$@"\n'
    )
    (programs / "ssh-keygen").chmod(0o755)
    words = ["run", TASK, "--effort", "S", "--auto", "--model", sample.model()]
    environ = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(temporary),
    }
    done = subprocess.run(
        [sys.executable, "-m", "forge_bot", *words],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert verified(sample.path, key, sample.offered) == GOOD
    lines = seen.read_text().splitlines()
    lent = [line.split() for line in lines if " -Y " in line and line.endswith("/key")]
    assert lent
    assert {mode for mode, *_ in lent} == {"600"}
    assert not any(Path(place).exists() for *_, place in lent)
    assert [line for line in lines if KEY in line] == [], "no program gets the variable"
    assert [each for each in temporary.rglob("*") if each.name == "key"] == []
    secret = key.read_bytes().splitlines()[2]
    kept = [each for each in (sample.path, tmp_path / "state") if each.exists()]
    for folder in kept:
        for file in folder.rglob("*"):
            assert file.is_symlink() or not file.is_file() or secret not in file.read_bytes(), file
    objects = subprocess.run(
        ["git", "-C", str(sample.path), "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True,
        check=True,
    )
    assert secret not in objects.stdout
    assert secret.decode() not in done.stdout + done.stderr


def test_the_key_that_git_knows_signs_where_the_configuration_says_so(
    sample: Sample, tmp_path: Path
) -> None:
    key = signing_key(tmp_path / "keys", comment="me@laptop")
    sample.git("config", "user.name", "Ann")
    sample.git("config", "user.email", "ann@acme.example")
    sample.git("config", "gpg.format", "ssh")
    sample.git("config", "user.signingKey", str(key))
    sample.git("config", "commit.gpgSign", "false")
    _run(sample)
    assert verified(sample.path, key, sample.offered, "%G?") == "N"
    sample.forge("abandon")
    _configured(sample, "sign: true\n")
    done = sample.forge(
        "run", "Say who is next", "--effort", "S", "--auto", "--model", sample.model()
    )
    assert done.code == 0, done.err
    branches = sample.git("for-each-ref", "--format=%(objectname)", "refs/heads").split()
    seen = {verified(sample.path, key, each) for each in branches}
    assert "G signer Ann <ann@acme.example>" in seen


UNUSABLE = {
    "no key at all": ({"text": "sk-something"}, "is no private key that OpenSSH can read"),
    "locked": ({"passphrase": "correct horse"}, "is locked by a passphrase"),
    "nobody": ({"comment": "me@laptop"}, "does not say who commits"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_key_that_cannot_sign_is_refused_before_a_run_begins(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    made, said = UNUSABLE[case]
    text = made.get("text") or signing_key(tmp_path / "keys", **made).read_text()
    monkeypatch.setenv(KEY, text)
    done = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert (done.code, "CONFIG-010" in done.err, said in done.err) == (5, True, True), done.err
    assert "ssh-keygen" in done.err
    assert sample.git("branch", "--list", "feature*") == ""
    looked = sample.forge("doctor", "--model", sample.model())
    assert (looked.code, said in looked.out) == (5, True), looked.out
    assert text.splitlines()[-1] not in done.err + looked.out or "\n" not in text


def test_a_configuration_that_cannot_be_held_is_refused_before_a_run_begins(sample: Sample) -> None:
    _configured(sample, "sign: true\n")
    done = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert (done.code, "there is no SSH key for that" in done.err) == (5, True), done.err
    assert sample.git("branch", "--list", "feature*") == ""


def test_the_key_is_struck_line_by_line_and_another_key_is_not(tmp_path: Path) -> None:
    ours, another = (signing_key(tmp_path / name).read_text() for name in ("ours", "another"))
    strike = redactor({KEY: ours})
    assert strike(another) == another
    for line in ours.splitlines()[2:-1]:
        assert strike(f"a log: {line}") == f"a log: [{KEY}]"
