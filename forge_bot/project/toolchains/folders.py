"""Find projects at the root, or else in the folders of a repository that holds several."""

from collections.abc import Callable, Collection

from forge_bot.project.detected_commands import DetectedCommands, combined
from forge_bot.project.file_list import Listing

_MOST = 8


def find_in(
    listing: Listing,
    manifests: Collection[str],
    read: Callable[[Listing, str], DetectedCommands],
    kind: str,
) -> DetectedCommands:
    """Return the commands of the project at the root.

    If it has no tests, return those of the projects in folders.
    """
    root = read(listing, "") if listing.first("", tuple(manifests)) else DetectedCommands()
    if root.commands.test:
        return root
    folders = listing.projects(manifests)
    left = (
        (f"{len(folders)} {kind} projects; only the first {_MOST} are run.",)
        if len(folders) > _MOST
        else ()
    )
    return combined(
        [root, *(read(listing, folder) for folder in folders[:_MOST]), DetectedCommands(notes=left)]
    )
