"""Credentials of package registries: only commands of setup that fetch third-party packages get
them, and none is left where a later command could read it.
"""

import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise
from pathlib import Path, PurePath

from forge_bot.agent.redaction import SETUP_PREFIX, encoded_forms, password_in
from forge_bot.errors import CredentialKept
from forge_bot.project.detected_commands import ENV
from forge_bot.settings.config import Config

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
