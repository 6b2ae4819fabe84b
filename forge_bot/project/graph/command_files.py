"""The files that a command of the project reads and writes. They are named in its words, and in the
script of package.json or the recipes of the Makefile that it runs.
"""

from collections import Counter
from collections.abc import Sequence
from posixpath import normpath

from forge_bot.project.file_list import Listing, join
from forge_bot.project.graph.stacks.shell_paths import paths_in, written_in
from forge_bot.project.toolchains import carried_out


def command_files(listing: Listing, argv: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that a command reads, and those that it writes."""
    folder, script = carried_out(listing, argv)
    words = Counter([*argv, *paths_in(script)])
    written = dict.fromkeys(written_in(script))
    read = [word for word, count in words.items() if count > 1 or word not in written]
    return _there(listing, folder, read), _there(listing, folder, written)


def _there(
    listing: Listing, folder: str, words: Sequence[str] | dict[str, None]
) -> tuple[str, ...]:
    """Return the files of the project that words name, from its root or from a folder."""
    places = (normpath(join(root, word)) for word in words for root in dict.fromkeys(("", folder)))
    return tuple(dict.fromkeys(path for path in places if listing.has(path)))
