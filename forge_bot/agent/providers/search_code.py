"""Find lines of the repository that match an expression.

git searches, so ignored files are left out and the time is bounded.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.git_read_only import RECORDS, GitOutput, git, is_private
from forge_bot.agent.providers.provider_catalogue import Declined, ProviderResult, head
from forge_bot.agent.text_files import expand_braces, normalise
from forge_bot.text_format import cut
from forge_bot.values import Frozen

_MOST_MATCHES = 100
_LINE_CHARS = 200
_FIELDS = 3  # path, line number, text
_WITHOUT_PERL = "not compiled with"


class SearchCode(Frozen):
    """Find the lines outside .specs that match a regular expression (Perl's), with path and
    line.
    """

    pattern: str = Field(
        min_length=1, description="regular expression; begin with (?i) to ignore case"
    )
    path: str | None = Field(
        default=None, description="folder, file, or glob such as *.py or src/**/*.ts"
    )
    max: int | None = Field(
        default=None,
        ge=1,
        le=1_000,
        description=f"most matches to show, {_MOST_MATCHES} if left out",
    )


def search_code(root: Path, wanted: SearchCode, limit: int) -> ProviderResult:
    """Return at most `max` matching lines, by path and line."""
    if any(char in wanted.pattern for char in "\0\n\r"):
        raise Declined(
            ResultStatus.INVALID_PARAMS,
            "The expression is matched against single lines and cannot hold a line break.",
        )
    output, note = _grep(root, wanted)
    matches = _public(
        root, [line for line in output.text.split("\n") if line.count("\0") >= _FIELDS - 1]
    )
    if not matches:
        return ProviderResult(content="No line matches.", note=note)
    most = wanted.max or _MOST_MATCHES
    shown = "\n".join(_show_lines(matches[:most]))
    counted = (
        f"{len(matches):,} matches" if not output.cut else f"more than {len(matches):,} matches"
    )
    note = "; ".join(part for part in (counted, note) if part)
    if len(matches) <= most and not output.cut:
        return head(shown, limit, note)
    shown_part = head(
        shown,
        limit,
        f"{note}; the first {min(most, len(matches)):,} are shown, so narrow the expression or the"
        " path",
    )
    return shown_part.replace(truncated=True)


def _public(root: Path, matches: list[str]) -> list[str]:
    paths = {line.partition("\0")[0] for line in matches}
    private = {path for path in paths if is_private(root, path)}
    return [line for line in matches if line.partition("\0")[0] not in private]


def _grep(root: Path, wanted: SearchCode) -> tuple[GitOutput, str]:
    output, note = _grep_in(root, "-P", wanted), ""
    if output.code and _WITHOUT_PERL in output.complaint:
        output, note = (
            _grep_in(root, "-E", wanted),
            "this git knows only POSIX extended expressions: no \\d, no look-around",
        )
    if output.code > 1 and not output.cut:
        raise _trouble(output, wanted)
    return output, note


def _grep_in(root: Path, flavour: str, wanted: SearchCode) -> GitOutput:
    # The expression follows -e and the path follows --, so neither can be an option.
    named = [_pathspec(root, path) for path in expand_braces(wanted.path or "")]
    scope = ["--", *named, *_without_records(wanted.path)]
    return git(
        root,
        "grep",
        "-n",
        "-I",
        "-z",
        "--untracked",
        "--no-color",
        flavour,
        "-e",
        wanted.pattern,
        *scope,
    )


def _without_records(path: str | None) -> list[str]:
    """Exclude the documents of this run unless the path names them, and catalogues of translations
    unless it names any.

    They quote the code they are about and would crowd it out.
    """
    if path and normalise(path).split("/")[0] == RECORDS:
        return []
    return [f":(top,exclude){RECORDS}", *(() if path else (":(top,exclude)*.po",))]


def _trouble(output: GitOutput, wanted: SearchCode) -> Declined:
    complaint = output.complaint.removeprefix("fatal: ")
    if "outside repository" in complaint:
        return Declined(ResultStatus.DENIED, f"{wanted.path} leads out of the repository.")
    if "match limit" in complaint or "recursion limit" in complaint:
        return Declined(
            ResultStatus.TIMEOUT,
            "This expression needs too many steps on some line; use one without nested repetition.",
        )
    return Declined(ResultStatus.INVALID_PARAMS, f"git cannot search for this: {complaint[:300]}")


def _pathspec(root: Path, path: str) -> str:
    """Return an existing path as a literal, brackets included, and any other as a glob.

    A glob without a folder matches that name anywhere.
    """
    glob = normalise(path) or "."
    # os.path and not pathlib: pathlib raises for a name that is too long to exist.
    if os.path.exists(root / glob):  # noqa: PTH110
        return f":(literal){glob}"
    anywhere = "/" not in glob and any(char in glob for char in "*?[")
    return f":(glob)**/{glob}" if anywhere else f":(glob){glob}"


def _show_lines(matches: Sequence[str]) -> Iterator[str]:
    """Yield matching lines with path and number; of several in a file the path stands above."""
    fields = (match.split("\0", _FIELDS - 1) for match in matches)
    for path, group in groupby(fields, key=itemgetter(0)):
        lines = [f"{number}: {cut(text.rstrip(), _LINE_CHARS)}" for _, number, text in group]
        yield from (f"{path}:", *lines) if lines[1:] else (f"{path}:{lines[0]}",)
