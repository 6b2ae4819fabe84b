"""A repository's own template for pull requests.

Source:
https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import clean
from forge_bot.values import Frozen

_FOLDERS = (".github", ".", "docs")
"""The folders in which GitHub searches for a template, in its order."""

_NAME = "pull_request_template"
_LONGEST = 6_000
_DESCRIPTION = re.compile(
    r"^ {0,3}(?:#{1,6}[ \t]+|\*\*)(?:[^\n]*\b)?"
    r"(?:descri\w+|summar\w+|what|why|changes?|overview|motivation|purpose)\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)


class Customs(Frozen):
    """The common traits of a repository's pull requests: its template, if it has one, and whether
    titles begin with a type.
    """

    template: str = ""
    typed: bool = True


def find_template(paths: Iterable[str]) -> str:
    """Return the path of the template that pull requests begin with; empty if the repository has
    none, or several to choose from.
    """
    known = sorted(path for path in paths if _NAME in path.lower())
    for folder in _FOLDERS:
        for path in map(PurePosixPath, known):
            if str(path.parent) == folder and path.name.lower().partition(".")[0] == _NAME:
                return str(path)
    inside = [path for path in known if PurePosixPath(path).parent.name.lower() == _NAME]
    return inside[0] if len(inside) == 1 else ""


def fill_description(template: str, words: str) -> tuple[str, bool]:
    """Return the template, whole but for its comments, with these words below the heading that asks
    for a description; and whether it has such a heading. Empty for nothing but comments.
    """
    if len(template) > _LONGEST or not clean(template).text.strip():
        return "", False
    shown = escape.document(template).text.strip()
    heading = _DESCRIPTION.search(shown)
    if heading is None:
        return shown, False
    return f"{shown[: heading.end()]}\n\n{words}\n{shown[heading.end() :]}", True
