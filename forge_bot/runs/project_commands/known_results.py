"""Results of commands that ran before on the same code, in the same environment and sandbox."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress

from forge_bot.errors import WriteFailed
from forge_bot.git import Repository
from forge_bot.runs.run_files import read_kept
from forge_bot.settings import Config
from forge_bot.store import write_whole
from forge_bot.values import CommandName, CommandResult, Frozen
from forge_bot.verification.command_outcome import CommandOutput

_MOST = 200
_SETTINGS = {"environment", "services", "command_seconds", "carry"}
"""The settings that a result depends on."""


class _Kept(Frozen):
    result: CommandResult
    passed: tuple[str, ...] | None


class KnownResults:
    """The newest results of the commands of one repository, kept beside git's data."""

    def __init__(self, repository: Repository, config: Config) -> None:
        self._folder = repository.kept / "results"
        stats = [
            (name, file.stat().st_size, file.stat().st_mtime_ns)
            for name in config.carry
            if (file := repository.root / name).is_file()
        ]
        self._settings = f"{config.model_dump_json(include=_SETTINGS)} {stats}"

    def output(
        self, basis: Sequence[str], name: CommandName, argv: Sequence[str]
    ) -> CommandOutput | None:
        """Return what a command did on a basis, without what it printed; None where that is not
        known.
        """
        kept = read_kept(self._folder / self._name(basis, name, argv), _Kept)
        return CommandOutput(kept.result, "", kept.passed) if kept is not None else None

    def keep(self, basis: Sequence[str], output: CommandOutput) -> None:
        """Keep what a command did on a basis; the oldest results go."""
        result = output.result
        kept = _Kept(result=result, passed=output.passed)
        with suppress(WriteFailed, OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._folder / self._name(basis, result.name, result.argv)
            write_whole(file, kept.model_dump_json())
            by_age = sorted(self._folder.iterdir(), key=lambda file: file.stat().st_mtime)
            for old in by_age[:-_MOST]:
                old.unlink(missing_ok=True)

    def _name(self, basis: Sequence[str], name: CommandName, argv: Sequence[str]) -> str:
        parts = [self._settings, *basis, name.value, *argv]
        return f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}.json"
