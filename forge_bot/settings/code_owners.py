"""CODEOWNERS, read as GitHub reads it: of the lines whose pattern fits a path the last one counts.

https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""

import re
from pathlib import Path

from forge_bot.settings.path_patterns import pattern_expression
from forge_bot.values import Frozen

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for the file, in its order; the first one counts."""

_LARGEST = 3 * 2**20
"""Bytes of the longest file that GitHub reads."""

_OWNER = re.compile(r"@[\w.-]+(?:/[\w.-]+)?|[^\s@]+@[^\s@]+")
_LINE = re.compile(r"(?P<pattern>(?:\\.|[^\s\\#])+)(?P<owners>[^#]*)")


class OwnerLine(Frozen):
    """One line: a pattern of paths as an expression, and the owners without their `@`."""

    expression: str
    owners: tuple[str, ...]


class CodeOwners(Frozen):
    """The lines of a CODEOWNERS file; none where there is no file."""

    lines: tuple[OwnerLine, ...] = ()

    def of(self, path: str) -> tuple[str, ...]:
        """Return who owns a path: logins, teams as `org/team`, addresses of mail; none for a path
        without an owner.
        """
        fitting = (
            line for line in reversed(self.lines) if re.fullmatch(line.expression, path, re.DOTALL)
        )
        return next((line.owners for line in fitting), ())


def read_code_owners(root: Path) -> CodeOwners:
    """Return the code owners of the repository in a folder."""
    file = next((root / place for place in PLACES if (root / place).is_file()), None)
    if file is None or file.stat().st_size > _LARGEST:
        return CodeOwners()
    return parse_code_owners(file.read_text(encoding="utf-8", errors="replace"))


def parse_code_owners(text: str) -> CodeOwners:
    """Return the lines of a text, without those that GitHub leaves out: with `!`, `[`, an escaped
    `#`, or a word that is no owner.
    """
    lines: list[OwnerLine] = []
    for match in filter(None, (_LINE.match(line.strip()) for line in text.splitlines())):
        pattern, owners = match["pattern"], match["owners"].split()
        unescaped = pattern.replace("\\ ", " ")
        if not set(unescaped) & set("![\\") and all(map(_OWNER.fullmatch, owners)):
            names = tuple(owner.removeprefix("@") for owner in owners)
            lines.append(OwnerLine(expression=_expression(unescaped), owners=names))
    return CodeOwners(lines=tuple(lines))


def _expression(pattern: str) -> str:
    """Return a pattern as an expression. One without a slash inside fits at any depth; a folder
    covers all that lies below it, and `folder/*` only the files in it.
    """
    anchored = "/" in pattern.rstrip("/")
    inner = pattern.strip("/")
    below = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return pattern_expression(inner if anchored else f"**/{inner}") + below
