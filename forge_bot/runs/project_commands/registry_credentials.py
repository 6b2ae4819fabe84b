"""Credentials of package registries: who gets them, and that nothing stores them.

A repository names the variables (`setup_credentials`). The user gives the values in variables with
a prefix, so that no repository can ask for another secret of the machine. Only steps that fetch
third-party packages get them. Steps that build or run code of the project never do.
"""

import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from forge_bot.agent.redaction import SETUP_PREFIX, encoded_forms, password_in
from forge_bot.errors import CredentialKept
from forge_bot.runs.project_commands.python_setup_steps import (
    Read,
    Step,
    is_python_setup,
    python_divides,
)
from forge_bot.runs.project_commands.setup_steps import runs_nothing
from forge_bot.sentences import say
from forge_bot.settings import Config

_LAST_BUILDS_NOTHING = {"npm": (), "bun": (), "pnpm": (".pnpmfile.cjs", ".pnpmfile.mjs")}
"""Package managers whose `--ignore-scripts` keeps the project's code from running, and the files by
which it runs all the same."""
_YARN_RUNS = re.compile(r"yarn-path|yarnPath|plugins\s*:")
_CARGO_RUNS = "credential-provider"
_FETCHES = (("go", "mod", "download"), ("cargo", "fetch"))


def credentials(config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values that were given for the variables that the configuration names."""
    given = {name: environ.get(f"{SETUP_PREFIX}{name}", "") for name in config.setup_credentials}
    return {name: value for name, value in given.items() if value}


def only_fetches(argv: Sequence[str], read: Read) -> bool:
    """Return whether a step of setup fetches third-party packages and runs nothing of the project.

    `argv` is a step that `divided` gave the network; `read` gives the files of the project.
    """
    words = tuple(argv)
    if is_python_setup(words):
        return "-e" not in words and "--editable" not in words and python_divides(words, read)
    if any(words[: len(begin)] == begin for begin in _FETCHES):
        configured = read(".cargo/config.toml") + read(".cargo/config")
        return words[0] != "cargo" or _CARGO_RUNS not in configured
    if words[0] == "yarn":
        apart = "--ignore-scripts" in words or "--mode=skip-build" in words
        return apart and not _YARN_RUNS.search(read(".yarnrc") + read(".yarnrc.yml"))
    runs = _LAST_BUILDS_NOTHING.get(words[0])
    return runs is not None and "--ignore-scripts" in words and not any(map(read, runs))


def secrets_in(given: Mapping[str, str]) -> dict[str, str]:
    """Return credentials by name, and the passwords of those that are addresses."""
    passwords = {f"password of {name}": password_in(value) for name, value in given.items()}
    return {**given, **{name: text for name, text in passwords.items() if text}}


def credentials_first(
    commands: Iterable[Iterator[Step]], read: Read
) -> Iterator[tuple[Step, bool]]:
    """Yield the steps of all commands, and whether each gets the credentials.

    The steps that only fetch come first. After a step that could have run code of the project, no
    step gets credentials: that code may have changed later programs.
    """
    waiting: list[Iterator[Step]] = []
    whole = True
    for steps in commands:
        for argv, network in steps if whole else ():
            if network and only_fetches(argv, read):
                yield (argv, network), True
            elif runs_nothing(argv):
                yield (argv, network), False
            else:
                # What cannot be divided may prepare what the next command fetches.
                whole = not network
                waiting.append(chain([(argv, network)], steps))
                break
        else:
            if not whole:
                waiting.append(steps)
    yield from ((step, False) for steps in waiting for step in steps)


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
        if (found := _search(wanted, file)) is not None:
            raise CredentialKept(
                say("runs.registry_credentials.secret_in_setup", forms=forms[found], name=file.name)
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
