"""Make and read commits with trailers that can be trusted."""

import posixpath
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from forge_bot.errors import GitFailed
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import commit_id, head

Trailers = tuple[tuple[str, str], ...]
Made = TypeVar("Made")

OWN_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "forge-bot"), ("EMAIL", "forge-bot@users.noreply.github.com"))
}
"""Variables of git that name forge-bot as author and committer."""
# useConfigOnly, as in `identity`: a user without a name there gets ours, and not that of the
# machine.
SETTINGS = ("-c", "i18n.commitEncoding=UTF-8", "-c", "user.useConfigOnly=true")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_LINE = re.compile(rf"({_KEY.pattern}):[ \t]*(.*)")
_CHERRY = "(cherry picked from commit "
_INDEX_NAMES = (
    "diff-index",
    "--cached",
    "--name-only",
    "-z",
    "--no-renames",
    "--ignore-submodules=dirty",
)
_LOG_FORM = (
    "-z",
    "--topo-order",
    "--no-color",
    "--no-notes",
    "--no-patch",
    "--encoding=UTF-8",
    "--format=tformat:%H%x00%s%x00%B",
)
_SPARSE = "outside of your sparse-checkout definition"
_BETWEEN = re.compile(r"\n[ \t]*\n")

_nameless: set[Path] = set()
"""Work trees in which git has refused to commit because it knows no name or address of the user."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: full id, first line of its message, trailers in order, and the whole message."""

    id: str
    subject: str
    trailers: Trailers
    message: str = field(default="", compare=False, repr=False)


def commit(
    folder: Path,
    message: str,
    trailers: Sequence[tuple[str, str]],
    paths: Sequence[str] | None = None,
    *,
    when: str | None = None,
) -> str | None:
    """Commit everything, or exactly the named files and folders, deletions included; gives the id,
    None when nothing changed.

    Paths count from the top of the tree. Named ones are taken even if they are ignored; what else
    is staged stays staged. Trailers make the last paragraph, one line each. `when` is an ISO 8601
    time for both dates.
    """
    before = head(folder)
    text = message_text(message, trailers)
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    clean = [posixpath.normpath(path) if path else path for path in paths or ()]
    addable = _addable(folder, clean)
    if addable:
        _add(folder, addable)
    names = _staged(folder, before.commit, None if paths is None else clean)
    if not names:
        return None
    if not _signed(folder, text, None if paths is None else names, dates):
        raise GitFailed(f"git refused to commit in {folder}.")
    return head(folder).commit


def log(folder: Path, since: str | None = None) -> tuple[Commit, ...]:
    """Commits reachable from HEAD, not from `since`, newest first, a child before its parents."""
    limits = () if since is None else (f"^{commit_id(folder, since)}",)
    answer = git(folder, "-c", "log.showSignature=false", "log", *_LOG_FORM, "HEAD", *limits, "--")
    fields = answer.out.decode(errors="replace").split("\0")
    triples = zip(fields[0::3], fields[1::3], fields[2::3], strict=False)
    return tuple(Commit(oid, subject, read_trailers(body), body) for oid, subject, body in triples)


def last_author(folder: Path, path: str) -> str:
    """Return the author's name of the last commit that changed a file; empty without one."""
    answer = git(folder, "log", "-1", "--no-color", "--format=%aN", "HEAD", "--", path)
    return answer.out.decode(errors="replace").strip()


def identity(folder: Path) -> dict[str, str]:
    """Return an environment with forge-bot as author or committer, where the user has configured no
    name and address.
    """
    extra: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        # useConfigOnly: git must not make up an address out of login and host name.
        if (
            git(
                folder, "-c", "user.useConfigOnly=true", "var", f"GIT_{role}_IDENT", ok=(0, 128)
            ).code
            != 0
        ):
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


def _staged(folder: Path, before: str, paths: Sequence[str] | None) -> bytes:
    """Return the names of the files in which the index differs from the last commit, NUL after
    each; without paths, everything is put into the index first.
    """
    if paths is None:
        git(folder, "add", "--all", seconds=LONG)
        return git(folder, *_INDEX_NAMES, before, "--").out
    return git(folder, *_INDEX_NAMES, before, "--", *paths).out if paths else b""


def _add(folder: Path, paths: list[str]) -> None:
    """Add named paths to the index, also those that a sparse checkout leaves out."""
    try:
        git(folder, "add", "--all", "--force", "--", *paths, seconds=LONG)
    except GitFailed as error:
        # Only git 2.34 and newer refuses them, and only those know the option.
        if _SPARSE not in error.output:
            raise
        git(folder, "add", "--all", "--force", "--sparse", "--", *paths, seconds=LONG)


def _addable(folder: Path, paths: list[str]) -> list[str]:
    """Return the paths that exist or are in the index; `git add` fails for any other, such as a
    deletion staged before.
    """
    gone = {path for path in paths if not _present(folder, path)}
    tracked = git(folder, "ls-files", "-z", "--", *gone).names if gone else ()
    lost = {
        path
        for path in gone
        if not any(name == path or name.startswith(f"{path}/") for name in tracked)
    }
    return [path for path in paths if path not in lost]


def _present(folder: Path, path: str) -> bool:
    place = folder / path
    return place.is_symlink() or place.exists()


def _signed(folder: Path, text: str, names: bytes | None, env: Mapping[str, str]) -> bool:
    """Make the commit in the user's name, and return whether there was anything to commit."""
    return in_a_name(folder, lambda ours: _record(folder, text, names, {**ours, **env}))


def in_a_name(folder: Path, make: Callable[[Mapping[str, str]], Made]) -> Made:
    """Have git make a commit in the user's name.

    If the user has no name, `make` gets an environment with ours. Git is asked for the name only
    after it has once refused to commit without one.
    """
    ours = identity(folder) if folder in _nameless else {}
    try:
        return make(ours)
    except GitFailed:
        ours = {} if folder in _nameless else identity(folder)
        if not ours:
            raise
        _nameless.add(folder)
        return make(ours)


def _record(folder: Path, text: str, names: bytes | None, env: Mapping[str, str]) -> bool:
    options = ("--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--file=-")
    if names is None:
        git(folder, *SETTINGS, "commit", *options, stdin=_bytes(text), env=env, seconds=LONG)
        return True
    with tempfile.NamedTemporaryFile(prefix="forge-bot-") as listing:
        listing.write(names)
        listing.flush()
        only = ("--only", f"--pathspec-from-file={listing.name}", "--pathspec-file-nul")
        words = (*SETTINGS, "commit", *options, *only)
        # 1: nothing has changed, or one of the names is known to nobody (git-commit(1)).
        done = git(folder, *words, stdin=_bytes(text), env=env, seconds=LONG, ok=(0, 1))
        return done.code == 0


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


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")
