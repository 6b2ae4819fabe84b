"""The ignored files that commands make in a run's own work tree, where no setup runs: a later
command would believe them, though they may be made from edits that nobody accepted.
"""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from forge_bot.git import Tree
from forge_bot.store import SPECS, write_whole


class MadeByCommands:
    """The ignored files that commands make in a tree where a person may keep such files too.

    They are noted beside the run, so that another process removes what a killed one left.
    """

    def __init__(self, tree: Tree, note: Path) -> None:
        self._tree = tree
        self._note = note

    @contextmanager
    def noted(self) -> Generator[None]:
        """Note what appears in the tree during the block."""
        before = self._ignored()
        made = self._made(lambda: before)
        self._keep({"made": made, "before": before})
        try:
            yield
        finally:
            self._keep({"made": made | (self._ignored() - before)})

    def remove(self, kept: Iterable[str] = ()) -> None:
        """Remove all that commands made, but for some paths and everything below them, and the
        folders that are empty then.
        """
        if not self._note.is_file():
            return
        tops = frozenset(map(Path, kept))
        made = self._made(self._ignored)
        stay = {name for name in made if not tops.isdisjoint((Path(name), *Path(name).parents))}
        for name in sorted(made - stay, reverse=True):
            remove_file(self._tree.path, name)
        if stay:
            self._keep({"made": stay})
        else:
            self._note.unlink()

    def _ignored(self) -> frozenset[str]:
        return frozenset(name for name in self._tree.ignored() if not name.startswith(f"{SPECS}/"))

    def _made(self, now: Callable[[], frozenset[str]]) -> frozenset[str]:
        """Return what is noted, with what a command made whose process was killed; git is asked for
        the files of `now` in that case only.
        """
        try:
            note: dict[str, list[str]] = json.loads(self._note.read_bytes())
        except (OSError, ValueError):
            return frozenset()
        killed = now().difference(note["before"]) if "before" in note else frozenset[str]()
        return killed.union(note["made"])

    def _keep(self, note: Mapping[str, Iterable[str]]) -> None:
        # In ASCII: names need not be UTF-8.
        write_whole(self._note, json.dumps({key: sorted(names) for key, names in note.items()}))


def lies_inside(root: Path, name: str) -> bool:
    """Return whether no link leads to a path below a folder elsewhere."""
    return (root / name).parent.resolve() == root.resolve() / Path(name).parent


def remove_file(root: Path, name: str) -> None:
    """Remove a file of a tree, and the folders that are empty then; nothing through a link."""
    if not lies_inside(root, name):
        return
    with suppress(OSError):
        (root / name).unlink()
        for folder in (root / name).parents[: -len(root.parts)]:
            folder.rmdir()
