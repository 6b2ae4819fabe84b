"""Git: the repository, its work trees, and what stands in its commits.

Calls of git are argument lists, never a shell; hooks do not run, and nothing is ever forced or amended.
"""

from forge_bot.git.commits import Commit
from forge_bot.git.condition import Condition, Sparse, Submodule
from forge_bot.git.create_repository import clone_repository, make_repository
from forge_bot.git.current_head import Head
from forge_bot.git.files_at import blob_id
from forge_bot.git.lfs import Lfs
from forge_bot.git.merge_files import MergeConflict, merge
from forge_bot.git.repository import Repository
from forge_bot.git.status import StatusEntry
from forge_bot.git.tracking_branches import Tracking
from forge_bot.git.tree import Tree
from forge_bot.git.unfinished_operation import Operation
from forge_bot.git.worktrees import WorktreeInfo

__all__ = [
    "Commit",
    "Condition",
    "Head",
    "Lfs",
    "MergeConflict",
    "Operation",
    "Repository",
    "Sparse",
    "StatusEntry",
    "Submodule",
    "Tracking",
    "Tree",
    "WorktreeInfo",
    "blob_id",
    "clone_repository",
    "make_repository",
    "merge",
]
