"""The steps of a setup command after a person approved changed dependencies.

Third-party packages are installed with network. The project itself is built without, because nobody
approved the code that runs during its build. If a command cannot be divided, the question about the
approved bytes says so (`not_divided`).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from forge_bot.runs.project_commands.python_setup_steps import (
    Read,
    Step,
    files_that_decide,
    is_python_setup,
    python_divides,
    python_steps,
)

_REBUILDS = {"npm": "npm", "pnpm": "pnpm", "yarn": "npm", "bun": "npm"}
"""Package managers that can leave out install scripts, and the program whose `rebuild` runs them
afterwards. That of npm runs those of any `node_modules`."""
_BUILDS_NOTHING = (
    ("cargo", "fetch"),
    ("go", "mod", "download"),
    ("bundle", "install"),
    ("python3", "-m", "venv"),
)
"""The first words of commands that run nothing of the project."""
_ASSIGNMENT = re.compile(r"\w+=")


def divided(argv: tuple[str, ...], tree: Path, environment: Path) -> Iterator[Step]:
    """Yield the steps of a setup command.

    The last steps depend on what the first ones installed, so each step has to run before the next
    one is requested.
    """
    if is_python_setup(argv):
        yield from python_steps(argv, tree, environment)
    elif _is_newer_yarn(argv):
        yield (*argv, "--mode=skip-build"), True
        yield ("env", "YARN_ENABLE_NETWORK=false", *argv), False
    elif (verb := _scripts_apart(argv)) is not None:
        yield (*argv, "--ignore-scripts"), True
        yield (*_rebuild(argv, verb), "rebuild"), False
    else:
        yield argv, True


def not_divided(commands: Sequence[Sequence[str]], read: Read) -> tuple[str, ...]:
    """Return the setup commands that may build the project while they have network."""
    return tuple(
        " ".join(argv)
        for argv in map(tuple, commands)
        if not (
            _divides(argv, read)
            or any(_bare(argv)[: len(begin)] == begin for begin in _BUILDS_NOTHING)
        )
    )


def runs_nothing(argv: Sequence[str]) -> bool:
    """Return whether a command runs nothing of the project, such as the making of an
    environment.
    """
    return tuple(argv[:3]) == ("python3", "-m", "venv")


def deciding_files(commands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the paths of the files by which `not_divided` judges commands."""
    return tuple(dict.fromkeys(path for argv in commands for path in files_that_decide(argv)))


def _divides(argv: tuple[str, ...], read: Read) -> bool:
    if is_python_setup(argv):
        return python_divides(argv, read)
    return _is_newer_yarn(argv) or _scripts_apart(argv) is not None


def _bare(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without the variables that `env` sets for it."""
    if argv[0] != "env":
        return argv
    begin = next((at for at, word in enumerate(argv[1:], 1) if not _ASSIGNMENT.match(word)), 1)
    return argv[begin:]


def _is_newer_yarn(argv: tuple[str, ...]) -> bool:
    """Return whether a command installs by Yarn 2 or later, which alone knows `--immutable`."""
    return argv[0] == "yarn" and "install" in argv and "--immutable" in argv


def _scripts_apart(argv: Sequence[str]) -> int | None:
    """Return the index of the verb in a command of a JavaScript package manager that has an option
    to leave out scripts.
    """
    if argv[0] not in _REBUILDS:
        return None
    return next((place for place, word in enumerate(argv) if word in {"ci", "install"}), None)


def _rebuild(argv: Sequence[str], verb: int) -> tuple[str, ...]:
    before = ("--prefix" if word == "--cwd" else word for word in argv[1:verb])
    return (_REBUILDS[argv[0]], *before)
