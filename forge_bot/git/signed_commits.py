"""Commits that are signed with an SSH key (git-config(1), `gpg.format`)."""

import re
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from forge_bot.errors import BadSigningKey, GitFailed
from forge_bot.git.process import SIGNING_KEY, git, plain_environment

_COMMENT = re.compile(r"\S+ \S+ (?P<name>[^<>]*[^<>\s]) ?<(?P<address>[^<>\s]+)>")
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
            yield tuple(word for setting in given for word in ("-c", setting))

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
            (
                "Commits for merge have to be signed (`sign: true`), and there is no SSH key "
                "for that."
            ),
            hint=(
                "Let git know yours: git config gpg.format ssh && git config user.signingKey "
                f"~/.ssh/id_ed25519.pub. Or set {SIGNING_KEY}: docs/configuration.md says how."
            ),
        )
    return SigningKey()


def try_key(root: Path, key: SigningKey) -> None:
    """Sign a commit that is kept nowhere. Raises BadSigningKey."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        env = {**_TRIED, **key.environment, "GIT_OBJECT_DIRECTORY": folder}
        try:
            tree = git(root, "mktree", env=env).line
            with key.for_git() as settings:
                git(root, *settings, "commit-tree", "-S", tree, stdin=b"A try\n", env=env)
        except GitFailed as error:
            raise BadSigningKey(
                "A commit could not be signed.",
                hint=None
                if key.text
                else "Sign by hand to see what is missing: git commit --allow-empty -S -m try",
                details=(error.output.strip(),),
            ) from None


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
                "There is no ssh-keygen here that answers, and git signs by it.",
                hint="Install OpenSSH's client programs (openssh-client).",
            ) from None
    if done.returncode != 0:
        locked = "passphrase" in done.stderr
        raise BadSigningKey(
            f"{SIGNING_KEY} is locked by a passphrase, and nobody is there to give it."
            if locked
            else f"{SIGNING_KEY} is no private key that OpenSSH can read."
        )
    comment = _COMMENT.fullmatch(done.stdout.strip())
    if comment is None:
        raise BadSigningKey(
            f"The comment of {SIGNING_KEY} does not say who commits, as NAME <ADDRESS>.",
            hint=(
                "A host calls a signature verified where the address belongs to the account "
                "with the key. ssh-keygen -c -C 'NAME <ADDRESS>' -f FILE changes the comment."
            ),
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
