"""A repository with a bit of everything, and a way to ask for what is in it."""

import json
import os
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult
from forge_bot.agent.providers.context import ProviderContext
from tests.agent.repository_scene import Ask, git


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a bit of everything, beside a file that must never be seen."""
    house = tmp_path_factory.mktemp("house")
    (house / "secret.txt").write_text("top secret")
    root = house / "repository"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "docs").mkdir()
    git(root, "init", "-q")
    (root / "src" / "app.py").write_text("import os\n\n\ndef total(a, b):\n    return a - b\n")
    (root / "src" / "deep" / "ümlaut b.py").write_text('x = 12\ny = "abc"')
    (root / "docs" / "windows.md").write_bytes("\ufeff# Title\r\n\r\nText\r\n".encode())
    (root / "latin.txt").write_bytes(b"caf\xe9 total\n")
    (root / "logo.png").write_bytes(b"\x89PNG\0\0total")
    (root / "empty.txt").write_text("")
    (root / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 2_001)))
    (root / "wide.txt").write_text("w" * 30_000 + "\nend\n")
    (root / ".gitignore").write_text("ignored/\n.env\n")
    (root / "ignored").mkdir()
    (root / "ignored" / "total.py").write_text("total = 1\n")
    (root / ".env").write_text("TOKEN=abc\n")
    (root / ".env.example").write_text("TOKEN=\n")
    (root / "leak").symlink_to("../secret.txt")
    (root / "up").symlink_to("..")
    (root / "itself").symlink_to("itself")
    (root / "config").symlink_to(".git/config")
    (root / "alias.py").symlink_to("src/app.py")
    os.mkfifo(root / "pipe")
    git(root, "add", "-A", ":!pipe")
    git(root, "commit", "-q", "-m", "one: the start")
    (root / "src" / "app.py").write_text("import os\n\n\ndef total(a, b):\n    return a + b\n")
    git(root, "commit", "-q", "-a", "-m", "two: the fix")
    (root / "src" / "new.py").write_text("total = 3\n")
    return root


@pytest.fixture
def ask(root: Path) -> Ask:
    context = ProviderContext(root)

    def ask(
        capability: str, limits: WorkLimits | None = None, **params: object
    ) -> CapabilityResult:
        wanted = CapabilityRequest(key="1.1-x", capability=capability, params=json.dumps(params))
        return context.fetch(wanted, limits or WorkLimits())

    return ask
