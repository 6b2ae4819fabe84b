"""The declared needs of a Python project, and the commands that install it: a lock file by the tool
that wrote it, else pip. Nothing of the project is executed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import dirname, normpath
from typing import Literal

from forge_bot.project.detected_commands import ENV, Command, command
from forge_bot.project.file_list import Listing, ini, items, join, string, strings, table, toml
from forge_bot.values import Frozen

_PURPOSES = {
    **dict.fromkeys(("test", "tests", "testing"), "tests"),
    **dict.fromkeys(("dev", "develop", "development"), "development"),
}
_ROOT_FILE = re.compile(
    r"(?:requirements(?:[-_.](?P<after>\w+))?|(?P<before>\w+)[-_.]requirements)\.txt"
)
_HOOKS = ".pre-commit-config.yaml"
_HOOK = re.compile(
    r"/(?P<tool>ruff|flake8)(?:-pre-commit)?(?:\.git)?[\"']?\s*\n"
    r"\s*rev:\s*[\"']?v?(?P<version>\d[\w.]*)"
)
_SCRIPT_EXTRA = re.compile(r"""["'](tests?|testing|dev)["']\s*:""")
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
_UNREAD = "what setup.py says"
"""Stands for requirements that only a script knows. It is not run."""
_INCLUDE = re.compile(r"(?:-r|--requirement)[\s=]*(\S+)")


class DependencySource(Frozen):
    """Requirements under one name: an extra, a dependency group, a requirements file."""

    kind: Literal["extra", "group", "file"]
    name: str
    about: str
    requirements: tuple[str, ...]

    @property
    def purpose(self) -> str:
        """The purpose by the name: tests, development, or running; empty for all else."""
        if self.kind == "file" and self.about in {"", "base"}:
            return "running"
        return _PURPOSES.get(_canonical(self.about), "")

    def names(self, project: str) -> bool:
        return project in map(_name_of, self.requirements)


class DeclaredDependencies(Frozen):
    """The way a project is installed, its dependencies, and named sources of more requirements."""

    folder: str
    installable: bool
    dependencies: tuple[str, ...]
    sources: tuple[DependencySource, ...]

    def declared(self, project: str) -> str:
        """Return a requirement on a project as it is declared anywhere; empty when nowhere."""
        lines = (*self.dependencies, *(r for source in self.sources for r in source.requirements))
        return next((line for line in lines if _name_of(line) == project), "")


def read_needs(listing: Listing, folder: str) -> DeclaredDependencies:
    """Return the declarations of the Python project in a folder."""
    project = toml(listing.text(join(folder, "pyproject.toml")))
    legacy = ini(listing.text(join(folder, "setup.cfg")))
    script = listing.text(join(folder, "setup.py"))
    declared = (
        *strings(table(project, "project").get("dependencies")),
        *(name for name in table(project, "tool", "poetry", "dependencies") if name != "python"),
        *legacy.get("options", {}).get("install_requires", "").splitlines(),
        *((_UNREAD,) if "install_requires" in script else ()),
    )
    return DeclaredDependencies(
        folder=folder,
        installable=_is_installable(listing, folder, project, legacy),
        dependencies=tuple(line for line in declared if line.strip()),
        sources=(
            *_extras(project, legacy, script),
            *_groups(project),
            *_files(listing, folder),
            *_hooks(listing),
        ),
    )


def _is_installable(
    listing: Listing,
    folder: str,
    project: Mapping[str, object],
    legacy: Mapping[str, Mapping[str, str]],
) -> bool:
    """Return whether pip can install the folder.

    A project table without a build system is what uv calls a virtual project: an application to be
    run in place. Setuptools, which pip would use instead, installs it only if it finds exactly one
    package; the src layout is the reliable sign for that.
    """
    settings = (("uv", "package"), ("poetry", "package-mode"))
    if any(table(project, "tool", tool).get(key) is False for tool, key in settings):
        return False
    if listing.has(join(folder, "setup.py")):
        return True
    named = bool(table(project, "project").get("name"))
    if "build-system" not in project:
        return named and listing.has_folder(join(folder, "src"))
    poetry = bool(table(project, "tool", "poetry").get("name"))
    return named or poetry or "name" in legacy.get("metadata", {})


def _extras(
    project: Mapping[str, object], legacy: Mapping[str, Mapping[str, str]], script: str
) -> Iterator[DependencySource]:
    for keys in (("project", "optional-dependencies"), ("tool", "poetry", "extras")):
        declared = table(project, *keys)
        yield from _sources("extra", {name: strings(value) for name, value in declared.items()})
    old = legacy.get("options.extras_require", {})
    yield from _sources("extra", {name: tuple(text.splitlines()) for name, text in old.items()})
    if "extras_require" in script:
        named = "pytest" if "pytest" in script else _UNREAD
        yield from _sources("extra", dict.fromkeys(_SCRIPT_EXTRA.findall(script), (named,)))


def _groups(project: Mapping[str, object]) -> Iterator[DependencySource]:
    """Yield the standard groups, and those of uv, Poetry (by names alone) and PDM."""
    standard, tool = table(project, "dependency-groups"), table(project, "tool")
    poetry, pdm = table(tool, "poetry", "group"), table(tool, "pdm", "dev-dependencies")
    for named in (
        {name: tuple(_group(standard, name)) for name in standard},
        {"dev": strings(table(tool, "uv").get("dev-dependencies"))},
        {"dev": tuple(table(tool, "poetry", "dev-dependencies"))},
        {name: tuple(table(poetry, name, "dependencies")) for name in poetry},
        {name: strings(pdm[name]) for name in pdm},
    ):
        yield from _sources("group", named)


def _group(
    groups: Mapping[str, object], name: str, within: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the requirements of a dependency group and of the groups it includes (PEP 735)."""
    by_name = {_canonical(key): value for key, value in groups.items()}
    for entry in items(by_name.get(_canonical(name))):
        included = _canonical(string(table(entry).get("include-group")))
        if isinstance(entry, str):
            yield entry
        elif included and included not in within:
            yield from _group(groups, included, within | {_canonical(name), included})


def _sources(
    kind: Literal["extra", "group"], named: Mapping[str, tuple[str, ...]]
) -> Iterator[DependencySource]:
    for name, requirements in named.items():
        if kept := tuple(line.strip() for line in requirements if line.strip()):
            yield DependencySource(kind=kind, name=name, about=name, requirements=kept)


def _files(listing: Listing, folder: str) -> Iterator[DependencySource]:
    """Yield requirements files: `requirements-test.txt`, its spellings, `requirements/`, and that
    of a folder of tests.
    """
    inside = join(folder, "requirements")
    of_tests = {join(folder, name) for name in ("test", "tests")}
    for path in listing.below(folder):
        holder, _, name = path.rpartition("/")
        if holder == folder and (spelling := _ROOT_FILE.fullmatch(name)):
            about = spelling["after"] or spelling["before"] or ""
        elif holder == inside and name.endswith(".txt"):
            about = name.removesuffix(".txt")
        elif holder in of_tests and name == "requirements.txt":
            about = "tests"
        else:
            continue
        lines = tuple(_file_lines(listing, path))
        yield DependencySource(kind="file", name=path, about=about, requirements=lines)


def _file_lines(listing: Listing, path: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the requirements of a requirements file and of the files it includes."""
    for raw in listing.text(path).replace("\\\n", " ").splitlines():
        line = re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].strip()
        if included := _INCLUDE.match(line):
            target = normpath(join(dirname(path), included[1]))
            if target not in seen:
                yield from _file_lines(listing, target, seen | {path, target})
        elif line and not line.startswith("-"):
            yield line


def _hooks(listing: Listing) -> Iterator[DependencySource]:
    """Yield the versions of linters that pre-commit pins, which count if nothing else names one."""
    pins = tuple(f"{pin['tool']}=={pin['version']}" for pin in _HOOK.finditer(listing.text(_HOOKS)))
    if pins:
        yield DependencySource(kind="file", name=_HOOKS, about="hooks", requirements=pins)


def _canonical(name: str) -> str:
    """Return a project or group name in the form that can be compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _name_of(requirement: str) -> str:
    """Return the comparable project name of a requirement; empty for options and addresses."""
    match = _NAME.match(requirement)
    address = requirement.lstrip().startswith(("http:", "https:", "git+"))
    return _canonical(match[1]) if match and not address else ""


PYTHON = f"{ENV}/bin/python"
PIP = (PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check")
_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm"}
_TOOLS = f"{ENV}/tools"
_INSTALLED_AS = {"pdm": "pdm[locked]"}
"""The packages by which a tool is installed, with dependencies that are known to work."""
_VERSION = re.compile(r"[\d.]+")


Words = tuple[str, ...]
"""What pip is told to install: `-e` and a folder, a requirement, or `-r` and a file."""


def pip_words(
    needs: DeclaredDependencies, tools: Sequence[str], *, with_tests: bool
) -> Iterator[Words]:
    """Yield what to install for a project, for its tools and, if requested, its tests.

    The project itself is installed as editable, so that later edits take effect without another
    installation.
    """
    chosen = _sources_for_tests(needs, tools) if with_tests else ()
    if with_tests and needs.installable:
        extras = ",".join(source.name for source in chosen if source.kind == "extra")
        place = f"./{needs.folder}" if needs.folder else "."
        yield "-e", f"{place}[{extras}]" if extras else place
    elif with_tests:
        yield from ((line,) for line in needs.dependencies)
    spelled = {"group"} if needs.installable else {"group", "extra"}
    yield from ((line,) for one in chosen if one.kind in spelled for line in one.requirements)
    missing = (tool for tool in tools if not any(source.names(tool) for source in chosen))
    yield from ((needs.declared(tool) or tool,) for tool in missing)
    for source in needs.sources if with_tests and not needs.dependencies else ():
        if source.purpose == "running":
            yield "-r", source.name
    yield from (("-r", source.name) for source in chosen if source.kind == "file")


def pip_commands(listing: Listing, words: Iterable[Words]) -> tuple[Command, ...]:
    """Return the commands for a new environment and its packages; none if there are no packages.

    Pip requires a hash for everything as soon as one requirement has one, so files with hashes are
    installed separately.
    """
    kinds = ("-e", "", "-r")
    known = dict.fromkeys(tuple(map(str.strip, one)) for one in words)
    ordered = sorted(known, key=lambda one: kinds.index(one[0] if one[1:] else ""))
    hashed = [one for one in ordered if one[0] == "-r" and "--hash=" in listing.text(one[1])]
    plain = [
        one for one in ordered if one not in hashed and (one[1:] or not one[0].startswith("-"))
    ]
    installs = [command(f"{path}, which pins by hash", *PIP, "-r", path) for _, path in hashed]
    if plain:
        arguments = (word for one in plain for word in one)
        installs.append(command("what the tests and linters need", *PIP, *arguments))
    return (_environment(ENV), *installs) if installs else ()


def manager_of(listing: Listing, folder: str) -> tuple[str, str]:
    """Return the tool that installs a project by itself, and the file that says so; empty words if
    pip does. Poetry's own groups have no other reader, so it needs no lock.
    """
    for name, manager in _LOCKS.items():
        if listing.has(path := join(folder, name)):
            return manager, path
    manifest = join(folder, "pyproject.toml")
    poetry = table(toml(listing.text(manifest)), "tool", "poetry")
    return ("poetry", manifest) if "group" in poetry or "dev-dependencies" in poetry else ("", "")


def managed_commands(
    listing: Listing, needs: DeclaredDependencies, tools: Sequence[str]
) -> tuple[Command, ...]:
    """Return the commands that let uv, Poetry or PDM install a project, and the tools it lacks.

    They are not taken from the machine: setup puts them beside the environment.
    """
    manager, evidence = manager_of(listing, needs.folder)
    chosen = [*_sources_for_tests(needs, tools)]
    lacking = list[str]()
    for tool in tools:
        if not any(source.names(tool) for source in chosen):
            own = [s for s in needs.sources if s.kind != "file" and s.names(tool)][:1]
            chosen += own
            needed = own or tool in map(_name_of, needs.dependencies)
            lacking += [] if needed else [needs.declared(tool) or tool]
    settings = table(toml(listing.text(join(needs.folder, "pyproject.toml"))), "tool", "uv")
    asked = string(settings.get("required-version")) if manager == "uv" else ""
    package = _INSTALLED_AS.get(manager, manager)
    package += f"=={asked}" if _VERSION.fullmatch(asked) else asked
    install = _install(manager, needs, chosen, workspace="workspace" in settings)
    return (
        _environment(ENV),
        _environment(_TOOLS),
        command(f"{manager}, by {evidence}", f"{_TOOLS}/bin/python", *PIP[1:], package),
        command(evidence, *install),
        *([command(", ".join(lacking), *PIP, *lacking)] if lacking else []),
    )


def _environment(place: str) -> Command:
    return command("an environment outside the worktree", "python3", "-m", "venv", place)


def _install(
    manager: str,
    needs: DeclaredDependencies,
    chosen: Sequence[DependencySource],
    *,
    workspace: bool,
) -> tuple[str, ...]:
    """Return the words that install exactly the locked versions, or refuse a lock that does not
    fit.
    """
    extras = [source.name for source in chosen if source.kind == "extra"]
    groups = [source.name for source in chosen if source.kind == "group"]
    program, folder = f"{_TOOLS}/bin/{manager}", needs.folder
    if manager == "uv":
        return (
            *("env", f"UV_PROJECT_ENVIRONMENT={ENV}", program, "sync", "--frozen", "--inexact"),
            *("--no-progress", "--python", PYTHON),
            *(("--project", folder) if folder else ()),
            *(("--all-packages",) if workspace else ()),
            "--no-default-groups",
            *(word for name in groups for word in ("--group", name)),
            *(word for name in extras for word in ("--extra", name)),
        )
    start = ("env", f"VIRTUAL_ENV={ENV}", program, "install")
    if manager == "poetry":
        return (
            *(*start, "--no-interaction", "--no-ansi"),
            *(("--directory", folder) if folder else ()),
            *(("--no-root",) if not needs.installable else ()),
            *(("--with", ",".join(groups)) if groups else ()),
            *(word for name in extras for word in ("--extras", name)),
        )
    return (
        *(*start, "--check", *(("--project", folder) if folder else ())),
        *(word for name in (*groups, *extras) for word in ("--group", name)),
    )


def _sources_for_tests(
    needs: DeclaredDependencies, tools: Sequence[str]
) -> tuple[DependencySource, ...]:
    """Return the sources for tests.

    Those for development are used when there are none for tests, or if only they name the tool that
    runs the tests. Where nothing has such a name, the shortest source that names the tool is used.
    """
    tests = _choose_sources([s for s in needs.sources if s.purpose == "tests"])
    development = _choose_sources([s for s in needs.sources if s.purpose == "development"])
    runner = tools[:1]
    if not (tests or development):
        others = _choose_sources([s for s in needs.sources if any(map(s.names, runner))])
        return tuple(sorted(others, key=lambda source: len(source.requirements))[:1])
    if not tests:
        return development
    lacking = [tool for tool in runner if not any(source.names(tool) for source in tests)]
    return tests + tuple(s for s in development if any(map(s.names, lacking)))


def _choose_sources(sources: Sequence[DependencySource]) -> tuple[DependencySource, ...]:
    """Return extras and groups if there are any, else requirements files.

    A project that has both keeps the files for something else.
    """
    return tuple(source for source in sources if source.kind != "file") or tuple(sources)
