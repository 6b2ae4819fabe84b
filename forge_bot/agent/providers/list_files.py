"""The names of the repository's files: tracked and new ones, without those that git ignores."""

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.paths import expand_braces, normalise
from forge_bot.agent.providers.git_read_only import RECORDS, git
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, head
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
    scope = ["--", f":(literal){folder}"] if folder else []
    said = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *scope)
    if said.code and not said.cut:
        raise Declined(ResultStatus.TOOL_ERROR, f"git cannot list this: {said.complaint[:300]}")
    listed = {
        name
        for name in said.text.split("\0")[: -1 if said.cut else None]
        if name and _fits(name, wanted.glob)
    }
    names = sorted(
        listed
        if folder.split("/")[0] == RECORDS
        else {name for name in listed if not name.startswith(f"{RECORDS}/")}
    )
    if not names:
        return ProviderResult(content="No files.")
    whole = "\n".join(names) + "\n"
    note = f"{'more than ' if said.cut else ''}{len(names):,} files"
    if len(whole) <= limit:
        return ProviderResult(content=whole, note=note, truncated=said.cut)
    found = head(
        _by_folder(names, folder),
        limit,
        f"{note}, too many to list: folders with the number of files in them",
    )
    return found.replace(truncated=True)


def _fits(name: str, glob: str | None) -> bool:
    if not glob:
        return True
    if len(several := expand_braces(glob)) > 1:
        return any(_fits(name, each) for each in several)
    if "/" not in glob:
        return _matches((name.rpartition("/")[2],), (glob,))
    return _matches(tuple(name.split("/")), tuple(glob.removeprefix("./").split("/")))


def _matches(name: tuple[str, ...], glob: tuple[str, ...]) -> bool:
    """Return whether path parts match a glob's parts; `**` stands for any number of folders."""
    reachable = {0}
    for part in glob:
        if part == "**":
            reachable = set(range(min(reachable, default=len(name) + 1), len(name) + 1))
        else:
            reachable = {
                place + 1
                for place in reachable
                if place < len(name) and fnmatchcase(name[place], part)
            }
    return len(name) in reachable


def _by_folder(names: list[str], folder: str) -> str:
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
