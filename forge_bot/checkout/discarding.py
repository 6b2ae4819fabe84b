"""Files put back to the last commit: what a project's own commands left behind is no work of anybody."""

import os
from collections.abc import Sequence
from pathlib import Path

from forge_bot.checkout.git import LONG, git


def discard(folder: Path, paths: Sequence[str]) -> None:
    """Restore each named file from HEAD, or remove it if HEAD does not have it.

    Only files: a folder, which is how git names a nested repository, is left alone, and so is everything of git's own.
    """
    files = [path for path in paths if not path.endswith("/") and ".git" not in path.split("/")]
    files = [path for path in files if (folder / path).is_symlink() or not (folder / path).is_dir()]
    if not files:
        return
    # Names go in and out by pipes: an installation leaves more files behind than fit on a command line.
    known = set(git(folder, "ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD").names).intersection(files)
    for path in files:
        if path not in known:
            (folder / path).unlink(missing_ok=True)
    if known:
        listing = b"".join(os.fsencode(path) + b"\0" for path in sorted(known))
        options = ("--pathspec-from-file=-", "--pathspec-file-nul")
        git(folder, "checkout", "--quiet", "HEAD", *options, stdin=listing, seconds=LONG)
