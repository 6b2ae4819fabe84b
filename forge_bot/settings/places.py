"""Where things are kept that do not belong into a repository."""

import os
from pathlib import Path


def state_home() -> Path:
    """Folder for journals, work trees and tool environments: $XDG_STATE_HOME/forge-bot, else ~/.local/state/forge-bot.

    Source: XDG Base Directory Specification; a relative value of the variable is to be ignored.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else Path.home() / ".local" / "state"
    return base / "forge-bot"
