"""Read what tox and nox install for tests, in projects that declare it nowhere else."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import ini, strings, table
from forge_bot.project.toolchains.python_requirements import name_of

_OWN_EXTRAS = re.compile(r"\.\[(?P<extras>[\w\-., ]+)\]")
_TESTS = re.compile(r"(?:unit_?|py)?tests?(?:_\w+)?|pytest")


class InstalledForTests(NamedTuple):
    """The plain requirements of a session of tests, and the names of the project's own extras."""

    requirements: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


def test_session(listing: Listing, folder: str, project: Mapping[str, object]) -> InstalledForTests:
    """Return what the first of tox and nox installs that installs anything for tests.

    Requirements with a condition or a substitution are left to these tools.
    """
    found = (
        _tox_ini(listing.text(join(folder, "tox.ini"))),
        _tox_table(table(project, "tool", "tox", "env_run_base")),
        _nox(listing.text(join(folder, "noxfile.py"))),
    )
    return next((each for each in found if any(each)), InstalledForTests())


def _tox_ini(text: str) -> InstalledForTests:
    environment = ini(text).get("testenv", {})
    lines = [line.strip() for line in environment.get("deps", "").splitlines()]
    extras = environment.get("extras", "").replace(",", "\n").split("\n")
    return InstalledForTests(
        tuple(filter(_is_plain, lines)),
        tuple(extra for each in extras if (extra := each.strip()) and ":" not in extra),
    )


def _tox_table(environment: Mapping[str, object]) -> InstalledForTests:
    return InstalledForTests(
        tuple(filter(_is_plain, strings(environment.get("deps")))),
        strings(environment.get("extras")),
    )


def _nox(text: str) -> InstalledForTests:
    """Return what the sessions that are called tests install by literal words."""
    try:
        with warnings.catch_warnings(action="ignore"):
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return InstalledForTests()
    words = [
        word
        for node in module.body
        if isinstance(node, ast.FunctionDef) and _TESTS.fullmatch(node.name)
        for word in _installed(node)
    ]
    extras = [match["extras"].split(",") for word in words if (match := _OWN_EXTRAS.search(word))]
    return InstalledForTests(
        tuple(dict.fromkeys(filter(_is_plain, words))),
        tuple(dict.fromkeys(extra.strip() for each in extras for extra in each)),
    )


def _installed(session: ast.FunctionDef) -> Iterator[str]:
    for call in ast.walk(session):
        named = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if not named or not isinstance(call, ast.Call) or ast.unparse(call.func)[-7:] != "install":
            continue
        before = ""
        for each in call.args:
            word = each.value if isinstance(each, ast.Constant) else ""
            if isinstance(word, str) and not before.startswith("-"):
                yield word
            before = word if isinstance(word, str) else ""


def _is_plain(line: str) -> bool:
    return bool(name_of(line)) and not line.startswith("-") and ":" not in line and "{" not in line
