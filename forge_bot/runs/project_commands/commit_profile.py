"""Facts on a commit: its profile (languages, commands with reasons, layout), made once in a
process, what a run needs of it before it begins, and the results of commands that ran before on the
same code.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from posixpath import basename

from forge_bot.errors import NoTestCommand, WriteFailed
from forge_bot.git import Repository
from forge_bot.project.detected_commands import ProjectCommands
from forge_bot.project.file_list import Language, Listing, read_languages
from forge_bot.project.scoped_commands import Overrides, scoped_commands
from forge_bot.project.toolchains.python import highest_complexity, longest_line
from forge_bot.runs.run_files import read_kept
from forge_bot.sandbox.box import BackendName
from forge_bot.settings.config import Config
from forge_bot.store.files import write_whole
from forge_bot.text_format import several, short_line
from forge_bot.values import CommandName, CommandResult, Frozen
from forge_bot.verification.command_outcome import CommandOutput

_LAYOUT_LINES = 12
SETUP_NOT_WALLED = "runs.run_needs.setup_not_walled"
"""The name of the sentence for a setup that the proxy cannot hold."""
_MOST = 200
_SETTINGS = {"environment", "services", "command_seconds", "carry"}
"""The settings that a result depends on."""


class Profile(Frozen):
    """The facts about a repository for the prompts and the verification."""

    languages: tuple[Language, ...]
    commands: ProjectCommands
    layout: tuple[str, ...]
    notes: tuple[str, ...]
    longest_line: str = ""
    highest_complexity: str = ""


def read_profile(
    files: Sequence[str],
    read: Callable[[str], str | None],
    overrides: Overrides | None = None,
    projects: Mapping[str, Overrides] | None = None,
    scope: str = "",
) -> Profile:
    """Return the profile from a list of tracked files and their text.

    The same input gives the same profile. `overrides` is `commands:` of `.forge/config.yml`: each
    kind it names replaces the detected commands of that kind. `projects` has the same for folders
    of a repository with several projects; `scope` is the folder that alone is worked on.
    """
    listing = Listing(files, read)
    commands = scoped_commands(listing, overrides or {}, projects or {}, scope)
    return Profile(
        languages=read_languages(listing.own()),
        commands=commands,
        layout=tuple(_layout(listing)),
        notes=tuple(map(short_line, commands.notes)),
        longest_line=longest_line(listing),
        highest_complexity=highest_complexity(listing),
    )


def _layout(listing: Listing) -> Iterator[str]:
    """Yield the layout lines.

    First come the top folders with the number of their files and their main language, then the
    files at the root.
    """
    inside = [path for path in listing.files if "/" in path]
    counts = Counter(path.split("/", 1)[0] for path in inside)
    largest = sorted(counts, key=lambda folder: (-counts[folder], folder))
    shown = sorted(largest[: _LAYOUT_LINES - 2])
    for folder in shown:
        languages = read_languages(listing.below(folder))
        mostly = f", mostly {languages[0].name}" if languages else ""
        yield short_line(f"{folder}/ ({several(counts[folder], 'file')}{mostly})")
    if hidden := largest[_LAYOUT_LINES - 2 :]:
        count = several(sum(counts[folder] for folder in hidden), "file")
        yield f"{len(hidden)} more folders ({count})"
    if root := [basename(path) for path in listing.files if "/" not in path]:
        yield short_line(f"at the root ({several(len(root), 'file')}): {', '.join(root)}")


_known: dict[tuple[Path, str, str, str], Profile] = {}


def profile_at(repository: Repository, commit: str, config: Config, scope: str = "") -> Profile:
    """Return the repository's profile at a commit, with the commands that the configuration
    sets; of one folder alone where `scope` names it.
    """
    settings = config.model_dump_json(include={"commands", "projects"})
    key = (repository.common_dir, repository.tree_id(commit), settings, scope)
    if key not in _known:
        _known[key] = _make_profile(repository, commit, config, scope)
    return _known[key]


def _make_profile(repository: Repository, commit: str, config: Config, scope: str) -> Profile:
    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None else None

    files, overrides = repository.list_files(commit), config.commands.overrides()
    return read_profile(files, read, overrides, config.overrides_by_project(), scope)


def waits_for_consent(backend: BackendName, config: Config) -> bool:
    """Return whether setup could bypass the proxy in this sandbox, without anybody's consent."""
    return backend is BackendName.LANDLOCK and not config.setup_without_namespace


def check_testable(profile: Profile, config: Config) -> None:
    """Raise NoTestCommand if nothing could be verified and the configuration does not say that this
    is intended.
    """
    if not profile.commands.test and config.commands.test is None:
        raise NoTestCommand(
            "No way to run tests was found in this repository.", details=profile.notes
        )


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
