"""Read the declared dependencies of a Python project from its manifests and requirements files."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, normpath
from typing import Literal

from forge_bot.project.file_list import Listing, ini, items, join, string, strings, table, toml
from forge_bot.values import Frozen

_TEST_NAMES = frozenset({"test", "tests", "testing"})
_DEV_NAMES = frozenset({"dev", "develop", "development"})
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
    def for_tests(self) -> bool:
        """Return whether the name says that tests need these."""
        return _canonical(self.about) in _TEST_NAMES

    @property
    def for_development(self) -> bool:
        """Return whether the name says that developers need these."""
        return _canonical(self.about) in _DEV_NAMES

    @property
    def for_running(self) -> bool:
        """Return whether the project needs these in order to run at all."""
        return self.kind == "file" and self.about in {"", "base"}

    def names(self, project: str) -> bool:
        return any(_name_of(line) == project for line in self.requirements)


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

    def runs_with(self, project: str) -> bool:
        """Return whether the project itself needs another one."""
        return any(_name_of(line) == project for line in self.dependencies)


def read_needs(listing: Listing, folder: str) -> DeclaredDependencies:
    """Return the declarations of the Python project in a folder. Nothing of it is executed."""
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
    if (
        table(project, "tool", "uv").get("package") is False
        or table(project, "tool", "poetry").get("package-mode") is False
    ):
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
    """Yield the versions of linters that pre-commit pins: a project that names its linter nowhere
    else means this one.
    """
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
