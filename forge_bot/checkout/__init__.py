"""Git: the repository, its work trees, and what stands in its commits.

Calls of git are argument lists, never a shell; hooks do not run, and nothing is ever forced or amended.
"""

from forge_bot.checkout.commits import Commit
from forge_bot.checkout.condition import Condition, Sparse, Submodule
from forge_bot.checkout.heads import Head
from forge_bot.checkout.lfs import Lfs
from forge_bot.checkout.making import clone_repository, make_repository
from forge_bot.checkout.merging import MergeConflict, merge
from forge_bot.checkout.operations import Operation
from forge_bot.checkout.reading import blob_id
from forge_bot.checkout.repository import Repository
from forge_bot.checkout.status import Change
from forge_bot.checkout.tracking import Tracking
from forge_bot.checkout.tree import Tree
from forge_bot.checkout.worktrees import WorktreeInfo

__all__ = [
    "Change",
    "Commit",
    "Condition",
    "Head",
    "Lfs",
    "MergeConflict",
    "Operation",
    "Repository",
    "Sparse",
    "Submodule",
    "Tracking",
    "Tree",
    "WorktreeInfo",
    "blob_id",
    "clone_repository",
    "make_repository",
    "merge",
]
