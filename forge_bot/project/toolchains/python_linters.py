"""The linters of a Python project: those that it configures, else those that tox or CI calls."""

import re
import shlex
from collections.abc import Iterator

import yaml

from forge_bot.project.detected_commands import Command, command
from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import ini, items, string, table, toml
from forge_bot.project.toolchains.python_install import PYTHON
from forge_bot.project.toolchains.python_needs import DeclaredDependencies
from forge_bot.settings.yaml_file import read_contents

_LINTERS = frozenset({"flake8", "mypy", "pycodestyle", "pyflakes", "pylint", "ruff"})
_RUNNERS = frozenset({"python", "python3", "-m", "uv", "poetry", "pdm", "hatch", "run", "uvx"})
"""Words before a linter's name that only say by what it is started."""
_CHANGES = frozenset({"--fix", "--in-place", "--version"})
_POSARGS = re.compile(r"\{posargs:?([^{}]*)\}")
_SHELL = re.compile(r"[|&;<>$`*{}]")
_CONCISE = "--output-format=concise"
_OLD_RUFF = re.compile(r"ruff\s*(?:==|~=|<=?)\s*0\.[0-2]\b")


def _old_ruff(needs: DeclaredDependencies) -> bool:
    """Return whether Ruff is pinned to a version that does not know our option."""
    return _OLD_RUFF.match(needs.declared("ruff")) is not None


def find_linters(listing: Listing, folder: str, needs: DeclaredDependencies) -> Iterator[Command]:
    """Yield Ruff if it is configured, else flake8 if that is, else what tox or CI calls.

    Projects that moved to Ruff often left flake8's settings behind.
    """
    target = folder or "."
    manifest = join(folder, "pyproject.toml")
    ruff = listing.first(folder, ("ruff.toml", ".ruff.toml"))
    if ruff or "ruff" in table(toml(listing.text(manifest)), "tool"):
        reason = f"{ruff or manifest} configures ruff"
        concise = () if _old_ruff(needs) else (_CONCISE,)
        yield command(reason, PYTHON, "-m", "ruff", "check", *concise, target)
        return
    for name in (".flake8", "setup.cfg", "tox.ini"):
        if "flake8" in ini(listing.text(join(folder, name))):
            config = () if not folder else ("--config", join(folder, name))
            yield command(
                f"{join(folder, name)} configures flake8", PYTHON, "-m", "flake8", *config, target
            )
            return
    if not folder:
        yield from _called_linters(listing)


def _called_linters(listing: Listing) -> Iterator[Command]:
    """Yield the first call of each linter in tox.ini and in GitHub's workflows."""
    calls: dict[str, Command] = {}
    for path, line in _lines_of_ci(listing):
        words = _words(line)
        start = next((at for at, word in enumerate(words) if word in _LINTERS), None)
        if start is None or not _RUNNERS.issuperset(words[:start]):
            continue
        tool, given = words[start], words[start + 1 :]
        # `ruff format` and a linter that mends what it finds change files.
        if (tool == "ruff" and given[:1] != ["check"]) or _CHANGES.intersection(given):
            continue
        calls.setdefault(tool, command(f"{path} calls {tool}", PYTHON, "-m", tool, *given))
    yield from calls.values()


def _lines_of_ci(listing: Listing) -> Iterator[tuple[str, str]]:
    """Yield the lines of tox's commands and of the steps of GitHub's workflows, with their file."""
    for name, section in ini(listing.text("tox.ini")).items():
        if name.startswith("testenv"):
            yield from (("tox.ini", line) for line in section.get("commands", "").splitlines())
    for path in listing.below(".github/workflows"):
        for job in table(_yaml(listing.text(path)), "jobs").values():
            for step in items(table(job).get("steps")):
                lines = string(table(step).get("run")).splitlines()
                yield from ((path, line) for line in lines)


def _yaml(text: str) -> object:
    try:
        return read_contents(text).value
    except (yaml.YAMLError, ValueError):
        return None


def _words(line: str) -> list[str]:
    """Return the words of a line that needs no shell; tox's placeholders become what they stand
    for by default. Otherwise empty.
    """
    line = _POSARGS.sub(r"\1", line).replace("{toxinidir}/", "").replace("{toxinidir}", ".")
    try:
        return [] if _SHELL.search(line) else shlex.split(line)
    except ValueError:
        return []
