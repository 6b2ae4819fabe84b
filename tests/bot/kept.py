"""A stage that is set once and brought back as it was: tests that begin at the same point share the
jobs that led there.
"""

import shutil
from copy import copy, deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bot.stage import Job, Stage
from tests.fakes.github.faults import Faults

_WORLD = (
    *("clock", "users", "teams", "tokens", "repositories"),
    *("actions", "nobody", "_ids", "exchanges"),
)
"""What of a GitHub changes while it is used. Its address stays, for it stands in documents on the
run's branch."""


@dataclass
class Kept:
    """A stage as it stood after some jobs. No process that speaks to its GitHub may outlive a
    test.
    """

    stage: Stage
    jobs: tuple[Job, ...]
    _world: dict[str, Any] = field(init=False)
    _code: Path = field(init=False)

    def __post_init__(self) -> None:
        hub = self.stage.hub
        self._world = deepcopy({name: vars(hub)[name] for name in _WORLD})
        self._code = hub.folder.with_name(f"after-{len(self.jobs)}")
        shutil.copytree(hub.folder, self._code, symlinks=True)

    def again(self, folder: Path) -> Stage:
        """The same stage, whatever was done on it since, now; jobs from now on have their machines
        in `folder`.
        """
        hub = self.stage.hub
        shutil.rmtree(hub.folder)
        shutil.copytree(self._code, hub.folder, symlinks=True)
        with hub.lock:
            vars(hub).update(deepcopy(self._world))
            hub.faults, hub.findings = Faults(), []
        stage = copy(self.stage)
        stage.folder, stage.scripts, stage.environ = folder / "jobs", folder / "script.jsonl", {}
        stage.repo = hub.repositories[self.stage.repo.id]
        stage.issue = stage.repo.issues[self.stage.issue.number]
        stage.model()
        return stage
