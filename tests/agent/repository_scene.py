"""A short way to git, for tests that need a repository of their own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from forge_bot.agent.capabilities import CapabilityResult

Ask = Callable[..., CapabilityResult]


def git(root: Path, *arguments: str) -> str:
    identity = [
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
