"""The project's own commands: found at the base commit, run in the sandbox, judged by their exit
codes.
"""

import os
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import NamedTuple

from forge_bot.agent.redaction import redactor_of
from forge_bot.errors import ForgeError, SetupNotWalled
from forge_bot.git import Repository, Tree
from forge_bot.knowledge.profile import Profile
from forge_bot.project.detected_commands import Command
from forge_bot.runs.notifications import Message, Notify, warning
from forge_bot.runs.project_commands.carried_files import CarriedFiles
from forge_bot.runs.project_commands.command_runner import (
    CommandRunner,
    SetupKilled,
    nested_by_hand,
)
from forge_bot.runs.project_commands.installation import (
    Foundation,
    Installation,
    remove_bytecode,
    remove_leftovers,
)
from forge_bot.runs.project_commands.made_by_commands import MadeByCommands
from forge_bot.runs.project_commands.project_sandbox import ProjectSandbox
from forge_bot.runs.project_commands.registry_credentials import (
    check_not_kept,
    credentials,
    only_fetches,
    runs_nothing,
    secrets_in,
)
from forge_bot.runs.run_needs import SETUP_NOT_WALLED, waits_for_consent
from forge_bot.runs.run_paths import RunPaths
from forge_bot.sandbox.box import CommandOutcome
from forge_bot.sentences import say
from forge_bot.settings import Config
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import plain_lines


class _Built(NamedTuple):
    """The commit that was built in a tree, and the untracked files and folders there after that."""

    commit: str
    paths: tuple[str, ...] = ()


class Project:
    """The commands of one repository in one run.

    If there is a setup, all commands run at one path (see `installation`), one at a time. Otherwise
    nothing depends on a path, and a command runs in the tree that it is about.
    """

    def __init__(
        self,
        repository: Repository,
        tree: Tree,
        places: RunPaths,
        config: Config,
        profile: Profile,
        tell: Notify,
        foundation: Foundation,
    ) -> None:
        self.repository = repository
        self.tree = tree
        self.places = places
        self.config = config
        self.profile = profile
        self.tell = tell
        self._judging = threading.RLock()
        self._installation = Installation(repository, places, foundation)
        self.sandbox = ProjectSandbox(repository, places, config, profile, tell)
        self._credentials = credentials(config, os.environ)
        self._printed = dict[tuple[str, ...], str]()
        self._passed = dict[tuple[str, ...], tuple[str, ...] | None]()
        self._built = dict[Path, _Built]()
        """Trees with what commands built there from the code of a commit, and of no other one."""
        # In a checkout of a person, their own programs make such files at any moment.
        ours = tree.path == places.tree and not profile.commands.setup
        carried = CarriedFiles(repository.root, config.carry, tell)
        self.runner = CommandRunner(
            tree,
            places.environment,
            self.sandbox,
            self._installation,
            tell,
            redactor_of({**carried.secrets(), **secrets_in(self._credentials)}),
            carried,
            made=MadeByCommands(tree, places.made_files) if ours else None,
            by_hand=nested_by_hand(repository, tree),
        )

    def left_behind(self, results: Sequence[CommandResult]) -> tuple[str, ...]:
        """Return ignored files of the checkout that failing tests do not find where they run."""
        here = self.tree.path == self.repository.root and not self.profile.commands.setup
        if here or not any(each.name is CommandName.TEST and each.exit_code for each in results):
            return ()
        names = Tree(self.repository.root).ignored_beside()
        return tuple(name for name in names if name not in self.config.carry)

    def in_tree(self, tree: Tree) -> "Project":
        """Return the same project for a temporary tree beside the run's own."""
        other = copy(self)
        other.tree = tree
        other.runner = self.runner.in_tree(tree)
        return other

    # -- whole runs
    # ----------------------------------------------------------------------------------------------

    def set_up(self) -> tuple[CommandResult, ...]:
        """Run the setup commands at the base commit, with network, into a fresh environment, and
        return their results. What succeeded is not repeated: its results are kept beside it.
        """
        with self._judging:
            return self._set_up()

    def _set_up(self) -> tuple[CommandResult, ...]:
        commands = self.profile.commands.setup
        if not commands:
            return ()
        mark = self._installation.mark([command.argv for command in commands])
        if (ready := self._installation.results(mark)) is not None:
            return ready
        self._require_namespace()
        try:
            return self._installed(commands, mark)
        except SetupKilled as killed:
            self.tell(warning(str(killed)))
            return self._installed(commands, mark, first=False)

    def _installed(
        self, commands: Sequence[Command], mark: str, *, first: bool = True
    ) -> tuple[CommandResult, ...]:
        """Run the setup commands into an empty environment. Raises SetupKilled."""
        tree = self._installation.begin()
        self.forget_built(tree.path)
        results: list[CommandResult] = []
        for argv, secret in self._with_credentials(commands, tree):
            results.append(self.runner.of_setup(argv, tree, secret=secret, first=first))
            if results[-1].exit_code != 0:
                return tuple(results)
        tree.remove_nested()
        check_not_kept(self._credentials, (self.places.environment, tree.path))
        self._installation.keep(mark, tuple(results))
        return tuple(results)

    def _with_credentials(
        self, commands: Sequence[Command], tree: Tree
    ) -> Iterator[tuple[tuple[str, ...], Mapping[str, str]]]:
        """Yield the words of setup commands, each with the credentials of registries that it gets:
        none after a command that could have run code of the project, which may have changed later
        programs.
        """

        def read(path: str) -> str:
            file = tree.path / path
            return file.read_text("utf-8", "replace") if file.is_file() else ""

        trusted = True
        for argv in (command.argv for command in commands):
            fetches = only_fetches(argv, read)
            trusted = trusted and (fetches or runs_nothing(argv))
            if self._credentials and not trusted:
                command = " ".join(argv)
                text = f"`{command}` may run code of the project and gets no credentials."
                self.tell(Message(text=text))
            yield argv, self._credentials if trusted and fetches else {}

    def _require_namespace(self) -> None:
        """Raise SetupNotWalled where setup could pass the proxy and nobody allowed that."""
        if waits_for_consent(self.sandbox.backend, self.config):
            raise SetupNotWalled(say(SETUP_NOT_WALLED))

    def check(self) -> tuple[CommandResult, ...]:
        """Build, test and lint, without network and without what earlier commands built."""
        commands = self.profile.commands
        kinds = ((CommandName.TEST, commands.test), (CommandName.LINT, commands.lint))
        with self._judging:
            place = self._place(bare=True)
            built = self._build(place)
            return built + tuple(
                result for name, chosen in kinds for result in self._all(name, chosen, place)
            )

    def _place(self, *, bare: bool = False) -> Tree:
        """The tree in which commands judge the commit that `tree` shows."""
        if not self.profile.commands.setup:
            return self.tree
        return self._judging_at(self.tree.commit_id(), bare=bare)

    def _remove_left(self, place: Tree, kept: tuple[str, ...] = ()) -> None:
        """Remove ignored files that a command left, maybe from edits that nobody accepted; of some
        paths nothing is removed.
        """
        if place.path == self._installation.path:
            if self._installation.has_run:
                remove_leftovers(place, (*self._installation.names_left(), *kept))
                self._installation.has_run = bool(kept)
            return
        remove_bytecode(place)
        if self.runner.made is not None:
            self.runner.made.remove(kept)
        elif place.path.is_relative_to(self.places.tasks):
            remove_leftovers(place, kept)

    def _judging_at(self, commit: str, *, bare: bool = False) -> Tree:
        """Show a commit where commands judge, without what earlier commands left. If the tree is to
        be `bare`, ignored files of theirs are removed too.
        """
        if not self._installation.is_tidy:
            self._installation.remove_nested()
        place = self._installation.show(commit)
        if self._built.get(place.path, _Built("")).commit != commit:
            self._built.pop(place.path, None)
        if bare and self._installation.has_run:
            self._remove_left(place)
            self._installation.is_tidy = True
        elif not self._installation.is_tidy:
            self.runner.remove_new(place)
        return place

    def printed(self, argv: tuple[str, ...]) -> str:
        """Return the whole output of a test command when it ran last for a judgement."""
        return self._printed.get(argv, "")

    def passed(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the tests that passed when a test command ran last for a judgement; None where
        its runner does not list them.
        """
        return self._passed.get(argv)

    def forget_built(self, path: Path) -> None:
        """Forget what was built in a tree that is made anew."""
        self._built.pop(path, None)

    def build_again(self) -> tuple[CommandResult, ...]:
        """Build unless the tree has what the commands built from this very code: tests that use
        what another commit built would judge that one. Return the results.
        """
        with self._judging:
            return self._build_again(self._place())

    def _build_again(self, place: Tree, seconds: float | None = None) -> tuple[CommandResult, ...]:
        if not self.profile.commands.build:
            return ()
        if self._built.get(place.path, _Built("")).commit == place.commit_id():
            return ()
        return self._build(place, seconds)

    def _build(self, place: Tree, seconds: float | None = None) -> tuple[CommandResult, ...]:
        self._remove_left(place)
        results = self._all(CommandName.BUILD, self.profile.commands.build, place, seconds)
        self._built[place.path] = _Built(
            place.commit_id(), place.untracked() if self.profile.commands.build else ()
        )
        return results

    def run_again(self, argv: tuple[str, ...]) -> CommandResult:
        """Run tests by the words of a command that ran before, or by those that select some; return
        the result.

        They do not see what the run before them left, but for what lies in folders that the build
        made: compilers keep their own there.
        """
        with self._judging:
            place = self._place()
            try:
                if not self._build_again(place):
                    self._remove_left(place, self._built.get(place.path, _Built("")).paths)
                return self.runner.one(CommandName.TEST, argv, place)[0]
            finally:
                self._tidy_after(place)

    @contextmanager
    def trial(self, commit: str, build_seconds: float = 0) -> Generator[Tree]:
        """Show a commit where commands judge, for one caller at a time; it may be on no branch. It
        is built first, in so many seconds a command, if what other commits built must not count.
        """
        path = self._installation.path
        with self._judging:
            if self.profile.commands.setup:
                place = self._judging_at(commit)
                self._installation.is_tidy = False
            else:
                place = self.repository.detached_tree(path, commit)
            try:
                if build_seconds:
                    self._build_again(place, build_seconds)
                yield place
            finally:
                if not self.profile.commands.setup:
                    self._built.pop(place.path, None)
                    self.repository.remove_tree(path)

    def run_in(
        self,
        place: Tree,
        name: CommandName,
        argv: tuple[str, ...],
        seconds: float,
        *,
        again: bool = False,
    ) -> tuple[CommandResult, str]:
        """Run a command in a tree that `trial` shows, for at most so long; its result and its whole
        output. One that runs `again` does not see what the run before it left, in a project without
        a build.
        """
        if again and not self.profile.commands.build:
            self._remove_left(place)
        return self.runner.one(name, argv, place, seconds=seconds)

    def run_script(
        self, commit: str, argv: Sequence[str], readable: Path, *, network: bool, seconds: float
    ) -> CommandOutcome:
        """Run the script of a skill in a tree that shows a commit, and remove its leftovers."""
        with self.trial(commit) as place:
            box = self.sandbox.box(place, network=network, seconds=seconds)
            box = box.replace(readable=(*box.readable, readable))
            outcome = self.sandbox.run(box, argv)
        return outcome.replace(output="\n".join(plain_lines(outcome.output)))

    def _all(
        self,
        name: CommandName,
        commands: tuple[Command, ...],
        place: Tree,
        seconds: float | None = None,
    ) -> tuple[CommandResult, ...]:
        called = self._called(name, commands, place, seconds=seconds)
        if name is CommandName.TEST:
            self._printed |= {result.argv: output for result, output in called}
            self._passed |= {result.argv: self.runner.passed[result.argv] for result, _ in called}
        return tuple(result for result, _ in called)

    def _called(
        self,
        name: CommandName,
        commands: tuple[Command, ...],
        place: Tree,
        paths: Sequence[str] = (),
        seconds: float | None = None,
    ) -> list[tuple[CommandResult, str]]:
        if not commands:
            return []
        if place.path == self._installation.path and not self._installation.is_tidy:
            self.runner.tidy(place)
        try:
            return [
                self.runner.one(
                    name,
                    (*command.argv, *_taken(command, paths, place)),
                    place,
                    seconds=seconds,
                )
                for command in commands
            ]
        finally:
            self._tidy_after(place, built=name is CommandName.BUILD)

    def _tidy_after(self, place: Tree, *, built: bool = False) -> None:
        """Remove what commands left in a tree where somebody may work, and what a build left that
        no test should see. Elsewhere, whoever shows a commit or runs the next command does it.
        """
        if built or place.path != self._installation.path:
            # Also when it is stopped here: what a command left is nobody's work, and would be put
            # aside as if it were.
            self.runner.tidy(place)

    def run_on(
        self, name: CommandName, commands: tuple[Command, ...], paths: Sequence[str]
    ) -> list[tuple[CommandResult, str]]:
        """Run commands for somebody who asks, on some files where a command takes them; return each
        result with the whole output.
        """
        with self._judging:
            self._set_up()
            return self._called(name, commands, self._place(), paths)

    def begin_ahead(self) -> None:
        """Try the sandbox beside other work, which the first command of a process waits for. What
        fails here is for that command to tell.
        """
        with suppress(ForgeError, OSError), self._judging:
            self.sandbox.try_out()


def _taken(command: Command, paths: Sequence[str], place: Tree) -> tuple[str, ...]:
    """Return the words that narrow a command to some files; none where it takes no such words."""
    takes_files = "pytest" in command.argv and all(
        (place.path / item.split("::")[0]).exists() for item in paths
    )
    return tuple(paths) if takes_files else ()
