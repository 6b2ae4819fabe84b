"""Finds the templates: beside this file in a wheel, beside the package in a checkout; and the
folder for files that do not belong in a repository.
"""

import os
from pathlib import Path

from forge_bot.errors import NoStateHome

_PACKAGE = Path(__file__).parent


def templates() -> Path:
    """Folder with `pipelines/`, `prompts/` and `demo/`."""
    packaged, beside = _PACKAGE / "templates", _PACKAGE.parent / "templates"
    return packaged if packaged.is_dir() and not beside.is_dir() else beside


def state_home() -> Path:
    """Folder for journals, work trees and tool environments: $XDG_STATE_HOME/forge-bot, else
    ~/.local/state/forge-bot.

    Source: XDG Base Directory Specification; a relative value of the variable is to be ignored.
    Raises NoStateHome.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else _home() / ".local" / "state"
    return base / "forge-bot"


def _home() -> Path:
    try:
        home = Path.home()
    except RuntimeError:
        # Containers run under numbers that no user list knows.
        raise NoStateHome(
            "HOME is not set, and the system knows no home folder for this user."
        ) from None
    if not home.is_absolute():
        raise NoStateHome(f"HOME is {str(home)!r}, which is no absolute path.")
    return home
