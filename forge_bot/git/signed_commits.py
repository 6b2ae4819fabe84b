"""Commits that are signed with an SSH key (git-config(1), `gpg.format`). Ed25519 signs the same
bytes the same way, at any time, so machines with the same key make the same commits.
"""

import base64
import hashlib
import re
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from forge_bot.errors import BadSigningKey, GitFailed
from forge_bot.git.process import SIGNING_KEY, git, plain_environment
from forge_bot.sentences import say

_KIND = "ssh-ed25519"
_COMMENT = re.compile(r"\S+ \S+ (?P<name>[^<>]*[^<>\s]) ?<(?P<address>[^<>\s]+)>")
_ARMOUR = re.compile(rb"-----BEGIN SSH SIGNATURE-----(.*?)-----END SSH SIGNATURE-----", re.DOTALL)
_BEFORE_KEY = len(b"SSHSIG") + 4
"""Bytes of a signature before the public key in it: the mark and the version (OpenSSH,
PROTOCOL.sshsig)."""

_TRIED = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "forge-bot"), ("EMAIL", "-"), ("DATE", "@0 +0000"))
}
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The key that commits are signed with: an OpenSSH private key with the name and address that
    it commits as, or the one that git itself knows of the user, if the text is empty.
    """

    text: str = field(default="", repr=False)
    committer: tuple[str, str] | None = None

    @contextmanager
    def for_git(self) -> Generator[tuple[str, ...]]:
        """Lend git the key: the settings for a command that signs. What lies on the disk for it is
        the user's own alone, and gone afterwards.
        """
        if not self.text:
            yield ()
            return
        with _file(self.text) as place:
            given = ("gpg.format=ssh", "gpg.ssh.program=ssh-keygen", f"user.signingKey={place}")
            yield tuple(word for each in given for word in ("-c", each))

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for a command that signs: who commits."""
        if self.committer is None:
            return {}
        name, address = self.committer
        return {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address}


def find_key(root: Path, environ: Mapping[str, str], *, wanted: bool) -> SigningKey | None:
    """Return the key in the environment, else, if one is `wanted`, the user's key in git's
    configuration. Return None if commits are not signed. Raises BadSigningKey.
    """
    text = environ.get(SIGNING_KEY, "").replace("\r\n", "\n").strip()
    if text:
        return SigningKey(f"{text}\n", _committer(f"{text}\n"))
    if not wanted:
        return None
    if git(root, "config", "--get", "gpg.format", ok=(0, 1)).line != "ssh":
        raise BadSigningKey(
            say("git.signed_commits.key_is_missing"),
            hint=(say("git.signed_commits.configure_a_key", signing_key=SIGNING_KEY)),
        )
    return SigningKey()


def try_key(root: Path, key: SigningKey) -> str:
    """Sign a commit that is kept nowhere; the fingerprint of the key, as `ssh-keygen -l` prints it.
    Raises BadSigningKey.
    """
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        env = {**_TRIED, **key.environment, "GIT_OBJECT_DIRECTORY": folder}
        try:
            tree = git(root, "mktree", env=env).line
            with key.for_git() as settings:
                made = git(root, *settings, "commit-tree", "-S", tree, stdin=b"A try\n", env=env)
            raw = git(root, "cat-file", "commit", made.line, env=env).out
        except GitFailed as error:
            raise BadSigningKey(
                say("git.signed_commits.signing_failed"),
                hint=None if key.text else say("git.signed_commits.sign_by_hand"),
                details=(error.output.strip(),),
            ) from None
    armour = _ARMOUR.search(raw)
    blob = base64.b64decode(armour[1]) if armour is not None else b""
    public = _string(blob[_BEFORE_KEY:])
    kind = _string(public).decode(errors="replace")
    if kind != _KIND:
        raise BadSigningKey(
            say("git.signed_commits.key_of_wrong_kind", kind=kind or "unknown", needed=_KIND)
        )
    return f"SHA256:{base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip('=')}"


def _committer(text: str) -> tuple[str, str]:
    """Return the name and address in the comment of a private key. Raises BadSigningKey."""
    with _file(text) as place:
        words = ["ssh-keygen", "-y", "-P", "", "-f", str(place)]
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
                env=plain_environment(),
            )
        except (FileNotFoundError, subprocess.TimeoutExpired):
            raise BadSigningKey(
                say("git.signed_commits.ssh_keygen_is_missing"),
                hint=say("git.signed_commits.install_openssh"),
            ) from None
    if done.returncode != 0:
        locked = "passphrase" in done.stderr
        raise BadSigningKey(
            say("git.signed_commits.key_is_locked", signing_key=SIGNING_KEY)
            if locked
            else say("git.signed_commits.key_is_unreadable", signing_key=SIGNING_KEY)
        )
    comment = _COMMENT.fullmatch(done.stdout.strip())
    if comment is None:
        raise BadSigningKey(
            say("git.signed_commits.comment_names_nobody", signing_key=SIGNING_KEY),
            hint=(say("git.signed_commits.how_to_change_the_comment")),
        )
    return comment["name"], comment["address"]


@contextmanager
def _file(text: str) -> Generator[Path]:
    """A file with a private key that only this user may read; it goes with the `with`."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        place = Path(folder, "key")
        place.touch(0o600)
        place.write_text(text, encoding="utf-8")
        yield place


def _string(data: bytes) -> bytes:
    """Return the string that data begins with (RFC 4251, 5)."""
    return data[4 : 4 + int.from_bytes(data[:4])]
