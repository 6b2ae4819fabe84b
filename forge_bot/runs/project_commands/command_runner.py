"""Run one command of the project in the sandbox, with the files that are carried along and the
reports of its runner, and read its outcome.
"""

import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from forge_bot.agent.redaction import Redactor, secrets_of
from forge_bot.errors import CannotJudge, Interrupted, PathEscapes
from forge_bot.git import Repository, Tree
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.notifications import CommandBegan, CommandEnded, Notify, warning
from forge_bot.runs.project_commands.commit_profile import Profile
from forge_bot.runs.project_commands.file_copies import remove_entry
from forge_bot.runs.project_commands.installation import Installation
from forge_bot.sandbox.backends import cannot_judge, choose, run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome, ResourceLimits
from forge_bot.sandbox.visible_files import USUAL_PATH
from forge_bot.settings.config import Config
from forge_bot.store.files import full, inside, without_room
from forge_bot.text_format import without_environment
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import CommandOutput, read_outcome
from forge_bot.verification.runners import (
    Words,
    package_folder,
    places_of_reports,
    report_environment,
    reporting,
)

_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|secs?|seconds)\b")
_GO_CACHE = "GOCACHE"
_MOST_BYTES = 60_000_000
_MOST_FILES = 5_000
_WRITTEN = re.compile(
    r"^(?:-+ generated xml file: .*|Test results written to: .*|JSON report written to .*)\n?",
    re.MULTILINE,
)
"""What runners print about their reports."""


class CarriedFiles:
    """Files of a person's checkout, by their paths in the repository, that git ignores."""

    def __init__(self, checkout: Path, names: Sequence[str], tell: Notify) -> None:
        self._checkout = checkout
        self._names = names
        self._tell = tell

    @cached_property
    def _files(self) -> Sequence[str]:
        """Return those that can be carried; tell of the others."""
        root = self._checkout
        readable = [
            name
            for name in self._names
            if not (root / name).is_symlink() and (root / name).is_file()
            if os.access(root / name, os.R_OK) and _lies_inside(root, name)
        ]
        files = Tree(root).would_ignore(readable) if readable else ()
        why = "is not taken along, as `carry` asks: only a file that git ignores, no link, can be"
        for name in (name for name in self._names if name not in files):
            self._tell(warning(f"{name} {why}"))
        return files

    @contextmanager
    def copied_to(self, place: Tree) -> Generator[None]:
        """Copy the files into a tree where commands judge, for as long as one runs. What lies at
        their paths there is neither replaced nor removed.
        """
        root = place.path
        copied = [
            name
            for name in (self._files if root != self._checkout else ())
            if not os.path.lexists(root / name) and _lies_inside(root, name)
        ]
        try:
            for name in copied:
                with suppress(FileNotFoundError):  # gone in the meantime
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(self._checkout / name, root / name, follow_symlinks=False)
            yield
        finally:
            for name in copied:
                if _lies_inside(root, name):
                    remove_entry(root / name)

    def secrets(self) -> Mapping[str, str]:
        """Return the values in the files, by variable, that must not be shown."""
        lines = [
            line.strip().removeprefix("export ").partition("=")
            for name in self._files
            for line in (self._checkout / name).read_text("utf-8", "replace").splitlines()
        ]
        return secrets_of({name.strip(): value.strip().strip("\"'") for name, _, value in lines})


def _lies_inside(root: Path, name: str) -> bool:
    """Return whether no link leads to a path below a folder elsewhere."""
    return (root / name).parent.resolve() == root.resolve() / Path(name).parent


@dataclass
class RunnerReports:
    """The reports of one test command, which runs in a tree by `argv`."""

    argv: Words
    plain: Words
    place: Tree
    folder: Path
    _began: float
    """When the folder was made, by the clock of its file system."""

    def in_box(self, box: Box) -> Box:
        """Return the box in which the command may write its reports."""
        env = {**box.env, **report_environment(str(self.folder), box.env)}
        limits = (
            box.limits.replace(output_bytes=_MOST_BYTES) if "-json" in self.argv else box.limits
        )
        return box.replace(writable=(*box.writable, self.folder), env=env, limits=limits)

    def read(self) -> dict[str, str]:
        """Return the reports by name; what Maven and Gradle write by its path."""
        texts = {path.name: path for path in self.folder.iterdir()}
        globs = places_of_reports(self.plain)
        reports = (path for glob in globs for path in self.place.path.glob(glob))
        texts |= {path.relative_to(self.place.path).as_posix(): path for path in reports}
        chosen = [*texts.items()][:_MOST_FILES]
        return {name: text for name, path in chosen if (text := self._text(path))}

    def _text(self, path: Path) -> str:
        """Return a file that the command wrote; "" for a link, which may lead out."""
        root = self.folder if path.parent == self.folder else self.place.path
        with suppress(PathEscapes, OSError):
            file = inside(root, path.relative_to(root).as_posix())
            stat = file.lstat()
            is_new = file.is_file() and not file.is_symlink() and stat.st_mtime >= self._began
            if is_new and stat.st_size <= _MOST_BYTES:
                return file.read_text("utf-8", "replace")
        return ""

    def without_words(self, output: str) -> str:
        """Return the output without what it says of the reports."""
        ours = " ".join(self.argv[len(self.plain) :]).removeprefix("-- ")
        return _WRITTEN.sub("", output.replace(f" {ours}", "") if ours else output)


@contextmanager
def reports_of(argv: Words, place: Tree, parent: Path) -> Generator[RunnerReports]:
    """Make a folder for the reports of a test command, and remove it afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="reports-", dir=parent))
    try:
        words = reporting(argv, str(folder), _script(place, argv))
        yield RunnerReports(words, argv, place, folder, folder.stat().st_mtime)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _script(place: Tree, argv: Words) -> str:
    """Return the script that a package manager runs as `test`; "" for another command."""
    folder = package_folder(argv)
    if folder is None or "test" not in argv:
        return ""
    with suppress(OSError, ValueError, AttributeError, PathEscapes):
        manifest = inside(place.path, f"{folder}/package.json" if folder else "package.json")
        script = json.loads(manifest.read_text("utf-8"))["scripts"]["test"]
        return script if isinstance(script, str) else ""
    return ""


@dataclass(eq=False)
class CommandRunner:
    """Runs the commands of one run where an installation shows a commit, in the sandbox of this
    machine.
    """

    repository: Repository
    config: Config
    profile: Profile
    installation: Installation
    tell: Notify
    strike: Redactor
    carried: CarriedFiles
    _called_off: threading.Event = field(default_factory=threading.Event, init=False)

    @cached_property
    def backend(self) -> BackendName:
        """Return the sandbox of commands; raises NoSandbox where nothing works and nobody switched
        it off.
        """
        backend = choose(self.config.sandbox)
        if backend is BackendName.OFF:
            text = "Project commands run without a sandbox, as .forge/config.yml says."
            if self.profile.commands.setup:
                text = f"{text} Setup has this machine's network, without a proxy."
            self.tell(warning(text))
        elif lacking := cannot_judge(backend):
            text = f"Project commands run in the sandbox {backend}, which cannot judge {lacking}"
            self.tell(warning(f"{text}: a failure of these is refused."))
        return backend

    @property
    def _uses_go(self) -> bool:
        """Return whether a command of the project may compile Go."""
        return any(language.name == "Go" for language in self.profile.languages)

    def _box(
        self,
        *,
        setting_up: bool = False,
        network: bool = False,
        seconds: float | None = None,
        at_base: bool = False,
    ) -> Box:
        """Return the box of a command, with a time limit. Setup may write the files that other
        commands read. What Go has compiled `at_base` is kept: others get a copy, since code that is
        judged must not change what a later command runs.
        """
        installation, limit = self.installation, self.config.command_seconds
        environment = installation.environment
        caches = {_GO_CACHE: installation.place.compiled} if self._uses_go else {}
        kept = caches if setting_up or at_base else {}
        common = self.repository.common_dir
        path = self.config.environment.get("PATH") or os.environ.get("PATH") or USUAL_PATH
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
                "PATH": os.pathsep.join((str(environment / "bin"), path)),
            },
            hosts=self.config.network,
            services=tuple(dict.fromkeys(self.config.services.values())),
            limits=ResourceLimits(seconds=limit if seconds is None else min(seconds, limit)),
        )

    def one(
        self, name: CommandName, argv: tuple[str, ...], place: Tree, *, seconds: float | None = None
    ) -> CommandOutput:
        """Run a command. Raises Interrupted."""
        self.tell(CommandBegan(name=name, argv=argv))
        box = self._box(seconds=seconds, at_base=self._is_at_base(place))
        if name is not CommandName.TEST:
            return self._report_end(name, argv, place, self._run(box, argv, carried_to=place))
        with reports_of(argv, place, self.installation.environment.parent) as reports:
            outcome = self._run(reports.in_box(box), reports.argv, carried_to=place)
            return self._report_end(name, argv, place, outcome, reports)

    def of_setup(
        self, argv: tuple[str, ...], place: Tree, secret: Mapping[str, str]
    ) -> CommandResult:
        """Run a command of setup, which must not see the carried files, since it has the network.
        Raises Interrupted.
        """
        self.tell(CommandBegan(name=CommandName.SETUP, argv=argv))
        outcome = self._run(self._box(setting_up=True).replace(secret_env=secret), argv)
        return self._report_end(CommandName.SETUP, argv, place, outcome).result

    def snippet(self, argv: Sequence[str], place: Tree, seconds: float) -> CommandOutcome:
        """Run words that somebody wants tried, without the carried files. Raises Interrupted."""
        outcome = self._run(self._box(seconds=seconds, at_base=self._is_at_base(place)), argv)
        return outcome.replace(output=self._without_places(outcome.output, place))

    def script(
        self, argv: Sequence[str], readable: Path, *, network: bool, seconds: float
    ) -> CommandOutcome:
        """Run the script of a skill. Raises Interrupted."""
        box = self._box(network=network, seconds=seconds)
        return self._run(box.replace(readable=(*box.readable, readable)), argv)

    def _is_at_base(self, place: Tree) -> bool:
        return self._uses_go and self.installation.is_base(place.commit_id())

    def _run(
        self, box: Box, argv: Sequence[str], *, carried_to: Tree | None = None
    ) -> CommandOutcome:
        """Return the outcome of a command.

        Raises Interrupted if somebody ended the commands, because the output then says nothing
        about the project.
        """
        # The placeholder is what people and records see: the folder differs from machine to
        # machine.
        words = [word.replace(ENV, str(self.installation.environment)) for word in argv]
        with self.carried.copied_to(carried_to) if carried_to is not None else nullcontext():
            outcome = run(self.backend, box, words, called_off=self._called_off)
        if self._called_off.is_set():
            raise Interrupted("The work was ended while the project's commands ran.")
        return outcome

    def call_off(self) -> None:
        """End the command that is running; none starts any more. For a person who stops the run."""
        self._called_off.set()

    def _report_end(
        self,
        name: CommandName,
        argv: tuple[str, ...],
        place: Tree,
        outcome: CommandOutcome,
        reports: RunnerReports | None = None,
    ) -> CommandOutput:
        """Return what a command did. Raises an error for a failure that says
        nothing about the project.
        """
        if outcome.exit_code != 0:
            self._require_fair(argv, place, outcome)
        output = self._without_places(outcome.output, place)
        texts = reports.read() if reports is not None else {}
        texts = {path: self._without_places(text, place) for path, text in texts.items()}
        output = reports.without_words(output) if reports is not None else output
        ended = read_outcome(
            name, argv, outcome.exit_code, output, outcome.duration_ms, outcome.timed_out, texts
        )
        result = ended.result.replace(tail=_timeless(ended.result.tail))
        self.tell(CommandEnded(result=result))
        return CommandOutput(result, _timeless(ended.output), ended.passed)

    def _require_fair(self, argv: Sequence[str], place: Tree, outcome: CommandOutcome) -> None:
        """Raise CannotJudge where the sandbox made a command fail, and what `full` returns where
        the disk is full.
        """
        command = " ".join(argv)
        if outcome.cannot_judge:
            raise CannotJudge(
                f"`{command}` failed, and this sandbox cannot judge it: {outcome.cannot_judge}."
            )
        written = (place.path, self.installation.environment, Path(tempfile.gettempdir()))
        if any(map(without_room, written)):
            way_out = (
                f"What `{command}` says counts only with room to work in. If there is room again "
                "now, the command itself has filled the disk: change it, or have the phase done "
                "again with `retry`."
            )
            raise full(written, way_out)

    def _without_places(self, output: str, place: Tree) -> str:
        """Return the output without secrets and without the names of this machine's folders."""
        output = self.strike(output).replace(str(self.installation.environment), ENV)
        return without_environment(output).replace(str(place.path), ".")


def _timeless(output: str) -> str:
    """Return output without durations: the same outcome then makes the same prompt and document,
    byte for byte.
    """
    return _DURATION.sub(r"… \1", output)


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
