"""Keep the paths that a model names inside the work tree.

A path must not lead above it, into git's own folder, or out through a link.
"""

import re
from pathlib import Path, PurePosixPath, PureWindowsPath

from forge_bot.errors import PathEscapes

# Names by which file systems of other machines also reach git's own folder.
_GITS_OWN = frozenset({".git", "git~1"})


def inside(root: Path, path: str) -> Path:
    """Return the real place of `path` below `root`, links followed.

    Raises PathEscapes if it leads anywhere else.
    """
    wanted = normalise(path)
    place = root.resolve()
    try:
        real = (place / wanted).resolve()
    except RuntimeError:  # before Python 3.13, links that lead to each other
        raise PathEscapes(f"{path} is a link that leads nowhere.") from None
    if not real.is_relative_to(place):
        raise PathEscapes(f"{path} leads out of the repository.")
    if is_git_folder(real.relative_to(place).parts):
        raise PathEscapes(f"{path} is git's own.")
    return real


def normalise(path: str) -> str:
    """Return `path` without detours, from the root; empty for the root itself.

    Only the text is checked. Raises PathEscapes.
    """
    if any(not char.isprintable() for char in path):
        raise PathEscapes(f"{path!r} has characters that no path should have.")
    pure = PurePosixPath(path)
    windows = PureWindowsPath(path)
    if pure.is_absolute() or windows.drive or windows.root or path.startswith("~"):
        raise PathEscapes(
            f"{path} is not a path from the root of the repository, such as src/app.py."
        )
    if ".." in pure.parts or ".." in windows.parts:
        raise PathEscapes(f"{path} leads out of the repository.")
    if is_git_folder(pure.parts) or is_git_folder(windows.parts):
        raise PathEscapes(f"{path} is git's own.")
    return "" if str(pure) == "." else str(pure)


def is_git_folder(parts: tuple[str, ...]) -> bool:
    """Return whether any part is git's folder on any file system."""
    return any(part.casefold().rstrip(". ") in _GITS_OWN for part in parts)


def expand_braces(glob: str) -> tuple[str, ...]:
    """Expand a glob with braces, which git does not know: `*.{py,toml}` becomes `*.py` and
    `*.toml`. One with very many braces is returned unchanged.
    """
    choice = _CHOICE.search(glob)
    if choice is None or glob.count("{") > _MOST_BRACES:
        return (glob,)
    before, after = glob[: choice.start()], glob[choice.end() :]
    wholes = (expand_braces(f"{before}{part}{after}") for part in choice[1].split(","))
    return tuple(whole for several in wholes for whole in several)[:_MOST_ALTERNATIVES]


_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_BRACES = 4
_MOST_ALTERNATIVES = 32
