"""The means of a project's command: the sandbox of this machine, files, network and resources,
and in setup the credentials of package registries.
"""

import mmap
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise
from pathlib import Path, PurePath

from forge_bot.agent.redaction import SETUP_PREFIX, encoded_forms, password_in
from forge_bot.errors import CredentialKept, Interrupted
from forge_bot.git import Repository
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.project_commands.commit_profile import Profile
from forge_bot.runs.project_commands.installation import Installation
from forge_bot.sandbox.backends import cannot_judge, choose, run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome, ResourceLimits
from forge_bot.sandbox.visible_files import USUAL_PATH
from forge_bot.settings import Config

_GO_CACHE = "GOCACHE"
Read = Callable[[str], str]
"""Returns the text of a file of the project by its path; "" if there is none."""
_FETCHES = (
    (("npm",), "--ignore-scripts"),
    (("bun",), "--ignore-scripts"),
    (("pnpm",), "--ignore-scripts"),
    (("yarn",), "--ignore-scripts"),
    (("yarn",), "--mode=skip-build"),
    (("uv", "sync"), "--no-install-project"),
    (("poetry", "install"), "--no-root"),
    (("pdm", "install"), "--no-self"),
    (("go", "mod", "download"), ""),
    (("cargo", "fetch"), ""),
    (("pip", "install"), ""),
)
"""The programs that install without running code of the project, with the option for it."""
_LOCKS = {"uv": "uv.lock", "poetry": "poetry.lock", "pdm": "pdm.lock"}
_RUNS = {
    ".pnpmfile.cjs": "",
    ".pnpmfile.mjs": "",
    ".yarnrc": r"yarn-path",
    ".yarnrc.yml": r"yarnPath|plugins\s*:",
    ".cargo/config.toml": "credential-provider",
    ".cargo/config": "credential-provider",
}
"""Files by which such a program runs code of the project all the same, if they hold these words."""
_LOCAL = re.compile(r"\s*(?:-e\b|--editable\b|\.|/|file:|[\w.\[\],-]+\s*@\s*file:)")
_LOCAL_IN_LOCK = re.compile(
    r"\btype\s*=\s*\"(?:directory|file)\"|\b(?:path|editable|directory)\s*=\s*\"(?!\.\")"
)


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


def credentials(config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values that were given for the variables that the configuration names.

    The user gives them in variables with a prefix, so that no repository can ask for another secret
    of the machine. Only commands of setup that fetch third-party packages get them; commands that
    build or run code of the project never do.
    """
    given = {name: environ.get(f"{SETUP_PREFIX}{name}", "") for name in config.setup_credentials}
    return {name: value for name, value in given.items() if value}


def only_fetches(argv: Sequence[str], read: Read) -> bool:
    """Return whether a command of setup fetches third-party packages and runs nothing of the
    project.
    """
    words = _from_program(argv)
    if any(re.search(mark, text) for path, mark in _RUNS.items() if (text := read(path))):
        return False
    options = dict(pairwise(words))
    folder = PurePath(options.get("--project", options.get("--directory", "")))
    for program, option in _FETCHES:
        if words[: len(program)] == [*program] and (not option or option in words):
            lock = _LOCKS.get(program[0])
            files = [name for flag, name in pairwise(words) if flag == "-r"]
            lines = [line for name in files for line in read(name).splitlines()]
            local = program[0] == "pip" and any(map(_LOCAL.match, (*words, *lines)))
            return not (local or (lock and _LOCAL_IN_LOCK.search(read(str(folder / lock)))))
    return False


def _from_program(argv: Sequence[str]) -> list[str]:
    """Return the words of a command without `env`, its variables, and the Python of a module; none
    for a program of the project.
    """
    words = [*dropwhile(lambda word: word == "env" or "=" in word, argv)]
    words = words[2:] if words[1:2] == ["-m"] else words
    ours = bool(words) and ("/" not in words[0] or words[0].startswith(f"{ENV}/"))
    return [PurePath(words[0]).name, *words[1:]] if ours else []


def secrets_in(given: Mapping[str, str]) -> dict[str, str]:
    """Return credentials by name, and the passwords of those that are addresses."""
    passwords = {f"password of {name}": password_in(value) for name, value in given.items()}
    return {**given, **{name: text for name, text in passwords.items() if text}}


def runs_nothing(argv: Sequence[str]) -> bool:
    """Return whether a command makes an environment, and runs nothing of the project."""
    return tuple(argv[:3]) == ("python3", "-m", "venv")


def check_not_kept(given: Mapping[str, str], folders: Iterable[Path]) -> None:
    """Raise CredentialKept if a file in these folders contains one of the values, because later
    commands could read it.
    """
    forms = {
        form.encode(): name
        for name, text in secrets_in(given).items()
        for form in encoded_forms(text)
    }
    if not forms:
        return
    wanted = re.compile(b"|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    for file in _files(folders):
        if (secret := _search(wanted, file)) is not None:
            raise CredentialKept(
                f"Setup wrote the value of {forms[secret]} into {file.name}, where the "
                "project's code could read it."
            )


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for file in folder.rglob("*"):
            if file.is_file() and not file.is_symlink():
                yield file


def _search(wanted: re.Pattern[bytes], file: Path) -> bytes | None:
    try:
        with (
            file.open("rb") as opened,
            mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as raw,
        ):
            match = wanted.search(raw)
            return match[0] if match is not None else None
    except (OSError, ValueError):  # unreadable, or empty
        return None
