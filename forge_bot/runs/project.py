"""The project's own commands: found at the base commit, run in the sandbox, judged by their exit
codes.
"""

import os
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from forge_bot.agent.redaction import redactor_of
from forge_bot.errors import CannotJudge, ForgeError, SetupNotWalled
from forge_bot.git import Repository, Tree
from forge_bot.git.commit_objects import tree_without
from forge_bot.git.unread_files import without_reading
from forge_bot.knowledge.profile import Profile
from forge_bot.lazy_regex import lazy_regex
from forge_bot.project.detected_commands import ENV, Command
from forge_bot.runs.installation import Foundation, Installation, remove_bytecode, remove_leftovers
from forge_bot.runs.late_files import finish_files
from forge_bot.runs.made_by_commands import MadeByCommands
from forge_bot.runs.notifications import CommandBegan, CommandEnded, Message, Notify, warning
from forge_bot.runs.project_sandbox import ProjectSandbox
from forge_bot.runs.python_setup_steps import Step
from forge_bot.runs.registry_credentials import (
    check_not_kept,
    credentials,
    credentials_first,
    secrets_in,
)
from forge_bot.runs.run_needs import SETUP_NOT_WALLED, waits_for_consent
from forge_bot.runs.run_paths import RunPaths
from forge_bot.runs.setup_steps import divided, runs_nothing
from forge_bot.sandbox.box import Box, CommandOutcome
from forge_bot.sentences import say
from forge_bot.settings import Config
from forge_bot.store import SPECS, full, without_room
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import cut_line, plain_lines, read_outcome
from forge_bot.verification.shown_output import shown_output
from forge_bot.verification.unusable_commands import is_usage_error

_DURATION = lazy_regex(r"\b\d+(?:\.\d+)? ?(ms|s|secs?|seconds)\b")
_TESTS_SHOWN = 12_000
"""Characters of a test run that a model is shown."""


class _SetupKilled(Exception):
    """A signal ended a command of setup."""


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
        self._nested = self._nested_by_hand()
        self._refused = set[tuple[str, ...]]()
        self._credentials = credentials(config, os.environ)
        self._strike = redactor_of(secrets_in(self._credentials))
        self._printed = dict[tuple[str, ...], str]()
        self._built = dict[Path, str]()
        """Trees with what commands built there from the code of a commit, and of no other one."""
        # In a checkout of a person, their own programs make such files at any moment.
        ours = tree.path == places.tree and not profile.commands.setup
        self._made = MadeByCommands(tree, places.made_files) if ours else None

    def in_tree(self, tree: Tree) -> "Project":
        """Return the same project for a temporary tree beside the run's own."""
        foundation = self._installation.foundation
        other = Project(
            self.repository, tree, self.places, self.config, self.profile, self.tell, foundation
        )
        other.sandbox, other._judging = self.sandbox, self._judging
        other._installation, other._built = self._installation, self._built
        return other

    def _nested_by_hand(self) -> frozenset[str]:
        """Return the nested repositories that a person keeps in a tree of their own; a tree of ours
        begins without any.
        """
        if self.tree.path != self.repository.root:
            return frozenset()
        listed = {change.path for change in self.tree.status() if change.path.endswith("/")}
        return self.tree.nested() | listed

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
        except _SetupKilled as killed:
            self.tell(warning(str(killed)))
            return self._installed(commands, mark, first=False)

    def _installed(
        self, commands: Sequence[Command], mark: str, *, first: bool = True
    ) -> tuple[CommandResult, ...]:
        """Run the setup commands into an empty environment. Raises _SetupKilled."""
        tree = self._installation.begin()
        results: list[CommandResult] = []
        for (argv, network), trusted in self._steps(commands, tree):
            secret = self._credentials if trusted else {}
            if self._credentials and network and not trusted and not runs_nothing(argv):
                self.tell(
                    Message(text=say("runs.project.gets_no_credentials", command=" ".join(argv)))
                )
            result, _ = self._one(
                CommandName.SETUP, argv, tree, network=network, secret=secret, first=first
            )
            results.append(result)
            if results[-1].exit_code != 0:
                return tuple(results)
        tree.remove_nested()
        check_not_kept(self._credentials, (self.places.environment, tree.path))
        self._installation.keep(mark, tuple(results))
        return tuple(results)

    def _steps(self, commands: Sequence[Command], tree: Tree) -> Iterator[tuple[Step, bool]]:
        """Yield the steps of setup, and whether each gets the credentials of registries.

        A manifest that a person approved may name code that runs while the project is built. The
        project is then built after the installation of third-party packages, without network. The
        same holds where there are credentials, because the project's own code must not see them.
        """

        def read(path: str) -> str:
            file = tree.path / path
            return file.read_text("utf-8", "replace") if file.is_file() else ""

        if not self._credentials and not self._installation.foundation.approved():
            yield from (((command.argv, True), False) for command in commands)
            return
        environment = self.places.environment
        divided_ones = [divided(each.argv, tree.path, environment) for each in commands]
        yield from credentials_first(divided_ones, read)

    def _require_namespace(self) -> None:
        """Raise SetupNotWalled where setup could pass the proxy and nobody allowed that."""
        if waits_for_consent(self.sandbox.backend, self.config):
            raise SetupNotWalled(say(SETUP_NOT_WALLED))

    def check(self) -> tuple[CommandResult, ...]:
        """Build, test and lint, without network and without what earlier commands built."""
        commands = self.profile.commands
        kinds = (
            (CommandName.BUILD, commands.build),
            (CommandName.TEST, commands.test),
            (CommandName.LINT, commands.lint),
        )
        with self._judging:
            place = self._place()
            self._remove_built(place)
            self._built[place.path] = place.commit_id()
            return tuple(
                result for name, chosen in kinds for result in self._all(name, chosen, place)
            )

    def _place(self) -> Tree:
        """The tree in which commands judge the commit that `tree` shows."""
        if not self.profile.commands.setup:
            finish_files(self.tree)
            return self.tree
        return self._judging_at(self.tree.commit_id())

    def _remove_built(self, place: Tree) -> None:
        """Remove ignored files that a command left, maybe from edits that nobody accepted."""
        if place.path != self._installation.path:
            remove_bytecode(place)
            if self._made is not None:
                self._made.remove()
        elif self._installation.has_run:
            remove_leftovers(place, self._installation.names_left())
            self._installation.has_run = False

    def _judging_at(self, commit: str) -> Tree:
        """Show a commit where commands judge, without what earlier commands left."""
        place = self._installation.show(commit)
        if self._built.get(place.path) != commit:
            self._built.pop(place.path, None)
        if not self._installation.is_tidy:
            # Of a command that was killed with us, everything is still there.
            self.tidy(place)
        return place

    def printed(self, argv: tuple[str, ...]) -> str:
        """Return the whole output of a test command when it ran last for a judgement."""
        return self._printed.get(argv, "")

    def build_again(self) -> tuple[CommandResult, ...]:
        """Build unless the tree has what the commands built from this very code: tests that use
        what another commit built would judge that one. Return the results.
        """
        with self._judging:
            return self._build_again(self._place())

    def _build_again(self, place: Tree, seconds: float | None = None) -> tuple[CommandResult, ...]:
        commit = place.commit_id()
        if self._built.get(place.path) == commit:
            return ()
        self._remove_built(place)
        results = self._all(CommandName.BUILD, self.profile.commands.build, place, seconds)
        self._built[place.path] = commit
        return results

    def run_again(self, argv: tuple[str, ...]) -> CommandResult:
        """Run tests by the words of a command that ran before, or by those that select some."""
        with self._judging:
            place = self._place()
            try:
                self._build_again(place)
                return self._one(CommandName.TEST, argv, place)[0]
            finally:
                self.tidy(place)

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
                if self.profile.commands.setup:
                    self.tidy(place)
                else:
                    self._built.pop(place.path, None)
                    self.repository.remove_tree(path)

    def run_in(
        self, place: Tree, name: CommandName, argv: tuple[str, ...], seconds: float
    ) -> tuple[CommandResult, str]:
        """Run a command in a tree that `trial` shows, for at most so long; its result and its whole
        output.
        """
        return self._one(name, argv, place, seconds=seconds)

    def run_script(
        self, commit: str, argv: Sequence[str], readable: Path, *, network: bool, seconds: float
    ) -> CommandOutcome:
        """Run the script of a skill in a tree that shows a commit, and remove its leftovers."""
        with self.trial(commit) as place:
            box = self.sandbox.box(place, network=network, seconds=seconds)
            box = box.replace(readable=(*box.readable, readable))
            outcome = self.sandbox.run(box, argv)
        return outcome.replace(output="\n".join(plain_lines(outcome.output)))

    # -- for a model that asks
    # ----------------------------------------------------------------------------------------------

    def most_seconds(self) -> float:
        """Return how long a request for tests or linters can take with setup before it: what the
        sandbox allows, and a minute.
        """
        commands = self.profile.commands
        count = len(commands.setup) + max(len(commands.test), len(commands.lint))
        return self.config.command_seconds * max(1, count) + 60

    def run_tests(self, selectors: Sequence[str]) -> str:
        """The outcome of the test commands, narrowed to some files where the command allows it, as
        text for a model.
        """
        self.set_up()
        return self._shown(self.profile.commands.test, CommandName.TEST, selectors)

    def lint(self, paths: Sequence[str]) -> str:
        """The outcome of the lint commands as text for a model."""
        self.set_up()
        return self._shown(self.profile.commands.lint, CommandName.LINT, paths)

    def _shown(self, commands: tuple[Command, ...], name: CommandName, more: Sequence[str]) -> str:
        if not commands:
            return f"This repository has no {name.value} command."
        with self._judging:
            place = self._place()
            try:
                parts = [self._part(command, name, more, place) for command in commands]
            finally:
                self.tidy(place)
        return "\n\n".join(parts)

    def _part(self, command: Command, name: CommandName, more: Sequence[str], place: Tree) -> str:
        takes_files = "pytest" in command.argv and all(
            (place.path / item.split("::")[0]).exists() for item in more
        )
        extra = tuple(more) if takes_files else ()
        result, output = self._called(name, command, place, extra)
        ignored = "" if extra or not more else "(this command takes no selection: everything ran)\n"
        return (
            f"{ignored}$ {' '.join(result.argv)}\nexit code"
            f" {result.exit_code}\n{shown_output(output.splitlines(), _TESTS_SHOWN)}"
        )

    # -- one command
    # ----------------------------------------------------------------------------------------------

    def _all(
        self,
        name: CommandName,
        commands: tuple[Command, ...],
        place: Tree,
        seconds: float | None = None,
    ) -> tuple[CommandResult, ...]:
        if not commands:
            return ()
        try:
            called = [self._called(name, each, place, seconds=seconds) for each in commands]
        finally:
            # Also when it is stopped here: what a command left is nobody's work, and would be put
            # aside as if it were.
            self.tidy(place)
        if name is CommandName.TEST:
            self._printed |= {result.argv: output for result, output in called}
        return tuple(result for result, _ in called)

    def _called(
        self,
        name: CommandName,
        command: Command,
        place: Tree,
        more: tuple[str, ...] = (),
        seconds: float | None = None,
    ) -> tuple[CommandResult, str]:
        """Run a command; without our own arguments where the program does not know them."""
        if command.argv in self._refused:
            return self._one(name, (*command.plain, *more), place, seconds=seconds)
        result, output = self._one(name, (*command.argv, *more), place, seconds=seconds)
        if not command.ours or not is_usage_error(result):
            return result, output
        self._refused.add(command.argv)
        self.tell(
            Message(
                text=say(
                    "runs.project.does_not_know_our_arguments",
                    command=" ".join(command.argv),
                    ours=" ".join(command.ours),
                )
            )
        )
        return self._one(name, (*command.plain, *more), place, seconds=seconds)

    def _one(
        self,
        name: CommandName,
        argv: tuple[str, ...],
        place: Tree,
        *,
        network: bool = False,
        seconds: float | None = None,
        secret: Mapping[str, str] | None = None,
        first: bool = True,
    ) -> tuple[CommandResult, str]:
        """Run a command once more where a signal ended it: somebody may have sent it from outside,
        and twice is the project's own. Of setup nothing half made is kept: that raises _SetupKilled
        at the `first` try. Raises Interrupted.
        """
        words = tuple(word.replace(ENV, str(self.places.environment)) for word in argv)
        self._installation.is_tidy, self._installation.has_run = False, True
        # The placeholder is what people and records see: the folder differs from machine to
        # machine.
        self.tell(CommandBegan(name=name, argv=argv))
        setting_up = name is CommandName.SETUP
        box = self.sandbox.box(
            place,
            setting_up=setting_up,
            network=network,
            seconds=seconds,
            at_base=self.sandbox.uses_go and self._is_at_base(place),
        ).replace(secret_env=secret or {})
        outcome = self._run(box, words, place)
        if outcome.killed and setting_up and first:
            raise _SetupKilled(say("runs.project.setup_begins_anew", command=" ".join(argv)))
        if outcome.killed and not setting_up:
            self.tell(warning(say("runs.project.runs_once_more", command=" ".join(argv))))
            self.tidy(place)
            outcome = self._run(box, words, place)
        if outcome.exit_code != 0 and outcome.cannot_judge:
            raise CannotJudge(
                say(
                    "runs.project.sandbox_cannot_judge",
                    argv=" ".join(argv),
                    cannot_judge=outcome.cannot_judge,
                )
            )
        output = self._without_places(outcome.output, place)
        written = (place.path, self.places.environment, Path(tempfile.gettempdir()))
        if outcome.exit_code != 0 and any(without_room(folder) for folder in written):
            raise full(written, say("runs.project.counts_only_with_room", command=" ".join(argv)))
        result = read_outcome(
            name, argv, outcome.exit_code, output, outcome.duration_ms, outcome.timed_out
        )
        result = result.replace(tail=timeless(result.tail))
        self.tell(CommandEnded(result=result))
        return result, timeless(output)

    def _run(self, box: Box, words: Sequence[str], place: Tree) -> CommandOutcome:
        """Run a command; in the run's own tree note the ignored files that it makes."""
        if self._made is None or place.path != self.tree.path:
            return self.sandbox.run(box, words)
        with self._made.noted():
            return self.sandbox.run(box, words)

    def _is_at_base(self, place: Tree) -> bool:
        """Return whether a tree shows the code of the base commit, and nothing else."""
        commits = (place.commit_id(), self._installation.foundation.commit)
        trees = {tree_without(self.repository.root, commit, SPECS) for commit in commits}
        return len(trees) == 1 and place.is_clean()

    def _without_places(self, output: str, place: Tree) -> str:
        """The output without secrets and without the names of this machine's folders."""
        output = "\n".join(map(cut_line, plain_lines(self._strike(output))))
        output = output.replace(str(self.places.environment), ENV)
        for folder in (place.path, self.tree.path):
            output = output.replace(str(folder), ".")
        return output

    def begin_ahead(self) -> None:
        """Do what the first command of a process waits for, beside other work: try the sandbox, and
        tidy the tree where commands judge. What fails here is for that command to tell.
        """
        with suppress(ForgeError, OSError), self._judging:
            self.sandbox.try_out()
            if self._installation.is_ready and not self._installation.is_tidy:
                self.tidy(Tree(self._installation.path))

    def tidy(self, place: Tree) -> None:
        """Remove the leftovers of commands from the work tree, so that it holds committed files,
        the run's record and the result of setup.
        """
        by_hand = self._nested if place.path == self.tree.path else frozenset[str]()
        place.remove_nested(keep=by_hand)
        alone = place.path == self._installation.path
        with without_reading(place.path) if alone else nullcontext():
            changes = place.status()
        paths = [change.path for change in changes if not change.path.startswith(".specs/")]
        place.discard(
            [path for path in paths if path not in by_hand and not self._installation.left(path)]
        )
        if alone:
            self._installation.is_tidy = True


def timeless(output: str) -> str:
    """Return output without durations: the same outcome then makes the same prompt and document,
    byte for byte.
    """
    return _DURATION.sub(r"… \1", output)
