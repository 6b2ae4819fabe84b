"""Make: the targets that a Makefile really has, for commands that no other toolchain provides."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from posixpath import dirname, normpath
from typing import NamedTuple

from forge_bot.project.detected_commands import (
    Command,
    DetectedCommands,
    ProjectCommands,
    combined,
    command,
)
from forge_bot.project.file_list import Listing, join
from forge_bot.settings.config import CONFIG
from forge_bot.values import CommandName

_FILES = ("GNUmakefile", "makefile", "Makefile")
# Beside another toolchain `all` is as likely to run that one's checks as to build something.
_TARGETS = {
    CommandName.BUILD: ("build", "all"),
    CommandName.TEST: ("test", "check", "tests"),
    CommandName.LINT: ("lint",),
}
_ASSIGNMENT = re.compile(
    r"(?:(?:export|override|private|unexport)\s+)*[^\s:#=]+\s*(?::{0,3}|[?+!])="
)
_RULE = re.compile(r"(?P<targets>[^\s:=#]+?(?:\s++[^\s:=#]+?)*?)\s*+&?::?(?![:=])(?P<rest>.*)")
_INCLUDE = re.compile(r"[-s]?include\s+(?P<names>.+)")
_DEFINE = re.compile(r"\s*(?:override\s+|export\s+)*define\b")
_PYTHON_TOOLS = re.compile(
    r"(?<![\w.-])(?:python3?|pip3?|virtualenv|pytest|ruff|flake8|black|isort|mypy|pyright|pylint"
    r"|bandit|tox|nox|coverage|sphinx-build)(?![\w-])"
)
_MOST_INCLUDED = 100
_LONGEST_NAME = 255


class Rule(NamedTuple):
    """The prerequisites and the recipe of a target."""

    needs: tuple[str, ...]
    recipe: str


def find(listing: Listing, others: ProjectCommands) -> DetectedCommands:
    """Return commands for the kinds that the other toolchains leave open.

    Folders are searched only when there is nothing else.
    """
    root = _read(listing, "", others)
    if any(part.of(name) for part in (others, root.commands) for name in CommandName):
        return root
    inner = [_read(listing, folder, others) for folder in listing.projects(_FILES)]
    return combined([root, *(found for found in inner if found.commands.test)])


def rules(listing: Listing, path: str) -> Mapping[str, Rule]:
    """Return the explicit rules with a recipe, by target, in a Makefile and its included files.

    Lines that only look like a rule are left out: assignments, `.PHONY` and other special targets,
    patterns, names made of variables.
    """
    found: dict[str, Rule] = {}
    for names, needs, recipe in _rules(listing, path, {path}):
        for name in names.split():
            if not name.startswith(".") and not set(name) & set("%$"):
                known = found.get(name, Rule((), ""))
                found[name] = Rule(
                    (*known.needs, *needs.split()), f"{known.recipe}\n{recipe}".strip()
                )
    return {name: rule for name, rule in found.items() if rule.needs or rule.recipe}


def _read(listing: Listing, folder: str, others: ProjectCommands) -> DetectedCommands:
    path = listing.first(folder, _FILES) or ""
    known = rules(listing, path)
    place = ("-C", folder) if folder else ()
    chosen: dict[CommandName, tuple[Command, ...]] = {}
    notes: list[str] = []
    for kind, names in _TARGETS.items():
        target = next(
            (name for name in names if name in known and not (name == "all" and others.test)), ""
        )
        if not target or others.of(kind):
            continue
        if others.setup and _PYTHON_TOOLS.search(_work(known, target)):
            notes.append(
                f"{path} has a target {target}, but its tools would not be those of setup; set it"
                f" in {CONFIG} to use it."
            )
        else:
            chosen[kind] = (command(f"{path} has a target {target}", "make", *place, target),)
    return DetectedCommands(commands=ProjectCommands.model_validate(chosen), notes=tuple(notes))


def _work(known: Mapping[str, Rule], target: str) -> str:
    """Return the recipes of a target and of everything it needs."""
    reached = [target]
    for name in reached:
        reached += [
            need
            for need in known.get(name, Rule((), "")).needs
            if need in known and need not in reached
        ]
    return "\n".join(known[name].recipe for name in reached)


def _rules(listing: Listing, path: str, read: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield targets, prerequisites and recipe of each rule, reading lines as GNU make does; each
    file once.
    """
    open_rule: tuple[str, str] | None = None
    recipe: list[str] = []
    for line in _lines(listing.text(path)):
        if line.startswith("\t"):
            recipe.append(line.strip())
            continue
        if not line.split("#", 1)[0].strip():
            continue
        if open_rule:
            yield (*open_rule, "\n".join(recipe))
        open_rule, recipe = None, []
        if included := _INCLUDE.match(line):
            for name in _included(listing, path, included["names"]):
                if name not in read and len(read) < _MOST_INCLUDED:
                    read.add(name)
                    yield from _rules(listing, name, read)
        elif not _ASSIGNMENT.match(line) and (rule := _RULE.match(line)):
            needs, _, inline = rule["rest"].partition(";")
            if not _ASSIGNMENT.match(needs.strip()):
                open_rule, recipe = (
                    (rule["targets"], needs.split("#", 1)[0]),
                    ([inline.strip()] if inline.strip() else []),
                )
    if open_rule:
        yield (*open_rule, "\n".join(recipe))


def _included(listing: Listing, path: str, names: str) -> Iterator[str]:
    for name in names.split()[:_MOST_INCLUDED]:
        wanted = normpath(join(dirname(path), name))
        if listing.has(wanted):
            yield wanted
        elif len(wanted) <= _LONGEST_NAME:
            yield from (each for each in listing.files if fnmatch(each, wanted))


def _lines(text: str) -> Iterator[str]:
    """Yield logical lines: continuations joined, `define` blocks left out."""
    inside = 0
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        if _DEFINE.match(line):
            inside += 1
        elif inside and line.strip().startswith("endef"):
            inside -= 1
        elif not inside:
            yield line
