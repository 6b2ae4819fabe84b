"""Read the declared dependencies of a Python project, in all places where projects declare them."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from posixpath import basename, normpath
from typing import Literal

from forge_bot.knowledge.file_list import Listing, join
from forge_bot.knowledge.lenient_config import ini, string, strings, table, toml
from forge_bot.knowledge.toolchains import setup_script
from forge_bot.knowledge.toolchains.python_requirements import (
    canonical,
    dependency_group,
    file_lines,
    from_tables,
    name_of,
)
from forge_bot.values import Frozen

_TEST_NAMES = frozenset({"test", "tests", "testing", "hatch-test"})
_DEV_NAMES = frozenset({"dev", "develop", "development"})
_ROOT_FILE = re.compile(
    r"(?:requirements(?:[-_.](?P<after>\w+))?|(?P<before>\w+)[-_.]requirements)\.txt"
)
_HOOKS = ".pre-commit-config.yaml"
_HOOK = re.compile(
    r"/(?P<tool>ruff|flake8)(?:-pre-commit)?(?:\.git)?[\"']?\s*\n\s*rev:\s*[\"']?v?(?P<version>\d[\w.]*)"
)
_COMPILED = re.compile(
    r"\b(?:ext[-_]modules|maturin|mesonpy|scikit_build_core|setuptools[-_]rust|cffi_modules|rust_extensions)\b"
)


class DependencySource(Frozen):
    """Requirements under one name: an extra, a dependency group, a requirements file."""

    kind: Literal["extra", "group", "file"]
    name: str
    about: str
    requirements: tuple[str, ...]

    @property
    def for_tests(self) -> bool:
        """Return whether the name says that tests need these."""
        return canonical(self.about) in _TEST_NAMES

    @property
    def for_development(self) -> bool:
        """Return whether the name says that developers need these."""
        return canonical(self.about) in _DEV_NAMES

    @property
    def for_running(self) -> bool:
        """Return whether the project needs these in order to run at all."""
        return self.kind == "file" and self.about in {"", "base"}

    def names(self, project: str) -> bool:
        """Return whether it holds a requirement on that project."""
        return any(name_of(each) == project for each in self.requirements)


class DeclaredDependencies(Frozen):
    """The way a project is installed, its dependencies, and named sources of more requirements."""

    folder: str
    installable: bool
    compiled: bool
    dependencies: tuple[str, ...]
    sources: tuple[DependencySource, ...]
    beside: tuple[str, ...]

    def declared(self, project: str) -> str:
        """Return a requirement on a project as it is declared anywhere, else the bare name."""
        everything = (
            *self.dependencies,
            *(each for source in self.sources for each in source.requirements),
        )
        return next((each for each in everything if name_of(each) == project), project)

    def named_in(self, project: str) -> str:
        """Return where a requirement on a project is declared; empty when nowhere."""
        found = next((source for source in self.sources if source.names(project)), None)
        if found is None:
            return (
                "the project's dependencies"
                if any(name_of(each) == project for each in self.dependencies)
                else ""
            )
        return found.name if found.kind == "file" else f"{found.kind} {found.name}"


def read_needs(listing: Listing, folder: str) -> DeclaredDependencies:
    """Return the declarations of the Python project in a folder. Nothing of it is executed."""
    project = toml(listing.text(join(folder, "pyproject.toml")))
    legacy = ini(listing.text(join(folder, "setup.cfg")))
    script = setup_script.arguments(listing.text(join(folder, "setup.py")))
    pipfile = toml(listing.text(join(folder, "Pipfile")))
    declared = (
        *strings(table(project, "project").get("dependencies")),
        *from_tables(table(project, "tool", "poetry", "dependencies")),
        *legacy.get("options", {}).get("install_requires", "").splitlines(),
        *script.get("install_requires", {}).get("", ()),
        *from_tables(table(pipfile, "packages")),
    )
    extras = (*_extras(project, legacy), *_sources("extra", script.get("extras_require", {})))
    groups = (
        *_groups(project),
        *_sources("group", {"dev": tuple(from_tables(table(pipfile, "dev-packages")))}),
    )
    sources = (*extras, *groups, *_files(listing, folder), *_hooks(listing))
    return DeclaredDependencies(
        folder=folder,
        installable=_installable(listing, folder, project, legacy),
        compiled=bool(
            _COMPILED.search(
                listing.text(join(folder, "pyproject.toml"))
                + listing.text(join(folder, "setup.py"))
            )
        ),
        dependencies=tuple(each for each in declared if each.strip()),
        sources=(
            sources
            if any(source.for_tests or source.for_development for source in sources)
            else (*sources, *_tox(listing, folder))
        ),
        beside=tuple(_beside(listing, folder, project)),
    )


def _installable(
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
    return (
        named
        or bool(table(project, "tool", "poetry").get("name"))
        or "name" in legacy.get("metadata", {})
    )


def _extras(
    project: Mapping[str, object], legacy: Mapping[str, Mapping[str, str]]
) -> Iterator[DependencySource]:
    declared = table(project, "project", "optional-dependencies")
    yield from _sources("extra", {name: strings(value) for name, value in declared.items()})
    poetry = table(project, "tool", "poetry", "extras")
    yield from _sources("extra", {name: strings(value) for name, value in poetry.items()})
    yield from _sources(
        "extra",
        {
            name: tuple(value.splitlines())
            for name, value in legacy.get("options.extras_require", {}).items()
        },
    )


def _groups(project: Mapping[str, object]) -> Iterator[DependencySource]:
    """Yield the groups that pip cannot install by name.

    They are standard groups, and those of uv, Poetry, PDM and Hatch.
    """
    standard = table(project, "dependency-groups")
    yield from _sources(
        "group", {name: tuple(dependency_group(standard, name)) for name in standard}
    )
    tool = table(project, "tool")
    yield from _sources("group", {"dev": strings(table(tool, "uv").get("dev-dependencies"))})
    yield from _sources(
        "group", {"dev": tuple(from_tables(table(tool, "poetry", "dev-dependencies")))}
    )
    poetry = table(tool, "poetry", "group")
    yield from _sources(
        "group", {name: tuple(from_tables(table(poetry, name, "dependencies"))) for name in poetry}
    )
    pdm = table(tool, "pdm", "dev-dependencies")
    yield from _sources(
        "group",
        {
            name: tuple(each for each in strings(pdm[name]) if not each.startswith("-"))
            for name in pdm
        },
    )
    hatch = table(tool, "hatch", "envs")
    yield from _sources(
        "group",
        {"dev" if name == "default" else name: _hatch(table(hatch, name)) for name in hatch},
    )


def _hatch(environment: Mapping[str, object]) -> tuple[str, ...]:
    return (
        *strings(environment.get("dependencies")),
        *strings(environment.get("extra-dependencies")),
    )


def _sources(
    kind: Literal["extra", "group"], named: Mapping[str, tuple[str, ...]]
) -> Iterator[DependencySource]:
    for name, requirements in named.items():
        if kept := tuple(each.strip() for each in requirements if each.strip()):
            yield DependencySource(kind=kind, name=name, about=name, requirements=kept)


def _files(listing: Listing, folder: str) -> Iterator[DependencySource]:
    """Yield requirements files: `requirements-test.txt`, its spellings, and `requirements/`."""
    inside = join(folder, "requirements")
    for path in listing.below(folder):
        name = basename(path)
        if path == join(folder, name) and (found := _ROOT_FILE.fullmatch(name)):
            about = found["after"] or found["before"] or ""
        elif path == join(inside, name) and name.endswith(".txt"):
            about = name.removesuffix(".txt")
        else:
            continue
        yield DependencySource(
            kind="file", name=path, about=about, requirements=tuple(file_lines(listing, path))
        )


def _hooks(listing: Listing) -> Iterator[DependencySource]:
    """Yield the versions of linters that pre-commit pins.

    If a project names its linter nowhere else, it means this one.
    """
    pins = tuple(
        f"{found['tool']}=={found['version']}" for found in _HOOK.finditer(listing.text(_HOOKS))
    )
    yield from (
        DependencySource(kind="file", name=_HOOKS, about="hooks", requirements=pins)
        for _ in pins[:1]
    )


def _tox(listing: Listing, folder: str) -> Iterator[DependencySource]:
    """Yield the plain dependencies of tox's main environment.

    Those with a condition or a substitution are left to tox.
    """
    environment = ini(listing.text(join(folder, "tox.ini"))).get("testenv", {})
    lines = (line.strip() for line in environment.get("deps", "").splitlines())
    plain = tuple(line for line in lines if name_of(line) and ":" not in line and "{" not in line)
    yield from _sources("group", {"testing": plain} if plain else {})


def _beside(listing: Listing, folder: str, project: Mapping[str, object]) -> Iterator[str]:
    """Yield folders of this repository that the project depends on and no index provides.

    They are workspace members and path sources (uv).
    """
    uv = table(project, "tool", "uv")
    for pattern in strings(table(uv, "workspace").get("members")):
        for member in listing.projects(("pyproject.toml",)) if not folder else ():
            if fnmatch(member, pattern):
                yield member
    for source in table(uv, "sources").values():
        path = normpath(join(folder, string(table(source).get("path")) or "."))
        if listing.has(join(path, "pyproject.toml")) and path != (folder or "."):
            yield path
