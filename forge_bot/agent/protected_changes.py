"""Find changes that only a person may approve.

They are changes to protected paths, and to the part of a manifest that installs, builds or runs.
"""

import ast
import configparser
import json
import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import cast

from pydantic import TypeAdapter

from forge_bot.errors import BadConfig
from forge_bot.sentences import say
from forge_bot.settings.protected_paths import reason_for
from forge_bot.settings.yaml_file import read_yaml
from forge_bot.text_format import names

_MOST_BYTES = 1_000_000
_ANY_TABLE: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])

_ABOUT = names("""
    version description authors author maintainers maintainer contributors license licenses
    license-file license-files keywords categories classifiers homepage documentation readme
    repository urls bugs support funding
    """)
"""Keys that describe a package and that no tool acts on."""

_CHECKERS = names("""
    ruff pytest mypy pyright basedpyright ty coverage black isort pylint flake8 pydocstyle codespell
    interrogate bandit vulture deptry importlinter djlint docformatter yapf autopep8 pyrefly
    numpydoc_validation
    """)
"""Tables below `tool` in pyproject.toml that only configure formatters, linters, test runners."""

_PYPROJECT = (
    *(f"project.{key}" for key in _ABOUT),
    *(f"tool.poetry.{key}" for key in _ABOUT),
    *(f"tool.{name}" for name in _CHECKERS),
)
_PACKAGE_JSON = (
    *_ABOUT,
    *names("""
        main module type types typings exports imports browser sideEffects files jest vitest mocha
        ava nyc c8 eslintConfig eslintIgnore prettier stylelint browserslist xo standard commitlint
        typedoc
        """),
)
_CARGO = (
    *(f"package.{key}" for key in _ABOUT),
    *(f"workspace.package.{key}" for key in _ABOUT),
    "bench",
    "example",
    "test",
    "lints",
    "workspace.lints",
)
_SETUP_CFG = (
    *(f"metadata.{key.replace('-', '_')}" for key in _ABOUT),
    *(
        f"metadata.{key}"
        for key in ("author_email", "maintainer_email", "url", "long_description", "project_urls")
    ),
    *names("""
        flake8 mypy mypy-* isort tool:pytest pycodestyle pydocstyle pylint* coverage:* codespell
        yapf
        """),
)
_SETUP_PY = frozenset(
    {key.replace("-", "_") for key in _ABOUT}
    | {
        "author_email",
        "maintainer_email",
        "url",
        "long_description",
        "long_description_content_type",
        "project_urls",
    }
)
_POM = frozenset(
    {"version", "name", "description", "url", "inceptionYear", "licenses", "developers", "scm"}
)
_COMPOSER = (*_ABOUT, "type", "time", "readme")
_ENCODING = re.compile(r"^\s*<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)")
_PUBSPEC = (*_ABOUT, "issue_tracker", "topics", "screenshots")


class Unreadable(ValueError):
    """A manifest that cannot be read, or has more than one reading."""


_UNREADABLE = (
    ValueError,
    TypeError,
    OverflowError,
    RecursionError,
    MemoryError,
    SyntaxError,
    BadConfig,
    ET.ParseError,
    configparser.Error,
)


def is_manifest(path: str) -> bool:
    """Return whether the path names a manifest that is judged by its parts."""
    return _reader(path) is not None


def protected_part_changed(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Return whether the path names a manifest and its protected part differs.

    None stands for no file.
    """
    read = _reader(path)
    if read is None or before == after:
        return False
    try:
        return _part(read, before) != _part(read, after)
    except _UNREADABLE:
        return True


def _reader(path: str) -> Callable[[str], object] | None:
    name = path.rpartition("/")[2].casefold()
    return _READERS.get(name) or (_requirements if _is_requirements(path.casefold()) else None)


def _part(read: Callable[[str], object], raw: bytes | None) -> object:
    if raw is None:
        return read("")
    if len(raw) > _MOST_BYTES:
        raise Unreadable("too large")
    return read(raw.decode("utf-8"))


def _without(data: Mapping[str, object], passing: Sequence[str]) -> dict[str, object]:
    """Return a table without the keys that may change.

    `passing` are dotted keys and may end in wildcards.
    """
    kept: dict[str, object] = {}
    for key, value in data.items():
        if any(fnmatchcase(key, each) for each in passing):
            continue
        below = [
            each.partition(".")[2]
            for each in passing
            if each.partition(".")[0] == key and "." in each
        ]
        if below and isinstance(value, Mapping):
            rest = _without(cast("Mapping[str, object]", value), below)
            if not rest and value:
                continue
            kept[key] = rest
        else:
            kept[key] = value
    return kept


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise Unreadable("not a table")
    return cast("Mapping[str, object]", value)


# -- readers: from a text to its protected part; an empty text stands for no file -----------------


def _toml(passing: Sequence[str]) -> Callable[[str], object]:
    return lambda text: _without(tomllib.loads(text), passing)


def _json(passing: Sequence[str]) -> Callable[[str], object]:
    def read(text: str) -> object:
        return _without(_table(json.loads(text, object_pairs_hook=_once)), passing) if text else {}

    return read


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("a key stands there twice")
    return found


def _yaml(passing: Sequence[str]) -> Callable[[str], object]:
    return lambda text: _without(read_yaml(text, "the manifest", _ANY_TABLE, BadConfig), passing)


def _ini(passing: Sequence[str]) -> Callable[[str], object]:
    def read(text: str) -> object:
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        sections = {name: dict(map(_marked, parser.items(name))) for name in parser.sections()}
        return _without({**sections, "DEFAULT": dict(parser.defaults())}, passing)

    return read


def _marked(item: tuple[str, str]) -> tuple[str, str]:
    """Return an option under another key if setuptools would import code to find its value."""
    key, value = item
    return (f"{key} (attr)" if value.lstrip().startswith("attr:") else key), value


def _python(text: str) -> object:
    return ast.dump(_Setup().visit(ast.parse(text)))


class _Setup(ast.NodeTransformer):
    """Collects literal values that only describe a package from calls of `setup`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if name == "setup":
            node.keywords = [
                each
                for each in node.keywords
                if each.arg not in _SETUP_PY or not _literal(each.value)
            ]
        return node


def _literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError):
        return False
    return True


def _xml(text: str) -> object:
    if "<!" in text.replace("<!--", ""):
        raise Unreadable("declarations and raw text are not read")
    if (found := _ENCODING.search(text)) and found[1].casefold() != "utf-8":
        raise Unreadable("another encoding than UTF-8")
    if not text:
        return b""
    # Entities need a declaration, and texts with one are refused above.
    root = ET.fromstring(text)  # noqa: S314
    for child in list(root):
        if child.tag.rpartition("}")[2] in _POM:
            root.remove(child)
    return ET.tostring(root)


def _go(text: str) -> object:
    return [
        code for line in text.splitlines() if (code := line.strip()) and not code.startswith("//")
    ]


def _requirements(text: str) -> object:
    return [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _is_requirements(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    if not name.endswith((".txt", ".in")):
        return False
    return (
        "requirements" in name
        or "constraints" in name
        or folder.rpartition("/")[2] == "requirements"
    )


_READERS: Mapping[str, Callable[[str], object]] = {
    "pyproject.toml": _toml(_PYPROJECT),
    "setup.py": _python,
    "setup.cfg": _ini(_SETUP_CFG),
    "pipfile": _toml(()),
    "package.json": _json(_PACKAGE_JSON),
    "cargo.toml": _toml(_CARGO),
    "go.mod": _go,
    "pom.xml": _xml,
    "composer.json": _json(_COMPOSER),
    "pubspec.yaml": _yaml(_PUBSPEC),
    "environment.yml": _yaml(()),
    "environment.yaml": _yaml(()),
}
"""The manifests that are judged by their parts, by file name, ignoring case."""


Versions = Callable[[str], tuple[bytes | None, bytes | None]]
"""Returns the bytes of a file before and after a change; None where there is no file."""


def protected_changes(
    paths: Iterable[str], versions: Versions, patterns: Sequence[str] = ()
) -> dict[str, str]:
    """Return the changed paths that wait for a person, sorted, each with the reason.

    `patterns` are a repository's own, beside the table in `settings/protected_paths.py`.
    """
    found: dict[str, str] = {}
    for path in sorted(set(paths)):
        if reason := reason_for(path, patterns):
            found[path] = reason
        elif is_manifest(path) and protected_part_changed(path, *versions(path)):
            found[path] = say("agent.protected_changes.manifest")
    return found
