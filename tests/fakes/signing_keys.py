"""SSH keys that sign commits, made by ssh-keygen, and what git says of the commits."""

import shutil
import subprocess
from pathlib import Path

import pytest

COMMITTER = "Acme bot <bot@acme.example>"


def signing_key(
    folder: Path, *, kind: str = "ed25519", comment: str = COMMITTER, passphrase: str = ""
) -> Path:
    """A new private key in a folder; its public half lies beside it. Skips without ssh-keygen."""
    program = shutil.which("ssh-keygen")
    if program is None:
        pytest.skip("ssh-keygen is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "id"
    words = [program, "-q", "-t", kind, "-N", passphrase, "-C", comment, "-f", str(place)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return place


def verified(repository: Path, key: Path, tip: str, form: str = "%G? %GS %cn <%ce>") -> str:
    """What git says of the newest commit, where this key is known as that of `signer`."""
    known = key.with_name("allowed")
    known.write_text(f"signer {key.with_suffix('.pub').read_text()}", encoding="utf-8")
    settings = ("-c", f"gpg.ssh.allowedSignersFile={known}", "-c", "log.showSignature=false")
    words = ["git", "-C", str(repository), *settings, "log", "-1", f"--format={form}", tip]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
