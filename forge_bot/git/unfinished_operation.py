"""What git has begun in a work tree and not finished: a merge, a rebase, a search by bisect."""

from dataclasses import dataclass
from pathlib import Path

from forge_bot.git.process import git

# The files by which git itself knows it (wt-status.c, wt_status_get_state), in the order in which they decide.
_SIGNS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
_TODO = "sequencer/todo"


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is under way, by the name of its git command."""

    name: str

    @property
    def way_out(self) -> str:
        """How a person ends it."""
        if self.name == "bisect":
            return "End it with `git bisect reset`."
        return f"Finish it (git {self.name} --continue) or give it up (git {self.name} --abort)."


def under_way(folder: Path) -> Operation | None:
    """What is under way in this work tree; each work tree has its own."""
    own = Path(git(folder, "rev-parse", "--absolute-git-dir").line)
    found = next((name for sign, name in _SIGNS if (own / sign).exists()), None)
    if found is None and (own / _TODO).is_file():
        # Between two commits of a series the sign of the single one is gone.
        found = "revert" if (own / _TODO).read_bytes().startswith(b"revert") else "cherry-pick"
    return Operation(found) if found else None
