"""Files that git ignores and that the configuration names (`carry`): commands find them in their
tree, and nobody else does.
"""

import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from forge_bot.agent.redaction import secrets_of
from forge_bot.git import Tree
from forge_bot.runs.notifications import Notify, warning


class CarriedFiles:
    """Files of a person's checkout, by their paths in the repository."""

    def __init__(self, checkout: Path, names: Sequence[str], tell: Notify) -> None:
        self._checkout = Tree(checkout)
        self._names = names
        self._tell = tell
        self._told: set[str] = set()

    @contextmanager
    def copied_to(self, place: Tree) -> Generator[None]:
        """Copy the files into a tree for the time of the block. Neither replaced nor removed is
        what lies at their paths there.
        """
        copied: list[str] = []
        try:
            for name in self._missing_in(place):
                copied.append(name)
                (place.path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self._checkout.path / name, place.path / name, follow_symlinks=False)
            yield
        finally:
            for name in copied:
                _remove_file(place.path, name)

    def secrets(self) -> Mapping[str, str]:
        """Return the values in the files, by variable, that must not be shown."""
        if not self._names:
            return {}
        files = [self._checkout.path / name for name in self._fitting()]
        lines = [
            line.strip().removeprefix("export ").partition("=")
            for file in files
            for line in file.read_text("utf-8", "replace").splitlines()
        ]
        return secrets_of({name.strip(): value.strip().strip("\"'") for name, _, value in lines})

    def _missing_in(self, place: Tree) -> Sequence[str]:
        """Return the files to copy into a tree; tell once of each that cannot be."""
        if not self._names or place.path == self._checkout.path:
            return ()
        fitting = self._fitting()
        for name in self._names:
            if name not in fitting and name not in self._told:
                self._told.add(name)
                self._tell(
                    warning(
                        f"{name} is not taken along, as `carry` asks: only a file that git "
                        "ignores, and no link, can be"
                    )
                )
        free = [name for name in fitting if not os.path.lexists(place.path / name)]
        # What git would see there could get into a commit.
        return place.would_ignore([name for name in free if _lies_inside(place.path, name)])

    def _fitting(self) -> Sequence[str]:
        root = self._checkout.path
        files = [
            name
            for name in self._names
            if not (root / name).is_symlink() and (root / name).is_file()
            if os.access(root / name, os.R_OK) and _lies_inside(root, name)
        ]
        return self._checkout.would_ignore(files)


def _lies_inside(root: Path, name: str) -> bool:
    """Return whether no link leads to a path below a folder elsewhere."""
    return (root / name).parent.resolve() == root.resolve() / Path(name).parent


def _remove_file(root: Path, name: str) -> None:
    """Remove a file of a tree, and the folders that are empty then; nothing through a link."""
    if not _lies_inside(root, name):
        return
    with suppress(OSError):
        (root / name).unlink()
        for folder in (root / name).parents[: -len(root.parts)]:
            folder.rmdir()
