"""The capabilities that a repository configures: its files, its policy, and where servers run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from forge_bot.settings.capability_file import (
    CAPABILITY_FILE,
    MCPConfig,
    MCPHttpServerConfig,
    MCPServerConfig,
)
from forge_bot.settings.config import CapabilityPolicy


class CapabilityPermission(StrEnum):
    """The decision of the policy about one capability."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class CapabilitySetup:
    """Everything that starting a server or a skill needs.

    `root` is the folder whose configuration counts; `tree` is the work tree that the agents look
    at; `repository` is the top of the person's checkout; `base` is a folder with the files of the
    base commit, where agents may have changed those that servers are started from. `environ` has
    the variables that placeholders may name. `agreed` are the digests of servers that a person said
    yes to; None if the job itself is that yes.
    """

    root: Path
    tree: Path
    config: MCPConfig = field(default_factory=MCPConfig)
    policy: CapabilityPolicy = field(default_factory=CapabilityPolicy)
    config_name: str = CAPABILITY_FILE
    skill_folders: tuple[Path, ...] = ()
    sandbox: Literal["auto", "bubblewrap", "landlock", "off"] = "auto"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    repository: Path | None = None
    base: Path | None = None
    agreed: frozenset[str] | None = frozenset()

    @property
    def servers(self) -> dict[str, MCPServerConfig | MCPHttpServerConfig]:
        return {
            name: server for name, server in self.config.mcp_servers.items() if not server.disabled
        }

    @property
    def empty(self) -> bool:
        """Return whether nothing is configured, so that nothing has to be looked for."""
        return not self.servers and not any(folder.is_dir() for folder in self.skill_folders)

    def permission(self, name: str, *, reads_only: bool) -> CapabilityPermission:
        """Return the policy's decision on a capability. A capability that only reads needs none."""
        if _matches_a_glob(name, self.policy.deny):
            return CapabilityPermission.DENY
        if _matches_a_glob(name, self.policy.ask):
            return CapabilityPermission.ASK
        allowed = reads_only or _matches_a_glob(name, self.policy.allow)
        return CapabilityPermission.ALLOW if allowed else CapabilityPermission.ASK


def _matches_a_glob(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
