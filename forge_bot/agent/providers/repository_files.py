"""Read a file of the repository, or some lines of it, unchanged, so that edits can quote them; list
its files by name; find lines that match an expression; and show differences.

git lists, searches and compares, so ignored files are left out and the time is bounded. It fetches
nothing.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from signal import SIGPIPE
from stat import S_ISDIR, S_ISREG
from subprocess import PIPE, Popen
from tempfile import TemporaryFile

from pydantic import Field

from forge_bot.agent.capabilities import Declined, ProviderResult, ResultStatus, head
from forge_bot.agent.text_files import NotText, TextFile, expand_braces, inside, normalise
from forge_bot.errors import GitFailed
from forge_bot.git.process import git as run_git
from forge_bot.knowledge.code_index import definitions_of
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import cut
from forge_bot.values import Frozen

_SECONDS = 10.0
# More than any result may show; reading stops there and git is ended.
_MOST_OUTPUT = 4_000_000

_SETTINGS = ("color.ui=false", "diff.ignoreSubmodules=all")
_PLAIN = tuple(part for setting in _SETTINGS for part in ("-c", setting))
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "0",
}


class GitOutput(Frozen):
    """The output of git, and whether there was more."""

    code: int
    text: str = ""
    complaint: str = ""
    cut: bool = False


def git(root: Path, *arguments: str, most: int = _MOST_OUTPUT) -> GitOutput:
    """Run git on `root`. The caller checks the exit code.

    Raises Declined with status timeout after some seconds.
    """
    words = (*_PLAIN, *arguments)
    # One byte more tells that there is more, and ends git.
    first = ("head", "-c", str(most + 1))
    with TemporaryFile() as kept, Popen(first, stdin=PIPE, stdout=kept) as reader:
        try:
            into, ok = reader.stdin, (0, 1, -SIGPIPE)
            result = run_git(root, *words, env=_ENVIRONMENT, seconds=_SECONDS, ok=ok, into=into)
        except GitFailed as error:
            if not error.output:
                raise Declined(ResultStatus.TIMEOUT, error.message) from None
            return GitOutput(code=128, complaint=error.output)
        reader.communicate()
        kept.seek(0)
        output = kept.read()
    text = output[:most].decode("utf-8", "replace")
    return GitOutput(code=result.code, text=text, cut=len(output) > most)


_SECRET_NAME = re.compile(
    r"\.env(?:\.(?!example$|sample$|template$|dist$).+)?|\.netrc|\.npmrc|\.pypirc|id_"
    r"(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx)",
    re.IGNORECASE,
)


def is_private(root: Path, path: str) -> bool:
    """Return whether git does not know the file and its name says that it holds secrets."""
    named = _SECRET_NAME.fullmatch(path.rpartition("/")[2])
    return bool(named and git(root, "ls-files", "--error-unmatch", "--", f":(literal){path}").code)


_MOST_BYTES = 20_000_000
_MOST_LINES = 80
"""Lines of a file that are shown at once. Whoever asks for more mostly needs a few of them."""
_LONG = 40
_PLACES = 9
"""Definitions whose lines are told: a heading has no room for more."""


class ReadFile(Frozen):
    """Show a text file exactly as it stands, 80 lines at once."""

    path: str = Field(description="path from the root of the repository")
    start: int | None = Field(default=None, ge=1, description="first line to show, counted from 1")
    end: int | None = Field(default=None, ge=1, description="last line to show")


def read_file(
    root: Path, withheld: Collection[str], wanted: ReadFile, limit: int
) -> ProviderResult:
    """Return the lines from `start` to `end`, as many as fit into `limit` characters, and at most
    80.
    """
    text, remarks = _text(_readable(root, wanted.path, withheld), wanted.path)
    lines = text.split("\n")
    unfinished = bool(lines[-1])
    total = len(lines) - (not unfinished)
    first, last = wanted.start or 1, min(wanted.end or total, total)
    if not total:
        return ProviderResult(content="", note="the file is empty")
    if first > last:
        raise Declined(
            ResultStatus.INVALID_PARAMS,
            f"{wanted.path} has {total} lines; lines {first} to {wanted.end or total} are none of"
            " them.",
        )
    chosen, cut = _fitting(lines[first - 1 : min(last, first - 1 + _MOST_LINES)], limit)
    shown = first + len(chosen) - 1
    note = [f"lines {first}-{shown} of {total}", *remarks]
    if not cut and shown < last:
        rest = "".join(
            f" ({places})" for places in _tell_places(wanted.path, text, shown + 1, last)
        )
        note.append(f"{_MOST_LINES} lines at once: go on with start={shown + 1}{rest}")
    if shown == total and unfinished:
        note.append("no line break at the end")
    if cut:
        note.append(f"cut at {limit:,} characters: {cut.format(next=shown + 1)}")
    return ProviderResult(content="\n".join(chosen) + "\n", note="; ".join(note))


def _tell_places(path: str, text: str, first: int, last: int) -> Iterator[str]:
    """Yield where the definitions in a long part stand that is not shown."""
    within = definitions_of(path, text) if last - first >= _LONG else ()
    if inside := [one for one in within if first <= one.at <= last]:
        yield ", ".join(f"{one.name} {one.at}" for one in inside[:_PLACES])


def _fitting(lines: list[str], limit: int) -> tuple[list[str], str]:
    """Return the lines that fit, and how to see the rest; empty if that is all."""
    room = limit
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            if not count:
                return [line[:limit]], "this one line is longer"
            return lines[:count], "go on with start={next}"
    return lines, ""


def _readable(root: Path, path: str, withheld: Collection[str]) -> Path:
    place = inside(root, path)
    try:
        status = place.stat()
    except OSError:
        raise Declined(ResultStatus.TOOL_ERROR, f"There is no file {path}.") from None
    if S_ISDIR(status.st_mode):
        raise Declined(
            ResultStatus.TOOL_ERROR, f"{path} is a folder; list_files shows what is in it."
        )
    if not S_ISREG(status.st_mode):
        raise Declined(ResultStatus.DENIED, f"{path} is not an ordinary file.")
    if status.st_size > _MOST_BYTES:
        raise Declined(
            ResultStatus.TOOL_ERROR,
            f"{path} has {status.st_size:,} bytes, too many to read; search_code can look into it.",
        )
    names = (normalise(path), place.relative_to(root.resolve()).as_posix())
    if any(name in withheld or is_private(root, name) for name in names):
        raise Declined(
            ResultStatus.DENIED, f"{path} is not part of the repository and may hold secrets."
        )
    return place


def _text(place: Path, path: str) -> tuple[str, list[str]]:
    try:
        data = place.read_bytes()
    except OSError as error:
        raise Declined(
            ResultStatus.TOOL_ERROR, f"{path} cannot be read: {error.strerror}."
        ) from None
    if b"\0" in data:
        raise Declined(ResultStatus.TOOL_ERROR, f"{path} is a binary file of {len(data):,} bytes.")
    remarks: list[str] = []
    try:
        file = TextFile.read(data)
    except NotText:
        file = TextFile(text=data.decode("utf-8", "replace"))
        remarks.append("not UTF-8: some characters are replaced")
    text = file.text
    if file.encoding.casefold() not in {"utf-8", "utf8"}:
        remarks.append(f"its encoding is {file.encoding}")
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        remarks.append("line ends are CRLF")
    return text, remarks


class ListFiles(Frozen):
    """List files; of too many, their folders."""

    path: str | None = Field(
        default=None, description="folder to list; the whole repository if left out"
    )
    glob: str | None = Field(
        default=None, description="only files whose path fits, such as *.py or tests/**/test_*.py"
    )


def list_files(root: Path, wanted: ListFiles, limit: int) -> ProviderResult:
    """Return all paths, sorted, or a summary by folder that fits into `limit` characters."""
    folder = normalise(wanted.path or "")
    literal = [f":(literal){folder or '.'}"]
    named = _pathspecs(None, wanted.glob, folder) if wanted.glob else literal
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *named)
    if listed.code and not listed.cut:
        raise Declined(ResultStatus.TOOL_ERROR, f"git cannot list this: {listed.complaint[:300]}")
    names = sorted({*listed.text.split("\0")[: -1 if listed.cut else None]} - {""})
    if folder.split("/")[0] != SPECS:
        # Git 2.39 lists nothing below a folder whose path is longer than one that is excluded.
        names = [name for name in names if not name.startswith(f"{SPECS}/")]
    if not names:
        return ProviderResult(content="No files.")
    whole = "\n".join(names) + "\n"
    note = f"{'more than ' if listed.cut else ''}{len(names):,} files"
    if len(whole) <= limit:
        return ProviderResult(content=whole, note=note)
    note += ", too many to list: folders with the number of files in them"
    return head(_list_by_folder(names, folder), limit, note)


def _list_by_folder(names: list[str], folder: str) -> str:
    skip = len(folder) + 1 if folder else 0
    counts = Counter(
        name[: skip + len(rest)] + ("/" if slash else "")
        for name in names
        for rest, slash, _ in [name[skip:].partition("/")]
    )
    return "".join(
        f"{name} ({count:,} files)\n" if name.endswith("/") else f"{name}\n"
        for name, count in sorted(counts.items())
    )


_MOST_MATCHES = 25
_MOST_FILES = 12
_LINE_CHARS = 140
_FIELDS = 3  # path, line number, text
_GREP = ("grep", "-n", "-I", "-z", "--untracked", "--no-color", "-P")
_MOST_GLOBS = 32


class SearchCode(Frozen):
    """Find lines that match a regular expression (Perl's), 25 at most."""

    pattern: str = Field(
        min_length=1, description="regular expression; begin with (?i) to ignore case"
    )
    path: str | None = Field(
        default=None, description="folder, file, or glob such as *.py or src/**/*.ts"
    )


def search_code(root: Path, wanted: SearchCode, limit: int) -> ProviderResult:
    """Return the first matching lines, by path and line."""
    if any(char in wanted.pattern for char in "\0\n\r"):
        raise Declined(
            ResultStatus.INVALID_PARAMS,
            "The expression is matched against single lines and cannot hold a line break.",
        )
    # The expression follows -e and the path follows --, so neither can be an option.
    scope = ["--", *_pathspecs(root, wanted.path or "."), *_without_records(wanted.path)]
    output = git(root, *_GREP, "-e", wanted.pattern, *scope)
    if output.code > 1 and not output.cut:
        complaint = output.complaint.removeprefix("fatal: ")[:300]
        raise Declined(ResultStatus.INVALID_PARAMS, f"git cannot search for this: {complaint}")
    matches = _public(
        root, [line for line in output.text.split("\n") if line.count("\0") >= _FIELDS - 1]
    )
    if not matches:
        return ProviderResult(content="No line matches.")
    shown = "\n".join(_show_lines(matches[:_MOST_MATCHES]))
    note = f"{'more than ' if output.cut else ''}{len(matches):,} matches"
    if len(matches) <= _MOST_MATCHES and not output.cut:
        return head(shown, limit, note)
    count = min(_MOST_MATCHES, len(matches))
    left = f"the first {count:,} are shown, so narrow the expression or the path"
    more = Counter(line.partition("\0")[0] for line in matches[count:])
    counts = more.most_common(_MOST_FILES)
    if counts:
        left += f"; more in {', '.join(f'{path} ({count:,})' for path, count in counts)}"
    return head(shown, limit, f"{note}; {left}")


def _public(root: Path, matches: list[str]) -> list[str]:
    paths = {line.partition("\0")[0] for line in matches}
    private = {path for path in paths if is_private(root, path)}
    return [line for line in matches if line.partition("\0")[0] not in private]


def _without_records(path: str | None) -> list[str]:
    """Exclude the documents of this run unless the path names them, and catalogues of translations
    unless it names any.

    They quote the code they are about and would crowd it out.
    """
    if path and normalise(path).split("/")[0] == SPECS:
        return []
    return [f":(top,exclude){SPECS}", *(() if path else (":(top,exclude)*.po",))]


def _pathspecs(root: Path | None, path: str, folder: str = "") -> Iterator[str]:
    """Yield a path that exists in `root` as a literal, brackets included, and any other as globs
    below a folder. A glob without a folder matches that name anywhere.
    """
    before = re.sub(r"([*?[])", r"[\1]", folder) + "/" if folder else ""
    for single in islice(expand_braces(path), _MOST_GLOBS):
        name = normalise(single) or "."
        # os.path and not pathlib: pathlib raises for a name that is too long to exist.
        if root is not None and os.path.exists(root / name):  # noqa: PTH110
            yield f":(literal){name}"
        else:
            yield f":(glob){before}{'' if '/' in name else '**/'}{name}"


def _show_lines(matches: Sequence[str]) -> Iterator[str]:
    """Yield matching lines with path and number; of several in a file the path stands above."""
    fields = (match.split("\0", _FIELDS - 1) for match in matches)
    for path, group in groupby(fields, key=itemgetter(0)):
        lines = [f"{number}: {cut(text.rstrip(), _LINE_CHARS)}" for _, number, text in group]
        yield from (f"{path}:", *lines) if lines[1:] else (f"{path}:{lines[0]}",)
