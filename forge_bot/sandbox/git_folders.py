"""Recognise secrets: names of variables and settings, and addresses with credentials. And the parts
of git's own folders that a command sees: those that git itself reads there, and configuration
without secrets.

Source: gitrepository-layout(5). Anything else in such a folder was put there by a person or a tool,
often because it is private: a store of `credential.helper`, cookies, an included configuration.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

_NAME = re.compile(
    r"token|secret|passw|passphrase|credential|auth|api_?key|_key\b|keyfile|client_?cert|username"
    r"|extraheader|_pat\b",
    re.IGNORECASE,
)
_ADDRESS_WITH_SECRET = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://"
    r"([^/\s@]*@|\S*[?&][\w-]*(token|key|auth|sig|password|secret)=)",
    re.IGNORECASE,
)
_REPLACED_SECTION = "[hidden]\n"


def secret_name(name: str) -> bool:
    """Return whether a variable or setting with this name usually holds a secret."""
    return bool(_NAME.search(name))


def secret_value(value: str) -> bool:
    """Return whether a value has a user, password or token in an address."""
    return bool(_ADDRESS_WITH_SECRET.search(value))


def without_secrets(text: str) -> str:
    """Remove the lines that hold a secret from a configuration file.

    The file has the forms `name = value` and `name: value`. A section named by a secret (git's
    `[url "https://user:token@host/"]`) keeps its lines under a meaningless name.
    """
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            kept.append(_REPLACED_SECTION if secret_value(line) else line)
        elif not secret_value(line) and not secret_name(
            line.partition("=" if "=" in line else ":")[0]
        ):
            kept.append(line)
    return "".join(kept)


def texts_in(folder: Path, names: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield the files of these names that are there and can be read, each with its text."""
    for file in (folder / name for name in names):
        if file.is_file():
            with suppress(OSError):
                yield file, file.read_text(encoding="utf-8", errors="replace")


_CONFIGURATIONS = ("config", "config.worktree")
_SHOWN = frozenset(
    {
        *("HEAD", "objects", "refs", "packed-refs", "reftable", "index", "info", "hooks"),
        *("worktrees", "modules", "shallow", "commondir", "gitdir", "locked", "description"),
        *("lfs", "annex", "rebase-merge", "rebase-apply", "sequencer", *_CONFIGURATIONS),
    }
)
# Git makes and removes these at any moment, and nothing can be mounted where nothing is any more.
_PASSING = (
    *("*.lock", "*.pid", "*.new", "tmp_*", "sharedindex.*", "filling-index", "AUTO_MERGE"),
    *("*_HEAD", "*_MSG", "*_EDITMSG", "MERGE_*", "BISECT_*"),
)
_CREDENTIALS = ("annex", "creds")
"""Where git-annex keeps the keys of its remotes."""

_SECRET = re.compile(rf"{_NAME.pattern}|pass\s*=|proxy\s*=.*@", re.IGNORECASE)
_ORDINARY = re.compile(
    r"\s*(?:\[[^\]]*\]|(?:url|fetch|remote|pushremote|merge|path|branch|name|email)\s*=.*)\s*",
    re.IGNORECASE,
)
"""The header of a section, and settings that name a branch, a place or a person."""
_PLAIN = re.compile(
    r"""\s*(?:\[(?:core|extensions|remote\s*"[^"]*")\]|(?:url|fetch|worktree)\s*=.*[^\\]"""
    r"|(?:repositoryformatversion|bare|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol"
    r"|logallrefupdates|objectformat|refstorage|partialclone|worktreeconfig|sparsecheckout\w*)"
    r"\s*=\s*[\w-]+)\s*",
    re.IGNORECASE,
)
"""What is shown of a configuration that may hold a secret."""


def private_parts(folders: Iterable[Path]) -> tuple[list[Path], dict[Path, str]]:
    """Return what is private in some repositories, their work trees and their submodules: files and
    folders that git does not need, and configuration with secrets, each with its text without them.
    """
    hidden: list[Path] = []
    cleaned: dict[Path, str] = {}
    for folder in [repository for top in folders for repository in _git_folders(top)]:
        hidden += _unknown(folder)
        cleaned |= {
            file: clean
            for file, text in texts_in(folder, _CONFIGURATIONS)
            if (clean := _without_secrets(text)) != text
        }
    return hidden, cleaned


def _git_folders(folder: Path) -> Iterator[Path]:
    """Yield a git folder and those in it: names may have slashes. Links are not followed."""
    if (folder / "HEAD").is_file():
        yield folder
        inner = [folder / "modules", *_folders_in(folder / "worktrees")]
    else:
        inner = _folders_in(folder)
    for candidate in inner:
        yield from _git_folders(candidate)


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _unknown(folder: Path) -> Iterator[Path]:
    """Yield what is in a git folder and not of git, the keys of git-annex, and the reflogs: `git
    pull` writes its address there, with the password in it.
    """
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except FileNotFoundError:
        # Another run has removed its work tree meanwhile.
        return
    for entry in entries:
        name = entry.name
        if name in _SHOWN or entry.is_symlink():
            continue
        if any(fnmatch(name, pattern) for pattern in _PASSING):
            continue
        yield Path(entry)
    if (keys := folder.joinpath(*_CREDENTIALS)).is_dir():
        yield keys


def _without_secrets(text: str) -> str:
    """Return a configuration as it is, or the plain settings of one that may hold a secret."""
    lines = text.splitlines(keepends=True)
    if not any(map(_may_hold_secret, lines)):
        return text
    return "".join(line for line in lines if _PLAIN.fullmatch(line) and not secret_value(line))


def _may_hold_secret(line: str) -> bool:
    return secret_value(line) or bool(_SECRET.search(line) and not _ORDINARY.fullmatch(line))
