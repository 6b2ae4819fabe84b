"""The sandbox for a project's commands: its backend on this machine, and the files, network and
resources that a command may use.
"""

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forge_bot.errors import Interrupted
from forge_bot.git import Repository
from forge_bot.knowledge.profile import Profile
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.project_commands.installation import Installation
from forge_bot.sandbox.backends import cannot_judge, choose, run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome, ResourceLimits
from forge_bot.sandbox.visible_files import USUAL_PATH
from forge_bot.settings import Config

_GO_CACHE = "GOCACHE"


@dataclass(eq=False)
class ProjectSandbox:
    """The sandbox of one run."""

    repository: Repository
    config: Config
    profile: Profile
    tell: Notify
    _backend: BackendName | None = field(default=None, init=False)
    _called_off: threading.Event = field(default_factory=threading.Event, init=False)

    @property
    def backend(self) -> BackendName:
        """Return the sandbox of commands; raises NoSandbox where nothing works and nobody switched
        it off.
        """
        if self._backend is None:
            self._backend = choose(self.config.sandbox)
            if self._backend is BackendName.OFF:
                text = "Project commands run without a sandbox, as .forge/config.yml says."
                if self.profile.commands.setup:
                    text = f"{text} Setup has this machine's network, without a proxy."
                self.tell(warning(text))
            elif lacking := cannot_judge(self._backend):
                self.tell(
                    warning(
                        f"Project commands run in the sandbox {self._backend}, which "
                        f"cannot judge {lacking}: a failure of these is refused."
                    )
                )
        return self._backend

    @property
    def uses_go(self) -> bool:
        """Return whether a command of the project may compile Go."""
        return any(language.name == "Go" for language in self.profile.languages)

    def box(
        self,
        installation: Installation,
        *,
        setting_up: bool = False,
        network: bool = False,
        seconds: float | None = None,
        at_base: bool = False,
    ) -> Box:
        """Return the box of a command in the place of an installation, with a time limit. Setup may
        write the files that other commands read. What Go has compiled `at_base` is kept: others get
        a copy, since code that is judged must not change what a later command runs.
        """
        limit, environment = self.config.command_seconds, installation.environment
        caches = {_GO_CACHE: installation.place.compiled} if self.uses_go else {}
        kept = caches if setting_up or at_base else {}
        common = self.repository.common_dir
        return Box(
            worktree=installation.path,
            network=network or setting_up,
            writable=(*((environment,) if setting_up else ()), *kept.values()),
            readable=(common,) if setting_up else (environment, common),
            copied={name: folder for name, folder in caches.items() if name not in kept},
            env={
                **_tool_homes(environment),
                **{name: str(folder) for name, folder in kept.items()},
                **self.config.environment,
                "PATH": os.pathsep.join((str(environment / "bin"), self._path())),
            },
            hosts=self.config.network,
            services=tuple(dict.fromkeys(self.config.services.values())),
            limits=ResourceLimits(seconds=limit if seconds is None else min(seconds, limit)),
        )

    def _path(self) -> str:
        """Return the folders of programs that come after those of the environment."""
        return self.config.environment.get("PATH") or os.environ.get("PATH") or USUAL_PATH

    def run(self, box: Box, words: Sequence[str]) -> CommandOutcome:
        """Return the outcome of a command.

        Raises Interrupted if somebody ended the commands, because the output then says nothing
        about the project.
        """
        outcome = run(self.backend, box, words, called_off=self._called_off)
        if self._called_off.is_set():
            raise Interrupted("The work was ended while the project's commands ran.")
        return outcome

    def call_off(self) -> None:
        """End the command that is running; none starts any more. For a person who stops the run."""
        self._called_off.set()


def _tool_homes(environment: Path) -> dict[str, str]:
    """Return the folders for downloads of setup: the commands after it have no network."""
    homes = {
        "CARGO_HOME": "cargo",
        "GOPATH": "go",
        "GOMODCACHE": "go/pkg/mod",
        "npm_config_cache": "npm",
        "UV_CACHE_DIR": "uv",
        "YARN_GLOBAL_FOLDER": "yarn",
        "COREPACK_HOME": "corepack",
        "BUNDLE_PATH": "bundle",
    }
    return {name: str(environment / folder) for name, folder in homes.items()}
