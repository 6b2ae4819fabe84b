"""What of a repository is not here: history, files, submodules. Questions only; nothing is changed or fetched."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forge_bot.git.names import commit_id, tree_id
from forge_bot.git.process import git
from forge_bot.git.unfinished_operation import Operation, under_way

_SUBMODULE = "160000"
_EVERYTHING, _NO_FOLDER = "/*", "!/*/"


@dataclass(frozen=True, slots=True)
class Submodule:
    """Another repository inside this one, by its folder. `filled` says whether its files are in the user's work tree."""

    path: str
    filled: bool


@dataclass(frozen=True, slots=True)
class Sparse:
    """A checkout of only some folders: the tracked files it leaves out, and the rules as `git sparse-checkout list` gives them."""

    left_out: frozenset[str]
    rules: tuple[str, ...]

    def takes_folder(self, name: str) -> bool:
        """Whether new files in this top folder can be committed, as far as the rules name it or everything."""
        if any(rule.strip("/") in {name, f"{name}/*"} for rule in self.rules):
            return True
        return _EVERYTHING in self.rules and not {_NO_FOLDER, f"!/{name}/", f"!/{name}", f"!{name}/", f"!{name}"} & set(self.rules)


@dataclass(frozen=True, slots=True)
class Condition:
    """How a clone stands, seen from one of its work trees and one commit."""

    operation: Operation | None
    commits_here: int | None
    """In a shallow clone, how many commits there are; None in a whole one."""
    sparse: Sparse | None
    submodules: tuple[Submodule, ...]
    committed_at: datetime


def condition(root: Path, commit: str) -> Condition:
    """The condition of the clone around the work tree `root`, for work that begins at `commit`."""
    return Condition(
        operation=under_way(root),
        commits_here=_commits_here(root, commit),
        sparse=_sparse(root),
        submodules=_submodules(root, commit),
        committed_at=datetime.fromtimestamp(int(git(root, "show", "--no-patch", "--format=%ct", commit_id(root, commit)).line), UTC),
    )


def _commits_here(root: Path, commit: str) -> int | None:
    if git(root, "rev-parse", "--is-shallow-repository").line != "true":
        return None
    return int(git(root, "rev-list", "--count", commit_id(root, commit)).line)


def _sparse(root: Path) -> Sparse | None:
    if git(root, "config", "--type=bool", "--get", "core.sparseCheckout", ok=(0, 1)).line != "true":
        return None
    # `S` marks what git leaves out of the work tree (git-ls-files(1), -t).
    rows = git(root, "ls-files", "-t", "-z").names
    rules = git(root, "sparse-checkout", "list", ok=(0, 1, 128)).line.split("\n")
    return Sparse(frozenset(row[2:] for row in rows if row.startswith("S ")), tuple(rule for rule in rules if rule))


def _submodules(root: Path, commit: str) -> tuple[Submodule, ...]:
    rows = (row.partition("\t") for row in git(root, "ls-tree", "-r", "-z", "--full-tree", tree_id(root, commit)).names)
    paths = [name for about, _, name in rows if about.startswith(_SUBMODULE)]
    return tuple(Submodule(path, (root / path / ".git").exists()) for path in paths)
