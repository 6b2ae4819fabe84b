"""Make and read commits with trailers that can be trusted, and sign them with an SSH key
(git-config(1), `gpg.format`).
"""

import os
import posixpath
import re
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath

from forge_bot.errors import BadSigningKey, GitFailed, RecordChanged
from forge_bot.forge import OWN_ADDRESS
from forge_bot.git.process import FROM_INPUT, LONG, SIGNING_KEY, git, listing, plain_environment
from forge_bot.git.revisions import HEADS, head, ref_target, tree_id, unlock_ref

Trailers = tuple[tuple[str, str], ...]

OWN_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "forge-bot"), ("EMAIL", OWN_ADDRESS))
}
"""Variables of git that name forge-bot as author and committer."""
# useConfigOnly, as in `identity`: a user without a name there gets ours, and not that of the
# machine.
SETTINGS = ("-c", "i18n.commitEncoding=UTF-8", "-c", "user.useConfigOnly=true")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_LINE = re.compile(rf"({_KEY.pattern}):[ \t]*(.*)")
_CHERRY = "(cherry picked from commit "
_BETWEEN = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class RefMove:
    """A ref, the commit that it is moved to, and the one it was seen at; empty for a new ref."""

    ref: str
    to: str
    seen: str = ""


def move_refs(root: Path, moves: Sequence[RefMove]) -> None:
    """Move refs in one transaction: all of them, each from where it was seen, or none.

    Raises RecordChanged where one of them has moved meanwhile, GitFailed for all else.
    """
    for move in moves:
        unlock_ref(root, move.ref)
    lines = [f"update {move.ref} {move.to} {move.seen or '0' * len(move.to)}" for move in moves]
    text = "\n".join(("start", *lines, "prepare", "commit", ""))
    try:
        git(root, "update-ref", "--stdin", stdin=text.encode(), seconds=LONG)
    except GitFailed as error:
        moved = [move.ref for move in moves if (ref_target(root, move.ref) or "") != move.seen]
        if not moved:
            raise
        raise RecordChanged(
            f"{', '.join(moved)} was moved by another program in this moment; nothing was recorded."
        ) from error


@dataclass(frozen=True, slots=True)
class NewCommit:
    """The files and the message of a commit that is to be made.

    `paths` are taken as the work tree has them, ignored or not, deletions included. `contents` are
    bytes by path, whatever the work tree has. Instead of both, `tree` names a tree with all files.
    Trailers make the last paragraph of the message, one line each. `when` is an ISO 8601 time for
    both dates.
    """

    message: str
    trailers: Sequence[tuple[str, str]]
    paths: Sequence[str] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    tree: str = ""
    parents: Sequence[str] = ()
    when: str | None = None


def commit_after(folder: Path, before: str, new: NewCommit) -> str:
    """Make a commit after another one, and return its id; `before` itself if no file would differ.

    No ref, index or file changes. `parents` are added behind the first one.
    """
    text = message_text(new.message, new.trailers).encode(errors="replace")
    tree = tree_after(folder, before, new)
    if tree == tree_id(folder, before) and not new.parents:
        return before
    dates = {"GIT_AUTHOR_DATE": new.when, "GIT_COMMITTER_DATE": new.when} if new.when else {}
    parents = [word for parent in (before, *new.parents) for word in ("-p", parent)]
    words = (*SETTINGS, "commit-tree", "--no-gpg-sign", *parents, "-F", "-", tree)
    return git(folder, *words, stdin=text, env={**identity(folder), **dates}).line


def tree_after(folder: Path, before: str, new: NewCommit) -> str:
    """Make the tree of a commit that is to follow another one, and return its id."""
    if not (new.paths or new.contents):
        return tree_id(folder, new.tree or before)
    paths = [posixpath.normpath(path) if path else path for path in new.paths]
    with index_of(folder, before) as index:
        if addable := _addable(folder, paths, index):
            # Also those that a sparse checkout leaves out.
            words = ("add", "--all", "--force", "--sparse", "--", *addable)
            git(folder, *words, env=index, seconds=LONG)
        if new.contents:
            contents = new.contents.items()
            rows = (f"100644 {store(folder, data)}\t{path}" for path, data in contents)
            git(folder, "update-index", "-z", "--index-info", stdin=listing(rows), env=index)
        return git(folder, "write-tree", env=index, seconds=LONG).line


@contextmanager
def index_of(folder: Path, tree: str) -> Generator[Mapping[str, str]]:
    """Make a separate index with a tree, and yield git's environment for it."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        env = {"GIT_INDEX_FILE": f"{name}/index"}
        git(folder, "read-tree", tree, env=env, seconds=LONG)
        yield env


def store(folder: Path, data: bytes, path: str = "") -> str:
    """Store a file in git; return its object id. With a path it is stored as `git add` would, by
    the attributes of the work tree; without one unchanged by any filter.
    """
    filters = f"--path={path}" if path else "--no-filters"
    return git(folder, "hash-object", "-w", "--stdin", filters, stdin=data).line


def commit(
    folder: Path,
    message: str,
    trailers: Sequence[tuple[str, str]],
    paths: Sequence[str],
    *,
    when: str | None = None,
) -> str | None:
    """Commit these files and folders on the branch that is checked out; return the commit's id,
    None when nothing changed. What else is staged stays staged.
    """
    before = head(folder)
    made = commit_after(folder, before.commit, NewCommit(message, trailers, paths, when=when))
    if made == before.commit:
        return None
    move_refs(folder, [RefMove(HEADS + before.branch, made, before.commit)])
    match_index(folder, paths)
    return made


def match_index(folder: Path, paths: Sequence[str] = (".",)) -> None:
    """Make these files in the index those of the newest commit. Files stay as they are."""
    git(folder, "reset", "--quiet", *FROM_INPUT, stdin=listing(paths), seconds=LONG)


def last_author(folder: Path, path: str, *, tip: str = "HEAD") -> str:
    """Return the author's name of the last commit that changed a file; empty without one."""
    answer = git(folder, "log", "-1", "--no-color", "--format=%aN", tip, "--", path)
    return answer.out.decode(errors="replace").strip()


@lru_cache(maxsize=64)
def identity(folder: Path) -> Mapping[str, str]:
    """Return an environment with forge-bot as author or committer, where the user has configured no
    name and address. Git is asked once.
    """
    extra: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        # useConfigOnly: git must not make up an address out of login and host name.
        asked = ("-c", "user.useConfigOnly=true", "var", f"GIT_{role}_IDENT")
        if git(folder, *asked, ok=(0, 128)).code != 0:
            extra |= {name: value for name, value in OWN_IDENTITY.items() if role in name}
    return extra


def read_trailers(message: str) -> Trailers:
    """Trailers of a message: its last paragraph, when that is not the first and holds nothing else.

    Own code and not %(trailers): git looks for them above a scissors line and obeys
    trailer.separators, so a text in the body or a setting could pass off other lines as the
    trailers.
    """
    paragraphs = _BETWEEN.split(message.strip("\n"))
    trailers: list[tuple[str, str]] = []
    for line in paragraphs[-1].split("\n") if len(paragraphs) > 1 else ():
        match = _LINE.fullmatch(line)
        if match:
            trailers.append((match[1], match[2].strip()))
        elif line[:1] in {" ", "\t"} and trailers:
            key, value = trailers[-1]
            trailers[-1] = (key, f"{value} {line.strip()}")
        elif not line.startswith(_CHERRY):
            return ()
    return tuple(trailers)


def _addable(folder: Path, paths: list[str], index: Mapping[str, str]) -> list[str]:
    """Return the paths that exist or are in the index; `git add` fails for any other, such as a
    deletion staged before.
    """
    gone = {path for path in paths if not os.path.lexists(folder / path)}
    tracked = git(folder, "ls-files", "-z", "--", *gone, env=index).names if gone else ()
    known = {*tracked, *(str(above) for name in tracked for above in PurePath(name).parents)}
    return [path for path in paths if path not in gone or path in known]


def message_text(message: str, trailers: Sequence[tuple[str, str]]) -> str:
    """Return a message with its trailers as the last paragraph, one line each.

    Raises ValueError for no message or a bad key.
    """
    lines: list[str] = []
    for key, value in trailers:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} cannot be the key of a trailer")
        # A value on one line cannot begin a trailer of its own.
        lines.append(f"{key}: {' '.join(value.split())}")
    text = message.replace("\r\n", "\n").strip()
    if not text:
        raise ValueError("a commit needs a message")
    return "\n".join((text, "", *lines, "")).replace("\0", "")


_COMMENT = re.compile(r"\S+ \S+ (?P<name>[^<>]*[^<>\s]) ?<(?P<address>[^<>\s]+)>")
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
            "Commits for merge have to be signed (`sign: true`), and there is no SSH key for that.",
            hint=(
                "Let git know yours: git config gpg.format ssh && git config user.signingKey "
                f"~/.ssh/id_ed25519.pub. Or set {SIGNING_KEY}: docs/configuration.md says how."
            ),
        )
    return SigningKey()


def try_key(root: Path, key: SigningKey) -> None:
    """Sign a commit that is kept nowhere. Raises BadSigningKey."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        env = {**OWN_IDENTITY, **key.environment, "GIT_OBJECT_DIRECTORY": folder}
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
