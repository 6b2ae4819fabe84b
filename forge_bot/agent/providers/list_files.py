"""The names of the repository's files: tracked and new ones, without those that git ignores."""

import re
from collections import Counter
from pathlib import Path

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.git_read_only import RECORDS, git
from forge_bot.agent.providers.provider_catalogue import Declined, ProviderResult, head
from forge_bot.agent.text_files import expand_braces, normalise
from forge_bot.values import Frozen


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
