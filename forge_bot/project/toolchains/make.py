"""Make: the targets of a Makefile, for a project whose tests no other toolchain runs."""

import re
from collections.abc import Iterator

from forge_bot.project.detected_commands import (
    DetectedCommands,
    ProjectCommands,
    combined,
    command,
)
from forge_bot.project.file_list import Listing
from forge_bot.values import CommandName

_FILES = ("GNUmakefile", "makefile", "Makefile")
_TARGETS = {
    CommandName.BUILD: ("build", "all"),
    CommandName.TEST: ("test", "check", "tests"),
    CommandName.LINT: ("lint",),
}
_NAMES = re.compile(r"[\w/-][\w./ \t-]*")


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the Makefile at the root, or else of those in folders with tests."""
    root = _read(listing, "")
    if any(root.commands.of(name) for name in CommandName):
        return root
    inner = (_read(listing, folder) for folder in listing.projects(_FILES))
    return combined(makefile for makefile in inner if makefile.commands.test)


def _read(listing: Listing, folder: str) -> DetectedCommands:
    path = listing.first(folder, _FILES) or ""
    known = frozenset(_targets(listing.text(path)))
    place = ("-C", folder) if folder else ()
    chosen = {
        kind: (command(f"{path} has a target {target}", "make", *place, target),)
        for kind, names in _TARGETS.items()
        if (target := next((name for name in names if name in known), ""))
    }
    return DetectedCommands(commands=ProjectCommands.model_validate(chosen))


def _targets(text: str) -> Iterator[str]:
    """Yield the names that a Makefile itself has a rule for: with prerequisites or a recipe."""
    lines = text.replace("\\\n", " ").split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        targets, colon, rest = line.partition(":")
        needs = rest.removeprefix(":").partition("#")[0]
        # `A := B` and `target: A = B` set variables.
        is_rule = colon and _NAMES.fullmatch(targets) and "=" not in needs and ":" not in needs
        if is_rule and (needs.strip() or following.startswith("\t")):
            yield from targets.split()
