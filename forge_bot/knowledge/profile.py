"""The profile of a repository: languages, commands with reasons, layout."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import basename

from forge_bot.project.detected_commands import ProjectCommands
from forge_bot.project.file_list import Language, Listing, read_languages
from forge_bot.project.scoped_commands import Overrides, scoped_commands
from forge_bot.text_format import short_line
from forge_bot.values import Frozen

_LAYOUT_LINES = 12


class Profile(Frozen):
    """The facts about a repository for the prompts and the verification."""

    languages: tuple[Language, ...]
    commands: ProjectCommands
    layout: tuple[str, ...]
    notes: tuple[str, ...]


def read_profile(
    files: Sequence[str],
    read: Callable[[str], str | None],
    overrides: Overrides | None = None,
    projects: Mapping[str, Overrides] | None = None,
    scope: str = "",
) -> Profile:
    """Return the profile from a list of tracked files and their text.

    The same input gives the same profile. `overrides` is `commands:` of `.forge/config.yml`: each
    kind it names replaces the detected commands of that kind. `projects` has the same for folders
    of a repository with several projects; `scope` is the folder that alone is worked on.
    """
    listing = Listing(files, read)
    scoped = scoped_commands(listing, overrides or {}, projects or {}, scope)
    return Profile(
        languages=read_languages(listing.own()),
        commands=scoped.commands,
        layout=tuple(_layout(listing)),
        notes=tuple(map(short_line, scoped.notes)),
    )


def _layout(listing: Listing) -> Iterator[str]:
    """Yield the layout lines.

    First come the top folders with the number of their files and their main language, then the
    files at the root.
    """
    inside = [path for path in listing.files if "/" in path]
    counts = Counter(path.split("/", 1)[0] for path in inside)
    largest = sorted(counts, key=lambda folder: (-counts[folder], folder))
    shown = sorted(largest[: _LAYOUT_LINES - 2])
    for folder in shown:
        languages = read_languages(listing.below(folder))
        mostly = f", mostly {languages[0].name}" if languages else ""
        yield short_line(f"{folder}/ ({_files(counts[folder])}{mostly})")
    if hidden := largest[_LAYOUT_LINES - 2 :]:
        yield f"{len(hidden)} more folders ({_files(sum(counts[folder] for folder in hidden))})"
    if root := [basename(path) for path in listing.files if "/" not in path]:
        yield short_line(f"at the root ({_files(len(root))}): {', '.join(root)}")


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"
