"""The steps of a setup command after a person approved changed dependencies.

Third-party packages are installed with network. The project itself is built without: what it runs
while it is built was not approved. Where a command cannot be divided, the question about the
approved bytes says so (`not_divided`).
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, cast

Step = tuple[tuple[str, ...], bool]
"""The words of a command, and whether it gets the network."""

_REBUILDS = {"npm": ("npm",), "pnpm": ("pnpm",), "yarn": ("npm",), "bun": ("npm",)}
"""Package managers that can leave out install scripts, and the program whose `rebuild` runs them
afterwards. That of npm runs those of any `node_modules`."""
_BUILDS_NOTHING = (
    ("cargo", "fetch"),
    ("go", "mod", "download"),
    ("bundle", "install"),
    ("python3", "-m", "venv"),
)
"""How commands begin that run nothing of the project."""
_LOCAL = re.compile(r"\s*(?:-e\b|--editable\b|\.|/|file:|[\w.\[\],-]+\s*@\s*file:)")
_BEYOND = ("hatchling", "pdm-backend")
"""Build backends that need `editables` for an editable install, and say so only when they are
asked."""
_NAME = re.compile(rb"^Name: *([A-Za-z0-9][A-Za-z0-9._-]*)\s*$", re.MULTILINE)
_EDITABLE = re.compile(r"(?P<folder>[^\[\]]*)(?P<extras>\[[\w,.-]*\])?")


def divided(argv: tuple[str, ...], tree: Path, environment: Path) -> Iterator[Step]:
    """Yield the steps of a setup command. The last ones look at what the first ones installed, so
    each has to run before the next one is asked for.
    """
    if (place := _pip_install(argv)) is not None:
        yield from _by_pip(argv[: place + 1], argv[place + 1 :], tree, environment)
    elif (verb := _scripts_apart(argv)) is not None:
        yield (*argv, "--ignore-scripts"), True
        yield (*_rebuild(argv, verb), "rebuild"), False
    else:
        yield argv, True


def not_divided(commands: Sequence[Sequence[str]], tree_text: dict[str, str]) -> tuple[str, ...]:
    """Return the setup commands that may build the project while they have network. `tree_text` has
    the requirements files by path.
    """
    return tuple(
        " ".join(argv)
        for argv in map(tuple, commands)
        if not (
            _divides(argv, tree_text)
            or any(argv[: len(begin)] == begin for begin in _BUILDS_NOTHING)
        )
    )


def _divides(argv: tuple[str, ...], tree_text: dict[str, str]) -> bool:
    if (place := _pip_install(argv)) is None:
        return _scripts_apart(argv) is not None
    _, others = _editables(argv[place + 1 :])
    files = [name for flag, name in pairwise(others) if flag == "-r"]
    lines = [line for name in files for line in tree_text.get(name, "").splitlines()]
    return not any(map(_LOCAL.match, (*lines, *others)))


def _pip_install(argv: Sequence[str]) -> int | None:
    """Return the place of `install` in a command of pip."""
    for place, word in enumerate(argv[:-1]):
        if PurePath(word).name in {"pip", "pip3"} and argv[place + 1] == "install":
            return place + 1
    return None


def _scripts_apart(argv: Sequence[str]) -> int | None:
    """Return the place of the verb in a command of a JavaScript package manager that can leave out
    scripts. Yarn 2 and later has no such option.
    """
    if argv[0] not in _REBUILDS or (argv[0] == "yarn" and "--immutable" in argv):
        return None
    return next((place for place, word in enumerate(argv) if word in {"ci", "install"}), None)


def _rebuild(argv: Sequence[str], verb: int) -> tuple[str, ...]:
    (program,) = _REBUILDS[argv[0]]
    before = ("--prefix" if word == "--cwd" else word for word in argv[1:verb])
    return (program, *before)


# -- pip
# --------------------------------------------------------------------------------------------------


def _by_pip(
    install: tuple[str, ...], words: Sequence[str], tree: Path, environment: Path
) -> Iterator[Step]:
    own, others = _editables(words)
    if not own:
        yield (*install, *words), True
        return
    quiet = tuple(word for word in others if word in {"-q", "--disable-pip-version-check"})
    needs = dict.fromkeys(need for path, _ in own for need in _build_needs(tree / path))
    if needs or len(others) > len(quiet):
        yield (*install, *others, *needs), True
    yield (
        (
            *install,
            *quiet,
            "--no-deps",
            "--no-build-isolation",
            *(word for path, extras in own for word in ("-e", f"{path}{extras}")),
        ),
        False,
    )
    # A project that is installed counts as such: pip fetches what its metadata asks for, and does
    # not build it again.
    known = _installed(environment)
    names = [
        f"{known[place]}{extras}" for path, extras in own if (place := _at(tree, path)) in known
    ]
    if names:
        yield (*install, *quiet, *names), True


def _editables(words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the folders of a command with their extras, and its other words."""
    own: list[tuple[str, str]] = []
    others: list[str] = []
    waits = False
    for word in words:
        if waits and (found := _EDITABLE.fullmatch(word)) is not None:
            own.append((found["folder"], found["extras"] or ""))
        elif word not in {"-e", "--editable"}:
            others.append(word)
        waits = word in {"-e", "--editable"}
    return own, others


def _build_needs(folder: Path) -> list[str]:
    """Return what the build of a project needs; setuptools where it does not say (PEP 518)."""
    file = folder / "pyproject.toml"
    try:
        found: Any = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    except (OSError, ValueError):
        found = {}
    system = cast("dict[str, Any]", found).get("build-system")
    if not isinstance(system, dict):
        return ["setuptools", "wheel"]
    asked: Any = cast("dict[str, Any]", system).get("requires", ())
    needs = [each for each in cast("list[Any]", asked) if isinstance(each, str)]
    beyond = ["editables"] if any(each.startswith(_BEYOND) for each in needs) else []
    # A path is the project's own code, and an option none of ours.
    return [each for each in (*needs, *beyond) if not each.startswith("-") and "file:" not in each]


def _at(tree: Path, path: str) -> str:
    return (tree / path).resolve().as_uri()


def _installed(environment: Path) -> dict[str, str]:
    """Return the names of the projects that are installed from a folder, by its address (PEP
    610).
    """
    found: dict[str, str] = {}
    for file in environment.glob("lib/python*/site-packages/*.dist-info/direct_url.json"):
        about = file.with_name("METADATA")
        if about.is_file() and (name := _NAME.search(about.read_bytes())) is not None:
            for address in re.findall(r'"url": *"(file:[^"]*)"', file.read_text("utf-8")):
                found[address.rstrip("/")] = name[1].decode()
    return found
