"""The project's own commands: found at the base commit, run in the sandbox, judged by their exit
codes, and shown to a model that asks for them.
"""

import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from pathlib import Path
from posixpath import basename

from forge_bot.agent.redaction import redactor_of
from forge_bot.errors import SetupNotWalled
from forge_bot.git import Repository, Tree
from forge_bot.project.detected_commands import Command
from forge_bot.runs.notifications import CommandEnded, Message, Notice, Notify, RedMeaning
from forge_bot.runs.project_commands.command_runner import CarriedFiles, CommandRunner
from forge_bot.runs.project_commands.commit_profile import (
    SETUP_NOT_WALLED,
    KnownResults,
    profile_at,
    waits_for_consent,
)
from forge_bot.runs.project_commands.installation import (
    Foundation,
    Installation,
    code_of,
    foundation,
)
from forge_bot.runs.project_commands.setup_credentials import (
    check_not_kept,
    credentials,
    only_fetches,
    runs_nothing,
    secrets_in,
)
from forge_bot.runs.run import Run
from forge_bot.sandbox.box import CommandOutcome
from forge_bot.sentences import say
from forge_bot.settings.config import Config
from forge_bot.text_format import names
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import GAP, CommandOutput, plain_lines, shown_output
from forge_bot.verification.judgement import judge

_SNIPPET_SECONDS = 10
_NODE = names("node npm npx yarn pnpm")
_RUBY = names("ruby bundle rake rspec")
_SHOWN, _SNIPPET_SHOWN = 12_000, 1_500
"""Characters of the output of a command that a model is shown."""
_CALLERS = re.compile(r"(?m)^(?:  File .*\n(?:    .*\n)*)+(?=  File )")
"""The calls of a traceback of Python before its last one."""


class Project:
    """The commands of one repository in one run.

    They all run at one path (see `installation`), one at a time, on commits alone. Each commit is
    shown there anew, without anything that commands left, and is built before its tests.
    """

    def __init__(
        self,
        repository: Repository,
        tree: Tree,
        config: Config,
        tell: Notify,
        foundation: Foundation,
        scope: str = "",
        baseline: Callable[[], Sequence[CommandResult]] = tuple,
    ) -> None:
        self.repository = repository
        self.tree = tree
        self.config = config
        self.profile = profile = profile_at(repository, foundation.commit, config, scope)
        self.tell = tell
        self.baseline = baseline
        self.expects_red = False
        self._credentials = credentials(config, os.environ)
        setup = [command.argv for command in profile.commands.setup]
        self._installation = Installation(repository, foundation, setup, config)
        carried = CarriedFiles(repository.root, config.carry, tell)
        self.runner = CommandRunner(
            repository,
            config,
            profile,
            self._installation,
            self._tell,
            redactor_of({**carried.secrets(), **secrets_in(self._credentials)}),
            carried,
        )
        self._known = KnownResults(repository, config)

    def _tell(self, notice: Notice) -> None:
        """Tell a notice of a command, with what a failure means."""
        if isinstance(notice, CommandEnded):
            notice = notice.replace(red=self._meaning_of(notice.result))
        self.tell(notice)

    def _meaning_of(self, result: CommandResult) -> RedMeaning:
        if self.expects_red:
            return "wanted"
        if result.name is CommandName.SETUP:
            return "new"
        words, baseline = (result.name, result.argv), self.baseline()
        earlier = [known for known in baseline if (known.name, known.argv) == words]
        as_before = not baseline or (bool(earlier) and not judge(earlier, (result,)).red)
        return "before" if as_before else "new"

    def left_behind(self, results: Sequence[CommandResult]) -> tuple[str, ...]:
        """Return ignored files of the checkout that failing tests do not find where they run."""
        if not any(result.name is CommandName.TEST and result.exit_code for result in results):
            return ()
        names = Tree(self.repository.root).ignored_beside()
        return tuple(name for name in names if name not in self.config.carry)

    def in_tree(self, tree: Tree) -> "Project":
        """Return the same project for the commit that another tree shows."""
        other = copy(self)
        other.tree = tree
        return other

    # -- setup

    def set_up(self) -> tuple[CommandResult, ...]:
        """Run the setup commands at the base commit, with network, into a fresh environment, and
        return their results. An environment that was made of the same is used as it is.
        """
        with self._installation.place.judging:
            if not self.profile.commands.setup:
                return ()
            if (ready := self._installation.results()) is not None:
                return ready
            self._require_namespace()
            return self._install()

    def _install(self) -> tuple[CommandResult, ...]:
        """Run the setup commands into an empty environment."""
        tree = self._installation.begin()
        results: list[CommandResult] = []
        for argv, secret in self._with_credentials(tree):
            results.append(self.runner.of_setup(argv, tree, secret))
            if results[-1].exit_code != 0:
                return tuple(results)
        tree.remove_nested()
        check_not_kept(self._credentials, (self._installation.environment, tree.path))
        self._installation.keep(tuple(results))
        return tuple(results)

    def _with_credentials(self, tree: Tree) -> Iterator[tuple[tuple[str, ...], Mapping[str, str]]]:
        """Yield the words of setup commands, each with the credentials of registries that it gets:
        none after a command that could have run code of the project, which may have changed later
        programs.
        """

        def read(path: str) -> str:
            file = tree.path / path
            return file.read_text("utf-8", "replace") if file.is_file() else ""

        trusted = True
        for argv in (command.argv for command in self.profile.commands.setup):
            fetches = only_fetches(argv, read)
            trusted = trusted and (fetches or runs_nothing(argv))
            if self._credentials and not trusted:
                command = " ".join(argv)
                text = f"`{command}` may run code of the project and gets no credentials."
                self.tell(Message(text=text))
            yield argv, self._credentials if trusted and fetches else {}

    def _require_namespace(self) -> None:
        """Raise SetupNotWalled where setup could pass the proxy and nobody allowed that."""
        if waits_for_consent(self.runner.backend, self.config):
            raise SetupNotWalled(say(SETUP_NOT_WALLED))

    # -- commands at a commit

    def check(self, counts: Callable[[CommandResult], bool]) -> tuple[CommandOutput, ...]:
        """Build, test and lint, without network. Nothing runs where every command has a known
        result for this very code that still `counts`.
        """
        commands, commit = self.profile.commands, self.tree.commit_id()
        kinds = (CommandName.BUILD, CommandName.TEST, CommandName.LINT)
        every = [(name, command.argv) for name in kinds for command in commands.of(name)]
        if not every:
            return ()
        with self._installation.place.judging:
            known = [self._known_at(commit, *words) for words in every]
            outputs = tuple(output for output in known if output and counts(output.result))
            if len(outputs) == len(every):
                self.tell(Message(text="The commands ran on this very code before."))
                return outputs
            with self.trial(commit) as place:
                built = self._build(place)
                rest = every[len(built) :]
                return built + tuple(self.run_in(place, name, argv) for name, argv in rest)

    @contextmanager
    def trial(self, commit: str, *, built: bool = False) -> Generator[Tree]:
        """Show a commit where commands judge, for one caller at a time; it may be on no branch."""
        with self._installation.place.judging:
            self._installation.place.built = None
            place = self._installation.show(commit)
            try:
                if built:
                    self._build(place)
                yield place
            finally:
                self._installation.leave()

    def _build(self, place: Tree) -> tuple[CommandOutput, ...]:
        commands = self.profile.commands.build
        outputs = tuple(self.run_in(place, CommandName.BUILD, command.argv) for command in commands)
        made = place.untracked() if commands else ()
        self._installation.place.built = (place.commit_id(), made)
        return outputs

    def run_in(
        self,
        place: Tree,
        name: CommandName,
        argv: tuple[str, ...],
        seconds: float | None = None,
        *,
        fresh: bool = False,
    ) -> CommandOutput:
        """Run a command in a tree that `trial` shows, for at most so long. A `fresh` one does not
        see what commands left, but for what the build made: compilers keep their own there.
        """
        built = self._installation.place.built
        if fresh and (built is not None or not self.profile.commands.build):
            self._installation.show(place.commit_id(), built[1] if built is not None else ())
        output = self.runner.one(name, argv, place, seconds=seconds)
        if not fresh:
            self._known.keep(self._basis_of(place.commit_id()), output)
        return output

    def result_at(
        self, commit: str, name: CommandName, argv: tuple[str, ...], seconds: float
    ) -> CommandResult:
        """Return the result of a command at a commit; it does not run where that is known."""
        with self._installation.place.judging:
            if (known := self._known_at(commit, name, argv)) is not None:
                return known.result
            with self.trial(commit) as place:
                return self.run_in(place, name, argv, seconds).result

    def _known_at(
        self, commit: str, name: CommandName, argv: tuple[str, ...]
    ) -> CommandOutput | None:
        return self._known.output(self._basis_of(commit), name, argv)

    def _basis_of(self, commit: str) -> tuple[str, ...]:
        """Return what the result of a command depends on, beside the command."""
        code = code_of(self.repository.root, commit)
        return (code, self._installation.mark, self.runner.backend.value)

    def rerun(self, commit: str, argv: tuple[str, ...]) -> CommandResult:
        """Run tests without what their run before left, at a commit that is built first unless it
        is shown.
        """
        with self._installation.place.judging:
            built, place = self._installation.place.built, Tree(self._installation.path)
            shown = built is not None and built[0] == commit
            with nullcontext(place) if shown else self.trial(commit, built=True) as place:
                return self.run_in(place, CommandName.TEST, argv, fresh=True).result

    # -- for a model that asks

    @contextmanager
    def _ready(self, commit: str) -> Generator[Tree]:
        with self._installation.place.judging:
            self.set_up()
            with self.trial(commit, built=True) as place:
                yield place

    def run_tests(self, paths: Sequence[str]) -> str:
        """Return the outcome of the tests, narrowed to some files where a command allows it."""
        parts: list[str] = []
        with self._ready(self.tree.commit_id()) as place:
            for command in self.profile.commands.test:
                narrowing = _narrowing(command, paths, place)
                argv = (*command.argv, *narrowing)
                result, output, _ = self.run_in(place, CommandName.TEST, argv)
                all_ran = bool(paths) and not narrowing
                ignored = "(this command takes no selection: everything ran)\n" if all_ran else ""
                shown = shown_output(output.splitlines(), _SHOWN)
                ended = f"$ {' '.join(argv)}\nexit code {result.exit_code}\n{shown}"
                parts.append(f"{ignored}{ended}")
        return "\n\n".join(parts)

    @property
    def most_seconds(self) -> float:
        """The seconds that a request for tests can take with setup before it: what the sandbox
        allows, and a minute.
        """
        count = len(self.profile.commands.setup) + len(self.profile.commands.test)
        return self.config.command_seconds * max(1, count) + 60

    @property
    def interpreter(self) -> tuple[str, ...]:
        """The words with which the project's interpreter runs code, by its test commands; none
        where they tell none.
        """
        for command in self.profile.commands.test:
            program = basename(command.argv[0])
            if program.startswith("python"):
                return (command.argv[0], "-u", "-c")
            if program in _NODE:
                return ("node", "-e")
            if program in _RUBY:
                return ("ruby", "-e")
        return ()

    def run_snippet(self, commit: str, code: str) -> str:
        """Return what a few lines print at a commit, without network, and their exit code."""
        with self._ready(commit) as place:
            outcome = self.runner.snippet((*self.interpreter, code), place, _SNIPPET_SECONDS)
        late = f"It did not end within {_SNIPPET_SECONDS} seconds."
        ended = late if outcome.timed_out else f"exit code {outcome.exit_code}"
        output = _CALLERS.sub("", "\n".join(plain_lines(outcome.output))).strip("\n")
        if len(output) > _SNIPPET_SHOWN:
            half = _SNIPPET_SHOWN // 2
            output = f"{output[:half]}\n{GAP}\n{output[-half:]}"
        return f"{ended}\n{output}"

    def run_script(
        self, commit: str, argv: Sequence[str], readable: Path, *, network: bool, seconds: float
    ) -> CommandOutcome:
        """Run the script of a skill in a tree that shows a commit."""
        with self.trial(commit):
            outcome = self.runner.script(argv, readable, network=network, seconds=seconds)
        return outcome.replace(output="\n".join(plain_lines(outcome.output)))


def project_of(run: Run, tell: Notify) -> Project:
    """Return the project of a run, in the run's own tree."""
    scope, baseline = run.state.flags.scope, lambda: run.state.baseline
    return Project(run.repository, run.tree, run.config, tell, foundation(run), scope, baseline)


def _narrowing(command: Command, paths: Sequence[str], place: Tree) -> tuple[str, ...]:
    """Return the words that narrow a command to some files; none where it takes no such words."""
    takes_files = "pytest" in command.argv and all(
        (place.path / item.split("::")[0]).exists() for item in paths
    )
    return tuple(paths) if takes_files else ()
