"""The processes below another one."""

import contextlib
from pathlib import Path


def below(pid: int) -> list[int]:
    """All processes that a process started, and those started by them."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                about = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                parent = int(about.rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    started, left = list[int](), [pid]
    while left:
        children = parents.get(left.pop(), [])
        started += children
        left += children
    return started
