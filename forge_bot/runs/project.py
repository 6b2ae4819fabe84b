"""The project's own commands: found at the base commit, run in the sandbox, judged by their exit codes."""

import re
import shutil
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from forge_bot.errors import CannotJudge, NoTestCommand
from forge_bot.git import Repository, Tree
from forge_bot.knowledge import ENV, Command, Profile, read_profile
from forge_bot.runs.notifications import CommandBegan, CommandEnded, Message, Notify
from forge_bot.runs.run_paths import RunPaths
from forge_bot.sandbox import BackendName, Box, ResourceLimits, cannot_judge, choose, run
from forge_bot.settings import Config
from forge_bot.store import full, without_room
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.judgement import read_outcome

_READY = "ready"
_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|secs?|seconds)\b")
_TESTS_SHOWN = 12_000
"""Characters of a test run that a model is shown."""


def profile_at(repository: Repository, commit: str, config: Config) -> Profile:
    """The repository's profile at a commit, with the commands that the configuration sets."""

    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None else None

    return read_profile(repository.list_files(commit), read, config.commands.overrides())


def check_testable(profile: Profile, config: Config) -> None:
    """Raise NoTestCommand if nothing could be verified and nobody said that this is wanted."""
    if not profile.commands.test and config.commands.test is None:
        raise NoTestCommand("No way to run tests was found in this repository.", details=profile.notes)


class Project:
    """The commands of one repository in one run's work tree."""

    def __init__(self, repository: Repository, tree: Tree, spots: RunPaths, config: Config, profile: Profile, tell: Notify) -> None:
        self.repository = repository
        self.tree = tree
        self.spots = spots
        self.config = config
        self.profile = profile
        self.tell = tell
        self._backend: BackendName | None = None
        self._called_off = threading.Event()
        self._setting_up = threading.Lock()
        self._stand_in: Path | None = None
        self._nested = self._nested_by_hand()

    def in_tree(self, tree: Tree) -> "Project":
        """The same project in a tree that stands beside the run's own for a while.

        What setup installed knows the run's tree by its path, so its commands see the other tree at that place.
        """
        other = Project(self.repository, tree, self.spots, self.config, self.profile, self.tell)
        other._backend, other._called_off, other._setting_up = self.backend, self._called_off, self._setting_up
        # A tree that holds git's own folder cannot be covered by another one.
        other._stand_in = None if self.repository.common_dir.is_relative_to(self.tree.path) else self.tree.path
        return other

    def _nested_by_hand(self) -> frozenset[str]:
        """Return the nested repositories that a person keeps in a tree of their own; a tree of ours begins without any."""
        if self.tree.path != self.repository.root:
            return frozenset()
        listed = {change.path for change in self.tree.status() if change.path.endswith("/")}
        return self.tree.nested() | listed

    def call_off(self) -> None:
        """End the command that is running; none starts any more. For a person who stops the run."""
        self._called_off.set()

    @property
    def called_off(self) -> bool:
        """Whether somebody ended the commands: what they returned then says nothing about the project."""
        return self._called_off.is_set()

    @property
    def backend(self) -> BackendName:
        """How commands are locked in; raises NoSandbox where nothing works and nobody switched it off."""
        if self._backend is None:
            self._backend = choose(self.config.sandbox)
            if self._backend is BackendName.OFF:
                self.tell(Message(text="Project commands run without a sandbox, as .forge/config.yml says.", kind="warning"))
            elif lacking := cannot_judge(self._backend):
                text = f"Project commands run in the sandbox {self._backend}, which cannot judge {lacking}: a failure of these is refused."
                self.tell(Message(text=text, kind="warning"))
        return self._backend

    # -- whole runs ------------------------------------------------------------------------------------------------

    def set_up(self) -> tuple[CommandResult, ...]:
        """Run the setup commands, with network, into a fresh environment; what succeeded is not repeated for this run."""
        with self._setting_up:
            return self._set_up()

    def _set_up(self) -> tuple[CommandResult, ...]:
        if (self.spots.environment / _READY).is_file():
            return ()
        shutil.rmtree(self.spots.environment, ignore_errors=True)
        self.spots.environment.mkdir(parents=True)
        results = self._all(CommandName.SETUP, self.profile.commands.setup, stop_at_failure=True)
        if all(result.exit_code == 0 for result in results):
            (self.spots.environment / _READY).touch()
        return results

    def check(self) -> tuple[CommandResult, ...]:
        """Build, test and lint, without network."""
        commands = self.profile.commands
        return (
            *self._all(CommandName.BUILD, commands.build),
            *self._all(CommandName.TEST, commands.test),
            *self._all(CommandName.LINT, commands.lint),
        )

    # -- for a model that asks -------------------------------------------------------------------------------------

    def most_seconds(self) -> float:
        """Return how long a request for tests or linters can take with setup before it: what the sandbox allows, and a minute."""
        commands = self.profile.commands
        count = len(commands.setup) + max(len(commands.test), len(commands.lint))
        return self.config.command_seconds * max(1, count) + 60

    def run_tests(self, selectors: Sequence[str]) -> str:
        """The outcome of the test commands, narrowed to some files where the command allows it, as text for a model."""
        self.set_up()
        return self._shown(self.profile.commands.test, CommandName.TEST, selectors)

    def lint(self, paths: Sequence[str]) -> str:
        """The outcome of the lint commands as text for a model."""
        self.set_up()
        return self._shown(self.profile.commands.lint, CommandName.LINT, paths)

    def _shown(self, commands: tuple[Command, ...], name: CommandName, more: Sequence[str]) -> str:
        if not commands:
            return f"This repository has no {name.value} command."
        parts: list[str] = []
        for command in commands:
            extra = (
                tuple(more) if "pytest" in command.argv and all((self.tree.path / item.split("::")[0]).exists() for item in more) else ()
            )
            result, output = self._one(name, (*command.argv, *extra))
            ignored = "" if extra or not more else "(this command takes no selection: everything ran)\n"
            parts.append(f"{ignored}$ {' '.join(result.argv)}\nexit code {result.exit_code}\n{output[-_TESTS_SHOWN:]}")
        self.tidy()
        return "\n\n".join(parts)

    # -- one command -----------------------------------------------------------------------------------------------

    def _all(self, name: CommandName, commands: tuple[Command, ...], *, stop_at_failure: bool = False) -> tuple[CommandResult, ...]:
        results: list[CommandResult] = []
        if not commands:
            return ()
        try:
            for command in commands:
                result, _ = self._one(name, command.argv)
                results.append(result)
                if stop_at_failure and result.exit_code != 0:
                    break
        finally:
            # Also when it is stopped here: what a command left is nobody's work, and would be put aside as if it were.
            self.tidy()
        return tuple(results)

    def _one(self, name: CommandName, argv: tuple[str, ...]) -> tuple[CommandResult, str]:
        words = tuple(word.replace(ENV, str(self.spots.environment)) for word in argv)
        # The placeholder is what people and records see: the folder differs from machine to machine.
        self.tell(CommandBegan(name=name, argv=argv))
        outcome = run(self.backend, self._box(network=name is CommandName.SETUP), words, called_off=self._called_off)
        if outcome.exit_code != 0 and outcome.cannot_judge:
            raise CannotJudge(f"`{' '.join(argv)}` failed, and this sandbox cannot judge it: {outcome.cannot_judge}.")
        output = outcome.output.replace(str(self.spots.environment), ENV)
        for place in (self.tree.path, self._stand_in or self.tree.path):
            output = output.replace(str(place), ".")
        if outcome.exit_code != 0 and any(without_room(folder) for folder in self._written()):
            raise full(self._written(), f"What `{' '.join(argv)}` says counts only with room to work in.")
        result = read_outcome(name, argv, outcome.exit_code, output, outcome.duration_ms, outcome.timed_out)
        result = result.model_copy(update={"tail": timeless(result.tail)})
        self.tell(CommandEnded(result=result))
        return result, timeless(output)

    def _written(self) -> tuple[Path, ...]:
        """Folders in which commands write."""
        return (self.tree.path, self.spots.environment, Path(tempfile.gettempdir()))

    def _box(self, *, network: bool) -> Box:
        environment = self.spots.environment
        environment.mkdir(parents=True, exist_ok=True)
        return Box(
            worktree=self.tree.path,
            appears_at=self._stand_in,
            network=network,
            writable=(environment,) if network else (),
            readable=(self.repository.common_dir,) if network else (environment, self.repository.common_dir),
            env={**_tool_homes(environment), **self.config.environment},
            limits=ResourceLimits(seconds=self.config.command_seconds),
        )

    def tidy(self) -> None:
        """Take away what commands left in the work tree, so that it holds committed files and the run's record only."""
        specs = ".specs/"
        self.tree.remove_nested(keep=self._nested)
        changed = [change.path for change in self.tree.status() if not change.path.startswith(specs)]
        self.tree.discard([path for path in changed if path not in self._nested])


def timeless(output: str) -> str:
    """Output without how long things took: the same outcome then makes the same prompt and the same document, byte for byte."""
    return _DURATION.sub(r"… \1", output)


def _tool_homes(environment: Path) -> dict[str, str]:
    """What setup downloads has to be there for the commands after it, which have no network."""
    homes = {"CARGO_HOME": "cargo", "GOPATH": "go", "GOMODCACHE": "go/pkg/mod", "npm_config_cache": "npm", "UV_CACHE_DIR": "uv"}
    return {name: str(environment / folder) for name, folder in homes.items()}
