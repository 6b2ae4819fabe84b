"""Parts of the system's folders that a box does not see.

They are files that only some users may read, and files with passwords.
"""

import os
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from forge_bot.sandbox.secrets import without_secrets

_ETC = Path("/etc")
_ALWAYS_PRIVATE = ("environment", "netrc")
_OFTEN_WITH_PASSWORDS = ("pip.conf", "npmrc", "gitconfig", "uv/uv.toml", "apt/auth.conf")


@cache
def private_in_etc() -> tuple[Path, ...]:
    """Return the topmost files and folders under /etc that only some users may read.

    We must be one of these users; root may read all of them.
    """
    return tuple(_not_for_everyone(_ETC))


def _not_for_everyone(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        needed = stat.S_IROTH | stat.S_IXOTH if is_folder else stat.S_IROTH
        always = folder == _ETC and entry.name in _ALWAYS_PRIVATE
        if always or (
            entry.stat(follow_symlinks=False).st_mode & needed != needed
            and os.access(entry.path, os.R_OK)
        ):
            yield Path(entry.path)
        elif is_folder:
            yield from _not_for_everyone(Path(entry.path))


def with_passwords(folders: tuple[Path, ...]) -> dict[Path, str]:
    """Return the visible configuration files with secrets, each with its text without them.

    `folders` may be git folders, whose `config` can hold a token or an address with a password.
    """
    candidates = [_ETC / name for name in _OFTEN_WITH_PASSWORDS] + [
        folder / "config" for folder in folders
    ]
    return {file: clean for file in candidates if (clean := _cleaned(file)) is not None}


def _cleaned(file: Path) -> str | None:
    """Return the text without its secrets; None if there is no file, or nothing to remove."""
    if not file.is_file():
        return None
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    clean = without_secrets(text)
    return None if clean == text else clean
