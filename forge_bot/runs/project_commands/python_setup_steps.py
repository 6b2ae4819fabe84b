"""The steps of a setup command of pip, uv, Poetry or PDM.

Third-party packages come with network, then the project itself without.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, cast

Step = tuple[tuple[str, ...], bool]
"""The words of a command, and whether it gets the network."""
Read = Callable[[str], str]
"""Returns the text of a file of the work tree by its path; "" if there is none."""

_VERBS = {"pip": "install", "pip3": "install", "uv": "sync", "poetry": "install", "pdm": "install"}
_LOCKS = {"uv": "uv.lock", "poetry": "poetry.lock", "pdm": "pdm.lock"}
_THIRD_PARTY_ONLY = {"poetry": ("--no-root",), "pdm": ("--no-self", "--skip=:all")}
"""Options that leave out the project, and the scripts that its manifest names."""
_QUIET = ("-q", "--disable-pip-version-check")
_BUILT_HERE = ("--no-deps", "--no-build-isolation")
_LOCAL = re.compile(r"\s*(?:-e\b|--editable\b|\.|/|file:|[\w.\[\],-]+\s*@\s*file:)")
_LOCAL_IN_LOCK = re.compile(
    r"^[^\S\n]*(?:type\s*=\s*\"(?:directory|file)\"|path\s*=|editable\s*=\s*true)", re.MULTILINE
)
"""Lines of poetry.lock and pdm.lock about a package that is a folder or file."""
_BEYOND = ("hatchling", "pdm-backend")
"""Build backends that need `editables` for an editable install, and say so only when they are
asked."""
_NAME = re.compile(rb"^Name: *([A-Za-z0-9][A-Za-z0-9._-]*)\s*$", re.MULTILINE)
_EDITABLE = re.compile(r"(?P<folder>[^\[\]]*)(?P<extras>\[[\w,.-]*\])?")


def is_python_setup(argv: Sequence[str]) -> bool:
    """Return whether a command is one of pip, uv, Poetry or PDM that installs."""
    return _installer(argv) is not None


def python_steps(argv: tuple[str, ...], tree: Path, environment: Path) -> Iterator[Step]:
    """Yield the steps of such a command. The last steps depend on what the first ones installed."""

    def read(path: str) -> str:
        file = tree / path
        return file.read_text("utf-8", "replace") if file.is_file() else ""

    tool, verb = _installer(argv) or ("", 0)
    if tool not in _LOCKS:
        yield from _by_pip(argv[: verb + 1], argv[verb + 1 :], tree, environment, read)
    elif not python_divides(argv, read):
        yield argv, True
    elif tool == "uv":
        yield from _by_uv(argv, verb, read)
    else:
        yield from _by_lock(argv, tool, read)


def python_divides(argv: tuple[str, ...], read: Read) -> bool:
    """Return whether nothing of the project is built in the part of such a command with network."""
    tool, verb = _installer(argv) or ("", 0)
    if tool == "uv":
        return "--frozen" in argv and bool(_locked(argv, tool, read))
    if tool in _THIRD_PARTY_ONLY:
        locked = _locked(argv, tool, read)
        return bool(_variable(argv, "VIRTUAL_ENV")) and not _LOCAL_IN_LOCK.search(locked)
    _, others = _editables(argv[verb + 1 :])
    files = [name for flag, name in pairwise(others) if flag == "-r"]
    lines = [line for name in files for line in read(name).splitlines()]
    return not any(map(_LOCAL.match, (*lines, *others)))


def files_that_decide(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of the files by which `python_divides` judges a command."""
    tool, _ = _installer(argv) or ("", 0)
    lock = (_join(_folder(argv), _LOCKS[tool]),) if tool in _LOCKS else ()
    return (*lock, *(word for word in argv if word.endswith(".txt")))


def _installer(argv: Sequence[str]) -> tuple[str, int] | None:
    """Return the tool of a command and the place of its verb."""
    for place, (word, verb) in enumerate(pairwise(argv)):
        tool = PurePath(word).name
        if _VERBS.get(tool) == verb:
            return tool, place + 1
    return None


def _folder(argv: Sequence[str]) -> str:
    """Return the folder of the project that a command of uv, Poetry or PDM names."""
    named = (value for flag, value in pairwise(argv) if flag in {"--project", "--directory"})
    return next(named, "")


def _variable(argv: Sequence[str], name: str) -> str:
    """Return the value of a variable that `env` sets for the command."""
    set_here = (word.partition("=") for word in argv if word.startswith(f"{name}="))
    return next((value for _, _, value in set_here), "")


def _locked(argv: Sequence[str], tool: str, read: Read) -> str:
    return read(_join(_folder(argv), _LOCKS[tool]))


def _join(folder: str, name: str) -> str:
    return str(PurePath(folder) / name)


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError:
        return {}


# -- tools with a lock file
# --------------------------------------------------------------------------------------------------


def _by_uv(argv: tuple[str, ...], verb: int, read: Read) -> Iterator[Step]:
    folder = _folder(argv)
    own = _members(_locked(argv, "uv", read))
    yield (*argv, *(word for name in own for word in ("--no-install-package", name))), True
    place = _variable(argv, "UV_PROJECT_ENVIRONMENT") or _join(folder, ".venv")
    manifests = (_join(folder, _join(path, "pyproject.toml")) for path in own.values())
    needs = _distinct(manifests, read)
    if needs:
        yield (*argv[:verb], "pip", "install", "--quiet", "--python", place, *needs), True
    if own:
        kept = () if "--inexact" in argv else ("--inexact",)
        yield (*argv, *kept, "--offline", "--no-build-isolation"), False


def _members(locked: str) -> dict[str, str]:
    """Return the packages of uv.lock that are built from folders, each with its folder."""
    found: dict[str, str] = {}
    for package in cast("list[dict[str, Any]]", _toml(locked).get("package", [])):
        source: dict[str, Any] = package.get("source", {})
        path = source.get("editable", source.get("directory"))
        if isinstance(path, str):
            found[str(package["name"])] = path
    return found


def _by_lock(argv: tuple[str, ...], tool: str, read: Read) -> Iterator[Step]:
    folder, manifest = _folder(argv), _join(_folder(argv), "pyproject.toml")
    more = tuple(word for word in _THIRD_PARTY_ONLY[tool] if word not in argv)
    yield (*argv, *more), True
    if "--no-root" in argv or "--no-self" in argv or not _is_package(_toml(read(manifest))):
        return
    pip = (f"{_variable(argv, 'VIRTUAL_ENV')}/bin/python", "-m", "pip", "install", *_QUIET)
    if needs := _distinct((manifest,), read):
        yield (*pip, *needs), True
    yield (*pip, *_BUILT_HERE, "-e", f"./{folder}" if folder else "."), False


def _is_package(manifest: Mapping[str, Any]) -> bool:
    """Return whether Poetry or PDM would install the project itself."""
    tools = manifest.get("tool", {})
    poetry, pdm = tools.get("poetry", {}), tools.get("pdm", {})
    return poetry.get("package-mode", True) is True and pdm.get("distribution", True) is True


# -- pip
# --------------------------------------------------------------------------------------------------


def _by_pip(
    install: tuple[str, ...], words: Sequence[str], tree: Path, environment: Path, read: Read
) -> Iterator[Step]:
    own, others = _editables(words)
    if not own:
        yield (*install, *words), True
        return
    quiet = tuple(word for word in others if word in _QUIET)
    needs = _distinct((_join(path, "pyproject.toml") for path, _ in own), read)
    needs += _declared(own, read)
    if needs or len(others) > len(quiet):
        yield (*install, *others, *needs), True
    yield (
        (
            *install,
            *quiet,
            *_BUILT_HERE,
            *(word for path, extras in own for word in ("-e", f"{path}{extras}")),
        ),
        False,
    )
    # A project that is installed counts as such: pip fetches what its metadata asks for, and does
    # not build it again.
    known = _installed(environment)
    names = [
        f"{known[place]}{extras}"
        for path, extras in own
        if (place := (tree / path).resolve().as_uri()) in known
    ]
    if names:
        yield (*install, *quiet, *names), True


def _declared(own: Sequence[tuple[str, str]], read: Read) -> list[str]:
    """Return what projects and their extras need, as far as their manifests say it."""
    found: dict[str, None] = {}
    for path, extras in own:
        about = _toml(read(_join(path, "pyproject.toml"))).get("project", {})
        wanted = [about.get("dependencies", [])]
        groups = about.get("optional-dependencies", {})
        wanted += [groups.get(name, []) for name in re.findall(r"[\w.-]+", extras)]
        own_name = re.compile(rf"{re.escape(str(about.get('name', '')))}\s*(?:\[|$)", re.IGNORECASE)
        found.update((each, None) for group in wanted for each in group if not own_name.match(each))
    return [each for each in found if "file:" not in each]


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


def _distinct(manifests: Iterable[str], read: Read) -> list[str]:
    """Return what the builds of projects need, each once."""
    return [*dict.fromkeys(need for path in manifests for need in _build_needs(read(path)))]


def _build_needs(manifest: str) -> list[str]:
    """Return the packages that a project's build needs; setuptools if it names none (PEP 518)."""
    system = _toml(manifest).get("build-system")
    if not isinstance(system, dict):
        return ["setuptools", "wheel"]
    asked: Any = cast("dict[str, Any]", system).get("requires", ())
    needs = [each for each in cast("list[Any]", asked) if isinstance(each, str)]
    beyond = ["editables"] if any(each.startswith(_BEYOND) for each in needs) else []
    # A path is the project's own code, and an option none of ours.
    return [each for each in (*needs, *beyond) if not each.startswith("-") and "file:" not in each]


def _installed(environment: Path) -> dict[str, str]:
    """Return the names of the projects installed from a folder, by its address (PEP 610)."""
    found: dict[str, str] = {}
    for file in environment.glob("lib/python*/site-packages/*.dist-info/direct_url.json"):
        about = file.with_name("METADATA")
        if about.is_file() and (name := _NAME.search(about.read_bytes())) is not None:
            for address in re.findall(r'"url": *"(file:[^"]*)"', file.read_text("utf-8")):
                found[address.rstrip("/")] = name[1].decode()
    return found
