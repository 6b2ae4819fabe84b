"""Git: the repository, its work trees, and the contents of its commits.

Calls of git are argument lists, never a shell; hooks do not run, and nothing is ever forced or
amended.
"""

from forge_bot.git.commit_history import MergeConflict, merge
from forge_bot.git.files_at import blob_id
from forge_bot.git.repository import Repository, clone_repository, make_repository
from forge_bot.git.revisions import Head, Ref
from forge_bot.git.worktree import Tree

__all__ = [
    "Head",
    "MergeConflict",
    "Ref",
    "Repository",
    "Tree",
    "blob_id",
    "clone_repository",
    "make_repository",
    "merge",
]
