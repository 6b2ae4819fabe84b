"""Read a file of the repository, or some lines of it, unchanged, so that edits can quote them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.git_read_only import RECORDS, git, is_private
from forge_bot.agent.providers.provider_catalogue import Declined, ProviderResult, head
from forge_bot.agent.text_files import NotText, TextFile, expand_braces, inside, normalise
from forge_bot.knowledge.code_index import definitions_of
from forge_bot.values import Frozen

_MOST_BYTES = 20_000_000
_SNIFFED = 8_000
_LONG = 40
_PLACES = 9
"""Definitions whose lines are told: a heading has no room for more."""


class ReadFile(Frozen):
    """Show a text file. Its lines come exactly as they stand."""

    path: str = Field(description="path from the root of the repository")
    start: int | None = Field(default=None, ge=1, description="first line to show, counted from 1")
    end: int | None = Field(default=None, ge=1, description="last line to show")


def read_file(
    root: Path, withheld: Collection[str], wanted: ReadFile, limit: int
) -> ProviderResult:
    """Return the lines from `start` to `end`, as many as fit into `limit` characters."""
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
    chosen, cut = _fitting(lines[first - 1 : last], limit)
    shown = first + len(chosen) - 1
    note = [f"lines {first}-{shown} of {total}", *_tell_places(wanted.path, text, first, shown)]
    note += remarks
    if shown == total and unfinished:
        note.append("no line break at the end")
    if cut:
        note.append(f"cut at {limit:,} characters: {cut.format(next=shown + 1)}")
    return ProviderResult(
        content="\n".join(chosen) + "\n", note="; ".join(note), truncated=bool(cut)
    )


def _tell_places(path: str, text: str, first: int, last: int) -> Iterator[str]:
    """Yield where the definitions in a long part stand: its lines come without numbers, and
    documents cite them.
    """
    if last - first >= _LONG:
        inside = [one for one in definitions_of(path, text) if first <= one.at <= last]
        if inside:
            yield ", ".join(f"{one.name} {one.at}" for one in inside[:_PLACES])


def _fitting(lines: list[str], limit: int) -> tuple[list[str], str]:
    """Return the lines that fit, and how to see the rest; empty if that is all."""
    room = limit
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return (
                (lines[:count], "go on with start={next}")
                if count
                else ([line[:limit]], "this one line is longer")
            )
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
    if b"\0" in data[:_SNIFFED]:
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
    if file.bom:
        remarks.append("begins with a byte order mark")
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        remarks.append("line ends are CRLF")
    return text, remarks


class ListFiles(Frozen):
    """List files by path, without .specs; of too many, the folders with the number of files."""

    path: str | None = Field(
        default=None, description="folder to list; the whole repository if left out"
    )
    glob: str | None = Field(
        default=None, description="only files whose path fits, such as *.py or tests/**/test_*.py"
    )


def list_files(root: Path, wanted: ListFiles, limit: int) -> ProviderResult:
    """Return all paths, sorted, or a summary by folder that fits into `limit` characters."""
    folder = normalise(wanted.path or "")
    named = _globs(folder, wanted.glob) if wanted.glob else [f":(literal){folder or '.'}"]
    without = [] if folder.split("/")[0] == RECORDS else [f":(top,exclude){RECORDS}"]
    scope = ["--", *named, *without]
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *scope)
    if listed.code and not listed.cut:
        raise Declined(ResultStatus.TOOL_ERROR, f"git cannot list this: {listed.complaint[:300]}")
    names = sorted({*listed.text.split("\0")[: -1 if listed.cut else None]} - {""})
    if not names:
        return ProviderResult(content="No files.")
    whole = "\n".join(names) + "\n"
    note = f"{'more than ' if listed.cut else ''}{len(names):,} files"
    if len(whole) <= limit:
        return ProviderResult(content=whole, note=note, truncated=listed.cut)
    summary = head(
        _list_by_folder(names, folder),
        limit,
        f"{note}, too many to list: folders with the number of files in them",
    )
    return summary.replace(truncated=True)


def _globs(folder: str, glob: str) -> list[str]:
    """Return what git is asked for; a glob without a folder matches that name anywhere."""
    before = re.sub(r"([*?[])", r"[\1]", folder) + "/" if folder else ""
    anywhere = "" if "/" in glob else "**/"
    return [
        f":(glob){before}{anywhere}{single.removeprefix('./')}" for single in expand_braces(glob)
    ]


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
